import { COLLECTIONS } from '../../contract/records.ts';
import { KEEPABLE } from '../../sandbox/sandbox.ts';
import { CHANGES } from '../../scenario/state-shape.ts';
import { object, optional } from '../../shape/objects.ts';
import { choice, list, named } from '../../shape/shapes.ts';
import { readingStore, STORE } from '../../store/fixture/read-store.ts';
import { mergeInTurns } from '../../store/merge.ts';
import { recordText } from '../../store/record-text.ts';
import { createStore, forkStore, restoreStore, type Store } from '../../store/store.ts';
import { inTurns } from '../../store/work.ts';
import { type ControlReply, DONE, type Endpoint, refuseInput, withBody } from '../endpoint.ts';

/** JSON.parse cannot take turns: this much of it holds other requests for about 30 ms. */
const STATE_LIMIT = 2 * 1024 ** 2;

const RESET = object({
  keep: optional(list(choice(KEEPABLE)), 'What stays as it is.'),
});

const STATE = named('State', STORE);

const STATE_CHANGES = named('StateChanges', CHANGES);

export const STATE_ENDPOINTS: readonly Endpoint[] = [
  {
    id: 'getState',
    method: 'get',
    path: '/state',
    tag: 'State',
    summary: 'The whole store, as a fixture has it',
    replies: { 200: { description: 'The store.', shape: STATE } },
    handle: ({ sandbox }) => stateReply(sandbox.world.store),
  },
  {
    id: 'replaceState',
    method: 'put',
    path: '/state',
    tag: 'State',
    summary: 'Replace the whole store',
    description:
      'Checked as a fixture is. A collection that is left out becomes empty. The body is at most 2 MiB.',
    body: {
      shape: STATE,
      limit: STATE_LIMIT,
      instead: 'start with --fixture or --db, or send PATCH requests with a part each',
    },
    replies: { 200: { description: 'The new store.', shape: STATE } },
    handle: async ({ sandbox, body }) => {
      const reading = await inTurns(readingStore(body));
      if (!reading.ok) return refuseInput(reading.problems);
      restoreStore(sandbox.world.store, createStore(reading.value));
      return stateReply(sandbox.world.store);
    },
  },
  withBody({
    id: 'mergeState',
    method: 'patch',
    path: '/state',
    tag: 'State',
    summary: 'Merge records into the store by id',
    description:
      'Members that a record leaves out stay; a new record must be whole. In place of an array a collection can have the `set` and `remove` of a scenario. All changes are made, or none.',
    body: { shape: STATE_CHANGES },
    replies: { 200: { description: 'The new store.', shape: STATE } },
    handle: async ({ sandbox, body }) => {
      const problems = await mergeInTurns(sandbox.world.store, body);
      return problems.length > 0 ? refuseInput(problems) : stateReply(sandbox.world.store);
    },
  }),
  withBody({
    id: 'reset',
    method: 'post',
    path: '/reset',
    tag: 'State',
    summary: 'Back to how the sandbox started',
    description:
      'Resets the store, the scenarios and the calls that their rules have counted, the assumptions, the clock, the journal, coverage and findings. Snapshots stay, and so does what `keep` names: `journal` includes coverage and findings.',
    body: { shape: RESET, optional: true },
    replies: { 204: { description: 'The sandbox is as it started.' } },
    handle: async ({ sandbox, body }) => {
      const keep = new Set(body.keep);
      const { version } = sandbox;
      sandbox.resetStore(keep);
      await sandbox.saved(version);
      sandbox.reset(keep);
      return DONE;
    },
  }),
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
