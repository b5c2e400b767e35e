// The kinds of work, as sequences of requests. Every subject gets the same sequence, each in its
// own words.

import { animal } from './store-data.js';

export const works = ['list', 'get', 'create', 'mix'];

/** How much of the mix is what, in ten requests. */
const mix = ['list', 'list', 'get', 'list', 'list', 'create', 'list', 'get', 'list', 'list'];

/** Enough different requests that no cache of the last few ids explains a figure. */
const distinctRequests = 20_000;

/**
 * @typedef {{ method: string, path: string, status: number, body?: object }} Call
 * @typedef {{ list: () => Call, get: (id: number) => Call, create: (body: object) => Call }} Dialect
 *   how a subject expresses the three calls
 */

/**
 * @param {string} work
 * @param {Dialect} dialect
 * @param {number} animals
 * @returns {import('./load.js').PreparedRequest[]}
 */
export function prepareRequests(work, dialect, animals) {
  const draw = drawIds(animals);
  const count = work === 'list' ? 1 : distinctRequests;
  return Array.from({ length: count }, (_, index) => {
    const kind = work === 'mix' ? mix[index % mix.length] : work;
    return prepareRequest(expressCall(kind, dialect, draw()));
  });
}

/** @param {Call} call */
export function prepareRequest(call) {
  const body = call.body ? JSON.stringify(call.body) : '';
  const bodyHeaders = body
    ? `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
    : '';
  const head = `${call.method} ${call.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer demo-key\r\n`;
  return { bytes: Buffer.from(`${head}${bodyHeaders}\r\n${body}`), status: call.status };
}

/**
 * @param {string | undefined} kind
 * @param {Dialect} dialect
 * @param {number} id
 */
function expressCall(kind, dialect, id) {
  if (kind === 'list') return dialect.list();
  if (kind === 'get') return dialect.get(id);
  const { id: _assignedByTheServer, ...body } = animal(id);
  return dialect.create(body);
}

/**
 * Ids from 1 to `animals`, the same sequence for every subject and every run.
 *
 * @param {number} animals
 */
function drawIds(animals) {
  let state = 12345;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return 1 + Math.floor((state / 2 ** 32) * animals);
  };
}
