import { ref } from '../../contract/openapi-schemas.ts';
import { SANDBOX_NAME } from '../../sandbox/sandbox-names.ts';
import { forkStore, restoreStore, type Store } from '../../store/store.ts';
import { describe } from '../../words.ts';
import { readMembers } from '../checks.ts';
import { type ControlReply, DONE, type Endpoint, json, refuse, refuseInput } from '../endpoint.ts';

const MOST_SNAPSHOTS = 100;

/** Snapshots are named as sandboxes are. */
const NAME = {
  expected: 'a name of 1 to 64 of a-z A-Z 0-9 . _ -',
  read: (value: unknown) =>
    typeof value === 'string' && SANDBOX_NAME.test(value) ? value : undefined,
};

const MISSING = { description: 'There is no such snapshot.', schema: ref('schemas', 'Error') };

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
        schema: { type: 'array', items: ref('schemas', 'Snapshot') },
      },
    },
    handle: ({ sandbox }) =>
      json([...sandbox.snapshots].map(([name, store]) => snapshotView(name, store))),
  },
  {
    id: 'createSnapshot',
    method: 'post',
    path: '/snapshots',
    tag: 'Snapshots',
    summary: 'Keep the store under a name',
    description: `In the place of one that was kept under it before. At most ${MOST_SNAPSHOTS} are kept.`,
    body: {
      schema: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string', pattern: SANDBOX_NAME.source } },
      },
    },
    replies: {
      200: { description: 'Kept, in the place of another.', schema: ref('schemas', 'Snapshot') },
      201: { description: 'Kept.', schema: ref('schemas', 'Snapshot') },
      409: { description: 'There are too many.', schema: ref('schemas', 'Error') },
    },
    handle: ({ sandbox, body }) => {
      const reading = readMembers({ name: NAME }, body);
      if (!reading.ok) return refuseInput(reading.problems);
      const { name } = reading.value;
      if (name === undefined) {
        return refuseInput([{ path: '$.name', expected: NAME.expected, found: 'nothing' }]);
      }
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
  },
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

function snapshotView(name: string, { animals, inventory, orders }: Store): object {
  return { name, animals: animals.size, inventory: inventory.size, orders: orders.size };
}

function notFound(name: string): ControlReply {
  return refuse('not_found', 404, `there is no snapshot ${describe(name)}`);
}
