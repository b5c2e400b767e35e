// The calls that the works send.

import { firstPage } from './subjects.js';

/**
 * @import { Call } from './load.js'
 * @import { Subject } from './subjects.js'
 * @typedef {(subject: Subject, id: number, index: number) => Call} MakeCall
 */

/** Enough different requests that a cache of the last few ids cannot explain a figure. */
const DISTINCT_REQUESTS = 20_000;
const MIX = ['list', 'list', 'get', 'list', 'list', 'create', 'list', 'get', 'list', 'list'];
const STATUSES = ['available', 'available', 'pending', 'sold'];

/** @param {string} path */
export const read = (path) => () => [{ method: 'GET', path, status: 200 }];

/** @param {Subject} subject */
export const list = (subject) => [firstPage(subject)];

/** @type {MakeCall} */
export const getOne = ({ pets }, id) => ({ method: 'GET', path: `${pets}/${id}`, status: 200 });

/** @type {MakeCall} */
export const createOne = ({ pets }, id) => {
  const status = STATUSES[id % STATUSES.length];
  const body = { name: `Bella ${id}`, categoryId: 1 + (id % 12), status };
  return { method: 'POST', path: pets, status: 201, body };
};

/** @type {MakeCall} */
export const patchOne = (_subject, id) => {
  const body = { quantity: id % 100 };
  return { method: 'PATCH', path: `/v1/inventory/${id}`, status: 200, body };
};

/** @type {MakeCall} */
export const mixed = (subject, id, index) => {
  const kind = MIX[index % MIX.length];
  if (kind === 'list') return firstPage(subject);
  return kind === 'get' ? getOne(subject, id, index) : createOne(subject, id, index);
};

/**
 * Calls with ids from 1 to `animals`, the same sequence in every run.
 *
 * @type {(call: MakeCall, animals?: number) => (subject: Subject) => Call[]}
 */
export function drawn(call, animals = 1000) {
  return (subject) => {
    let state = 12345;
    return Array.from({ length: DISTINCT_REQUESTS }, (_, index) => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return call(subject, 1 + Math.floor((state / 2 ** 32) * animals), index);
    });
  };
}
