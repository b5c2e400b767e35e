import type { AnimalJson, EntryJson, OrderJson } from '../../contract/records.ts';
import { LIMITS, NAME_FORM, NAME_PATTERN } from '../../limits.ts';
import { outcome } from '../../sandbox/answer.ts';
import { COUNT, ofCollections } from '../../sandbox/report-shapes.ts';
import { RESET_PARTS, type ResetPart, restart, startFrom, withEntry } from '../../sandbox/state.ts';
import { CHANGES } from '../../scenario/scenario-shape.ts';
import { namedObject, object, optional, required } from '../../shape/objects.ts';
import {
  ANY_TEXT,
  choice,
  type InputOf,
  list,
  named,
  type Shape,
  text,
  type ValueOf,
  withTypes,
} from '../../shape/shapes.ts';
import { STORE } from '../../store/fixture.ts';
import { merge } from '../../store/merge.ts';
import type { Store } from '../../store/store.ts';
import { storeText } from '../../store/store-text.ts';
import { describe, joinWords } from '../../words.ts';
import { type ControlCall, edit, endpoint } from '../endpoint.ts';
import {
  type ControlReply,
  json,
  NO_CONTENT,
  refuse,
  refuseInput,
  refuseOneMore,
} from '../reply.ts';

export const NAME = text(NAME_FORM, NAME_PATTERN, { pattern: NAME_PATTERN.source });

export const SIZES = ofCollections(COUNT, 'How many', 'it has');

const SNAPSHOT = namedObject('Snapshot', {
  name: required(ANY_TEXT, 'Its name.'),
  ...SIZES,
});
type SnapshotSummary = InputOf<typeof SNAPSHOT>;

const DEFAULT_KEPT: readonly ResetPart[] = ['own-scenarios'];

const RESET = object({
  keep: optional(
    list(choice(RESET_PARTS)),
    `What the reset does not change; \`${JSON.stringify(DEFAULT_KEPT)}\` by default.`,
  ),
});

const STATE = named('State', STORE);

/** A whole store, in the form of a fixture. */
export interface StoreState {
  readonly animals: readonly AnimalJson[];
  readonly inventory: readonly EntryJson[];
  readonly orders: readonly OrderJson[];
}

export const STORE_STATE: Shape<Store, StoreState> = withTypes(STATE);

export const STATE_ENDPOINTS = [
  endpoint('getState', 'GET /state', {
    summary: 'Read the whole store as a fixture',
    replies: { 200: STORE_STATE },
    handle: async ({ sandbox }) => replyWithStore(sandbox.state.store),
  }),
  endpoint('replaceState', 'PUT /state', {
    summary: 'Replace the whole store',
    description:
      'Validated like a fixture. A collection that the body leaves out becomes empty. The body has at most 1 MiB.',
    body: { shape: STATE },
    example: {
      body: {
        animals: [{ id: 1, name: 'Polly', categoryId: 3 }],
        inventory: [{ petId: 1, quantity: 12, status: 'available' }],
        orders: [{ id: 1, petId: 1, quantity: 2 }],
      },
    },
    replies: { 200: STORE_STATE },
    handle: (call) =>
      edit(call, 'replaced the store', (state) =>
        outcome(state, replyWithStore(call.body), { store: call.body }),
      ),
  }),
  endpoint('mergeState', 'PATCH /state', {
    summary: 'Merge records into the store by id',
    description:
      'Fields that a record leaves out keep their values, and null removes an optional one; a new record must be complete. Instead of an array, a collection can have `remove`, `each` and `set` as in a scenario. Makes all changes, or none.',
    body: { shape: named('StateChanges', CHANGES) },
    example: { body: { orders: [{ id: 1, status: 'shipped' }] } },
    replies: { 200: STORE_STATE },
    handle: (call) =>
      edit(call, 'merged records', (state) => {
        const merged = merge(state.store, call.body);
        if (!merged.ok) return outcome(state, refuseInput(merged.problems));
        return outcome(state, replyWithStore(merged.value), { store: merged.value });
      }),
  }),
  endpoint('reset', 'POST /reset', {
    summary: 'Reset the sandbox to its start',
    description:
      'Resets the store, the active scenarios, the assumptions, the clock, and the journal with coverage and findings, but for what `keep` names. Rules count calls from the start again. Snapshots stay, and own scenarios unless a `keep` leaves out `own-scenarios`.',
    body: { shape: RESET, optional: true },
    example: { body: { keep: ['scenario'] } },
    replies: { 204: 'Reset.' },
    handle: resetSandbox,
  }),
  endpoint('setStart', 'POST /start', {
    summary: 'Make the present state what a reset returns to',
    description:
      'Of this sandbox alone: its store, active and own scenarios, assumptions and clock. The server keeps it until it stops, or reloads its files.',
    replies: { 204: 'Done.', 404: 'Servers that share sandboxes have one start for all of them.' },
    handle: async ({ sandbox, parts: { persistence } }) => {
      if (persistence.whyNoUndo !== undefined)
        return refuse('not_found', 404, persistence.whyNoUndo);
      sandbox.start = startFrom(sandbox.state);
      return NO_CONTENT;
    },
  }),
];

async function resetSandbox(call: ControlCall<ValueOf<typeof RESET>>): Promise<ControlReply> {
  const { sandbox, journal, parts, body } = call;
  const keep = new Set(body.keep ?? DEFAULT_KEPT);
  const clears = keep.has('journal') ? undefined : 'all';
  const dropped = RESET_PARTS.filter((part) => !keep.has(part));
  const what =
    body.keep === undefined ? 'reset' : `reset ${joinWords(dropped, 'and') || 'nothing'}`;
  const reply = await edit(call, what, (state, now) => ({
    ...outcome(state, NO_CONTENT, restart(state, sandbox.start, now, keep)),
    clears,
  }));
  // Read after the reset: a call that it met may have been held just before.
  const held = await journal.held();
  if (held.length > 0) await parts.persistence.release(sandbox, {}, 'reset');
  return reply;
}

function replyWithStore(store: Store): ControlReply {
  return { status: 200, content: storeText(store) };
}

const MISSING = 'The snapshot does not exist.';

export const SNAPSHOT_ENDPOINTS = [
  endpoint('listSnapshots', 'GET /snapshots', {
    summary: 'List snapshots, the oldest first',
    replies: { 200: list(SNAPSHOT) },
    handle: async ({ sandbox }) =>
      json(Array.from(sandbox.state.snapshots, ([name, store]) => showSnapshot(name, store))),
  }),
  endpoint('createSnapshot', 'POST /snapshots', {
    summary: 'Take a snapshot',
    description: `Saves the store under a name, and replaces a snapshot of that name. A sandbox has at most ${LIMITS.named} snapshots, with ${LIMITS.snapshotRecords} records in all of them.`,
    body: { shape: object({ name: required(NAME, 'The name of the snapshot.') }) },
    example: { body: { name: 'before' } },
    replies: { 200: SNAPSHOT, 201: SNAPSHOT, 409: 'The sandbox has too many snapshots.' },
    handle: (call) =>
      edit(call, `took the snapshot ${call.body.name}`, (state) => {
        const { snapshots, store } = state;
        const { name } = call.body;
        const refusal =
          refuseOneMore('snapshots', snapshots, name) ??
          refuseRecords(new Map([...snapshots, [name, store]]));
        if (refusal !== undefined) return outcome(state, refusal);
        const reply = json(showSnapshot(name, store), snapshots.has(name) ? 200 : 201);
        return outcome(state, reply, { snapshots: withEntry(snapshots, name, store) });
      }),
  }),
  endpoint('restoreSnapshot', 'POST /snapshots/{name}/restore', {
    summary: 'Restore a snapshot',
    description: 'Restores the store only. Rules, assumptions, clock and journal do not change.',
    example: { path: 'before' },
    replies: { 204: 'Restored.', 404: MISSING },
    handle: (call) =>
      edit(call, `restored the snapshot ${call.params.name}`, (state) => {
        const { name = '' } = call.params;
        const store = state.snapshots.get(name);
        if (store === undefined) return outcome(state, refuseSnapshot(name));
        return outcome(state, NO_CONTENT, { store });
      }),
  }),
  endpoint('deleteSnapshot', 'DELETE /snapshots/{name}', {
    summary: 'Delete a snapshot',
    example: { path: 'before' },
    replies: { 204: 'Deleted.', 404: MISSING },
    handle: (call) =>
      edit(call, `deleted the snapshot ${call.params.name}`, (state) => {
        const { name = '' } = call.params;
        if (!state.snapshots.has(name)) return outcome(state, refuseSnapshot(name));
        const snapshots = withEntry(state.snapshots, name, undefined);
        return outcome(state, NO_CONTENT, { snapshots });
      }),
  }),
];

/** Limits the records of all snapshots together, as each may hold records of its own. */
function refuseRecords(snapshots: ReadonlyMap<string, Store>): ControlReply | undefined {
  const max = LIMITS.snapshotRecords;
  let count = 0;
  for (const { animals, inventory, orders } of snapshots.values())
    count += animals.size + inventory.size + orders.size;
  if (count <= max) return undefined;
  const message = `limit of records in the snapshots of a sandbox (${max}) reached; delete one first`;
  return refuse('too_many_snapshots', 409, message);
}

function showSnapshot(name: string, { animals, inventory, orders }: Store): SnapshotSummary {
  return { name, animals: animals.size, inventory: inventory.size, orders: orders.size };
}

function refuseSnapshot(name: string): ControlReply {
  return refuse('not_found', 404, `there is no snapshot ${describe(name)}`);
}
