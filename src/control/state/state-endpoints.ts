import { COLLECTIONS } from '../../contract/records.ts';
import type { EditResult, Sandbox } from '../../sandbox/sandbox.ts';
import {
  KEEPABLE,
  NO_LATCHES,
  NO_SCENARIOS,
  type ResetPart,
  restarted,
  type State,
} from '../../sandbox/state.ts';
import { CHANGES } from '../../scenario/state-shape.ts';
import { object, optional, required } from '../../shape/objects.ts';
import { choice, list, named } from '../../shape/shapes.ts';
import { readStore, STORE } from '../../store/fixture/parse-fixture.ts';
import { merge } from '../../store/merge.ts';
import { bareStore, type Store } from '../../store/store.ts';
import { arrayText } from '../../store/store-text.ts';
import { describe } from '../../words.ts';
import { NAME, SNAPSHOT, type Snapshot } from '../control-shapes.ts';
import {
  type ControlReply,
  DONE,
  type EndpointDefinition,
  json,
  refuse,
  refuseInput,
  withBody,
} from '../endpoint.ts';

/** What a reset keeps unless it says otherwise: what somebody wrote by hand. */
const KEPT: readonly ResetPart[] = ['own-scenarios'];

const RESET = object({
  keep: optional(
    list(choice(KEEPABLE)),
    `What the reset does not change; \`${JSON.stringify(KEPT)}\` by default.`,
  ),
});

const STATE = named('State', STORE);

const STATE_CHANGES = named('StateChanges', CHANGES);

export const STATE_ENDPOINTS: readonly EndpointDefinition[] = [
  {
    id: 'getState',
    route: ['get', '/state'],
    summary: 'Read the whole store as a fixture',
    replies: { 200: { description: 'The store.', shape: STATE } },
    handle: ({ sandbox }) => stateReply(sandbox.state.store),
  },
  {
    id: 'replaceState',
    route: ['put', '/state'],
    summary: 'Replace the whole store',
    description:
      'Validated like a fixture. A collection that the body leaves out becomes empty. The body has at most 1 MiB.',
    body: {
      shape: STATE,
    },
    example: {
      body: {
        animals: [{ id: 1, name: 'Polly', categoryId: 3 }],
        inventory: [{ petId: 1, quantity: 12, status: 'available' }],
        orders: [{ id: 1, petId: 1, quantity: 2 }],
      },
    },
    replies: { 200: { description: 'The new store.', shape: STATE } },
    handle: ({ sandbox, body }) => {
      const reading = readStore(body);
      if (!reading.ok) return refuseInput(reading.problems);
      const { value: store } = reading;
      return sandbox.change((state) => ({ state: { ...state, store }, result: stateReply(store) }));
    },
  },
  withBody({
    id: 'mergeState',
    route: ['patch', '/state'],
    summary: 'Merge records into the store by id',
    description:
      'Fields that a record leaves out keep their values; a new record must be complete. Instead of an array, a collection can have `remove`, `each` and `set` as in a scenario. Makes all changes, or none.',
    body: { shape: STATE_CHANGES },
    example: { body: { orders: [{ id: 1, status: 'shipped' }] } },
    replies: { 200: { description: 'The new store.', shape: STATE } },
    handle: ({ sandbox, body }) =>
      sandbox.change((state) => {
        const merged = merge(state.store, body);
        if (!merged.ok) return { state, result: refuseInput(merged.problems) };
        const { value: store } = merged;
        return { state: { ...state, store }, result: stateReply(store) };
      }),
  }),
  withBody({
    id: 'reset',
    route: ['post', '/reset'],
    summary: 'Reset the sandbox to its start',
    description:
      "Resets the store, the active scenarios and the call counts of their rules, the assumptions, the clock, the journal, coverage and findings, except for what `keep` names; `journal` includes coverage and findings. The sandbox's own scenarios stay unless a `keep` leaves out `own-scenarios`. Snapshots always stay.",
    body: { shape: RESET, optional: true },
    example: { body: { keep: ['scenario'] } },
    replies: { 204: 'Reset.' },
    handle: ({ sandbox, body }) =>
      sandbox.change((state, { wall }) =>
        resetOf(sandbox, state, new Set(body.keep ?? KEPT), wall),
      ),
  }),
];

function resetOf(
  { origin, initialUpstream: upstream }: Sandbox,
  before: State,
  keep: ReadonlySet<ResetPart>,
  wall: number,
): EditResult<ControlReply> {
  const start = keep.has('scenario') ? before.settings.start : origin;
  const state = restarted(before, start, wall, keep);
  const scenarios = keep.has('own-scenarios') ? state.scenarios : NO_SCENARIOS;
  const settings = { ...state.settings, upstream };
  const clears = keep.has('journal') ? undefined : 'all';
  const holds = { due: {}, why: 'reset' } as const;
  const next = { ...state, settings, scenarios, latches: NO_LATCHES };
  return { state: next, result: DONE, clears, holds };
}

function stateReply(store: Store): ControlReply {
  return { status: 200, body: { kind: 'pieces', pieces: stateText(store) } };
}

/** Written as the client reads: a long text holds no other client up. */
function* stateText(store: Store): Generator<string> {
  let open = '{';
  for (const name of COLLECTIONS) {
    yield `${open}"${name}":`;
    open = ',';
    yield* arrayText(store[name].ascending());
  }
  yield '}';
}

/** The most snapshots of a sandbox. */
const MOST_SNAPSHOTS = 100;

const MISSING = 'The snapshot does not exist.';

export const SNAPSHOT_ENDPOINTS: readonly EndpointDefinition[] = [
  {
    id: 'listSnapshots',
    route: ['get', '/snapshots'],
    summary: 'List snapshots',
    replies: {
      200: {
        description: 'The snapshots, the oldest first.',
        shape: list(SNAPSHOT),
      },
    },
    handle: ({ sandbox }) =>
      json([...sandbox.state.snapshots].map(([name, store]) => snapshotView(name, store))),
  },
  withBody({
    id: 'createSnapshot',
    route: ['post', '/snapshots'],
    summary: 'Take a snapshot',
    description: `Saves the store under a name, and replaces a snapshot of that name. A sandbox has at most ${MOST_SNAPSHOTS} snapshots.`,
    body: { shape: object({ name: required(NAME, 'The name of the snapshot.') }) },
    example: { body: { name: 'before' } },
    replies: {
      200: { description: 'Taken; replaced another.', shape: SNAPSHOT },
      201: { description: 'Taken.', shape: SNAPSHOT },
      409: 'The sandbox has too many snapshots.',
    },
    handle: ({ sandbox, body: { name } }) => sandbox.change((state) => taken(state, name)),
  }),
  {
    id: 'restoreSnapshot',
    route: ['post', '/snapshots/{name}/restore'],
    summary: 'Restore a snapshot',
    description: 'Restores the store only. Rules, assumptions, clock and journal do not change.',
    example: { path: 'before' },
    replies: { 204: 'Restored.', 404: MISSING },
    handle: ({ sandbox, params: { name = '' } }) =>
      sandbox.change((state) => {
        const snapshot = state.snapshots.get(name);
        if (snapshot === undefined) return { state, result: notFound(name) };
        return { state: { ...state, store: bareStore(snapshot) }, result: DONE };
      }),
  },
  {
    id: 'deleteSnapshot',
    route: ['delete', '/snapshots/{name}'],
    summary: 'Delete a snapshot',
    example: { path: 'before' },
    replies: { 204: 'Deleted.', 404: MISSING },
    handle: ({ sandbox, params: { name = '' } }) =>
      sandbox.change((state) => {
        const snapshots = new Map(state.snapshots);
        if (!snapshots.delete(name)) return { state, result: notFound(name) };
        return { state: { ...state, snapshots }, result: DONE };
      }),
  },
];

function taken(state: State, name: string): EditResult<ControlReply> {
  const { snapshots, store } = state;
  const known = snapshots.has(name);
  if (!known && snapshots.size >= MOST_SNAPSHOTS) {
    const message = `snapshot limit (${MOST_SNAPSHOTS}) reached; delete a snapshot first`;
    return { state, result: refuse('too_many_snapshots', 409, message) };
  }
  const result = json(snapshotView(name, store), known ? 200 : 201);
  const after = new Map(snapshots).set(name, bareStore(store));
  return { state: { ...state, snapshots: after }, result };
}

function snapshotView(name: string, { animals, inventory, orders }: Store): Snapshot {
  return { name, animals: animals.size, inventory: inventory.size, orders: orders.size };
}

function notFound(name: string): ControlReply {
  return refuse('not_found', 404, `there is no snapshot ${describe(name)}`);
}
