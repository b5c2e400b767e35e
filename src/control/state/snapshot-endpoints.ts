import type { EditResult } from '../../sandbox/sandbox.ts';
import type { State } from '../../sandbox/state.ts';
import { object, required } from '../../shape/objects.ts';
import { list } from '../../shape/shapes.ts';
import { bareStore, type Store } from '../../store/store.ts';
import { describe } from '../../words.ts';
import { ERROR, NAME, SNAPSHOT, type Snapshot } from '../control-shapes.ts';
import { type ControlReply, DONE, json, type Listed, refuse, withBody } from '../endpoint.ts';

/** The most snapshots of a sandbox. */
const MOST_SNAPSHOTS = 100;

const MISSING = { description: 'The snapshot does not exist.', shape: ERROR };

export const SNAPSHOT_ENDPOINTS: readonly Listed[] = [
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
    replies: {
      200: { description: 'Taken; replaced another.', shape: SNAPSHOT },
      201: { description: 'Taken.', shape: SNAPSHOT },
      409: { description: 'The sandbox has too many snapshots.', shape: ERROR },
    },
    handle: ({ sandbox, body: { name } }) => sandbox.change((state) => taken(state, name)),
  }),
  {
    id: 'restoreSnapshot',
    route: ['post', '/snapshots/{name}/restore'],
    summary: 'Restore a snapshot',
    description: 'Restores the store only. Rules, assumptions, clock and journal do not change.',
    replies: { 204: { description: 'Restored.' }, 404: MISSING },
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
    replies: { 204: { description: 'Deleted.' }, 404: MISSING },
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
