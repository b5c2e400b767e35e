import { ref } from '../../contract/openapi-schemas.ts';
import { COLLECTIONS, isObject, type Problem, type Reading } from '../../contract/records.ts';
import { KEEPABLE } from '../../sandbox/sandbox.ts';
import { STATE } from '../../scenario/state-shape.ts';
import { object, optional } from '../../shape/objects.ts';
import { choice, list, pathText, type Shape } from '../../shape/shapes.ts';
import { readStore } from '../../store/fixture/read-store.ts';
import { mergeInto } from '../../store/merge.ts';
import { recordText } from '../../store/record-text.ts';
import {
  createStore,
  forkStore,
  restoreStore,
  type Store,
  storeBaseOf,
} from '../../store/store.ts';
import { type ControlReply, DONE, type Endpoint, refuseInput } from '../endpoint.ts';

/** A whole store can be large. */
const STATE_LIMIT = 64 * 1024 ** 2;

const RESET = object({
  keep: optional(list(choice(KEEPABLE)), 'What stays as it is.'),
});

export const STATE_ENDPOINTS: readonly Endpoint[] = [
  {
    id: 'getState',
    method: 'get',
    path: '/state',
    tag: 'State',
    summary: 'The whole store, as a fixture has it',
    replies: { 200: { description: 'The store.', schema: ref('schemas', 'State') } },
    handle: ({ sandbox }) => stateReply(sandbox.world.store),
  },
  {
    id: 'replaceState',
    method: 'put',
    path: '/state',
    tag: 'State',
    summary: 'Replace the whole store',
    description: 'Checked as a fixture is. A collection that is left out becomes empty.',
    body: { schema: ref('schemas', 'State'), limit: STATE_LIMIT },
    replies: { 200: { description: 'The new store.', schema: ref('schemas', 'State') } },
    handle: ({ sandbox, body }) => {
      const reading = readStore(body);
      if (!reading.ok) return refuseInput(reading.problems);
      restoreStore(sandbox.world.store, createStore(storeBaseOf(reading.value)));
      return stateReply(sandbox.world.store);
    },
  },
  {
    id: 'mergeState',
    method: 'patch',
    path: '/state',
    tag: 'State',
    summary: 'Merge records into the store by id',
    description:
      'Members that a record leaves out stay; a new record must be whole. In place of an array a collection can have the `set` and `remove` of a scenario. All changes are made, or none.',
    body: { schema: ref('schemas', 'StateChanges') },
    replies: { 200: { description: 'The new store.', schema: ref('schemas', 'State') } },
    handle: ({ sandbox, body }) => {
      const reading = readShape(STATE, withSets(body));
      if (!reading.ok) return refuseInput(reading.problems);
      const problems = mergeInto(sandbox.world.store, reading.value);
      return problems.length > 0 ? refuseInput(problems) : stateReply(sandbox.world.store);
    },
  },
  {
    id: 'reset',
    method: 'post',
    path: '/reset',
    tag: 'State',
    summary: 'Back to how the sandbox started',
    description:
      'Resets the store, the scenarios and the calls that their rules have counted, the assumptions, the clock, the journal, coverage and findings. Snapshots stay, and so does what `keep` names: `journal` includes coverage and findings.',
    body: { schema: RESET.schema, optional: true },
    replies: { 204: { description: 'The sandbox is as it started.' } },
    handle: ({ sandbox, body = {} }) => {
      const reading = readShape(RESET, body);
      if (!reading.ok) return refuseInput(reading.problems);
      const keep = new Set(reading.value.keep);
      sandbox.resetStore(keep);
      return { ...DONE, finish: () => sandbox.reset(keep) };
    },
  },
];

function stateReply(store: Store): ControlReply {
  // The fork is what the store was now, however long the client takes to read it.
  return { status: 200, body: { kind: 'pieces', pieces: stateText(forkStore(store)) } };
}

function* stateText(store: Store): Generator<string> {
  let open = '{';
  for (const name of COLLECTIONS) {
    yield `${open}"${name}":[`;
    open = ',';
    let separator = '';
    for (const record of store[name].ascending()) {
      yield separator + recordText(record);
      separator = ',';
    }
    yield ']';
  }
  yield '}';
}

function readShape<T>(shape: Shape<T>, body: unknown): Reading<T> {
  const problems: Problem[] = [];
  const value = shape.read(body, [], ({ at, expected, found }) => {
    problems.push({ path: pathText(at), expected, found });
  });
  return value === undefined || problems.length > 0 ? { ok: false, problems } : { ok: true, value };
}

/** An array of records is what is to be set. */
function withSets(body: unknown): unknown {
  if (!isObject(body)) return body;
  const entries = Object.entries(body);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? { set: value } : value]),
  );
}
