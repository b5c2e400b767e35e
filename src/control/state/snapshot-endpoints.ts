import { object, required } from '../../shape/objects.ts';
import { list } from '../../shape/shapes.ts';
import { forkStore, restoreStore, type Store } from '../../store/store.ts';
import { describe } from '../../words.ts';
import { ERROR, NAME, SNAPSHOT, type Snapshot } from '../control-shapes.ts';
import { type ControlReply, DONE, type Endpoint, json, refuse, withBody } from '../endpoint.ts';

const MOST_SNAPSHOTS = 100;

const MISSING = { description: 'There is no such snapshot.', shape: ERROR };

export const SNAPSHOT_ENDPOINTS: readonly Endpoint[] = [
  {
    id: 'listSnapshots',
    method: 'get',
    path: '/snapshots',
    tag: 'Snapshots',
    summary: 'The stores that are kept',
    replies: {
      200: {
        description: 'The snapshots, the oldest first.',
        shape: list(SNAPSHOT),
      },
    },
    handle: ({ sandbox }) =>
      json([...sandbox.snapshots].map(([name, store]) => snapshotView(name, store))),
  },
  withBody({
    id: 'createSnapshot',
    method: 'post',
    path: '/snapshots',
    tag: 'Snapshots',
    summary: 'Keep the store under a name',
    description: `In the place of one that was kept under it before. At most ${MOST_SNAPSHOTS} are kept.`,
    body: { shape: object({ name: required(NAME, 'Its name.') }) },
    replies: {
      200: { description: 'Kept, in the place of another.', shape: SNAPSHOT },
      201: { description: 'Kept.', shape: SNAPSHOT },
      409: { description: 'There are too many.', shape: ERROR },
    },
    handle: ({ sandbox, body: { name } }) => {
      const { snapshots, world } = sandbox;
      const known = snapshots.has(name);
      if (!known && snapshots.size >= MOST_SNAPSHOTS) {
        const message = `there are ${MOST_SNAPSHOTS} snapshots, as many as there may be`;
        return refuse('too_many_snapshots', 409, message);
      }
      const store = forkStore(world.store);
      snapshots.set(name, store);
      return json(snapshotView(name, store), known ? 200 : 201);
    },
  }),
  {
    id: 'restoreSnapshot',
    method: 'post',
    path: '/snapshots/{name}/restore',
    tag: 'Snapshots',
    summary: 'Bring a store back',
    description: 'The store only: rules, assumptions, clock and journal go on.',
    replies: { 204: { description: 'The store is as it was kept.' }, 404: MISSING },
    handle: ({ sandbox, params: { name = '' } }) => {
      const store = sandbox.snapshots.get(name);
      if (store === undefined) return notFound(name);
      restoreStore(sandbox.world.store, store);
      return DONE;
    },
  },
  {
    id: 'deleteSnapshot',
    method: 'delete',
    path: '/snapshots/{name}',
    tag: 'Snapshots',
    summary: 'Keep a store no longer',
    replies: { 204: { description: 'Deleted.' }, 404: MISSING },
    handle: ({ sandbox, params: { name = '' } }) =>
      sandbox.snapshots.delete(name) ? DONE : notFound(name),
  },
];

function snapshotView(name: string, { animals, inventory, orders }: Store): Snapshot {
  return { name, animals: animals.size, inventory: inventory.size, orders: orders.size };
}

function notFound(name: string): ControlReply {
  return refuse('not_found', 404, `there is no snapshot ${describe(name)}`);
}
