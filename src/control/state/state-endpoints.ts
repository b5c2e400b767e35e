import { COLLECTIONS } from '../../contract/records.ts';
import { KEEPABLE } from '../../sandbox/sandbox.ts';
import { CHANGES } from '../../scenario/state-shape.ts';
import { object, optional } from '../../shape/objects.ts';
import { choice, list, named } from '../../shape/shapes.ts';
import { STORE } from '../../store/fixture/read-store.ts';
import { mergeInto } from '../../store/merge.ts';
import { recordText } from '../../store/record-text.ts';
import {
  createStore,
  forkStore,
  restoreStore,
  type Store,
  storeBaseOf,
} from '../../store/store.ts';
import { type ControlReply, DONE, type Endpoint, refuseInput, withBody } from '../endpoint.ts';

/** A whole store can be large. */
const STATE_LIMIT = 64 * 1024 ** 2;

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
  withBody({
    id: 'replaceState',
    method: 'put',
    path: '/state',
    tag: 'State',
    summary: 'Replace the whole store',
    description: 'Checked as a fixture is. A collection that is left out becomes empty.',
    body: { shape: STATE, limit: STATE_LIMIT },
    replies: { 200: { description: 'The new store.', shape: STATE } },
    handle: ({ sandbox, body }) => {
      restoreStore(sandbox.world.store, createStore(storeBaseOf(body)));
      return stateReply(sandbox.world.store);
    },
  }),
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
    handle: ({ sandbox, body }) => {
      const problems = mergeInto(sandbox.world.store, body);
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
