import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MockSandbox, type PetstoreMock, startPetstoreMock } from '../../../src/index.ts';

let server: PetstoreMock;
beforeAll(async () => {
  server = await startPetstoreMock();
});
afterAll(() => server.stop());

/** The paths of all methods, such as `clock.freeze`. */
type Methods<T> = {
  [K in keyof T & string]: T[K] extends (...input: never[]) => unknown
    ? K
    : T[K] extends object
      ? `${K}.${Methods<T[K]>}`
      : never;
}[keyof T & string];

type Latch = Awaited<ReturnType<MockSandbox['hold']>>;

/** The methods of a sandbox, of one call and of a latch. The collections have the same methods. */
type Method =
  | Methods<Omit<MockSandbox, 'control' | 'inventory' | 'orders'>>
  | `call.${Methods<ReturnType<MockSandbox['requests']['get']>>}`
  | `latch.${Methods<Latch>}`;

const BIG = 9007199254740993n;
const REX = { name: 'Rex', categoryId: BIG };
const WHISKERS = { id: BIG, name: 'Whiskers', categoryId: 2 };
const SHIPPED = { orders: [{ id: 1, status: 'shipped' }] } as const;
const OUTAGE = 'rules: [{ on: listPets, reply: { status: 503 } }]\n';

const having = (members: object): unknown => expect.objectContaining(members);
const among = (members: object): unknown => expect.arrayContaining([having(members)]);

/** Holds two calls back, and returns what a latch does with them. */
async function holding<T>(mock: MockSandbox, use: (latch: Latch) => Promise<T>): Promise<T> {
  const latch = await mock.hold('listPets', { where: { limit: 5 } });
  const waiting = [1, 2].map(() => send(mock, '/pets?limit=5'));
  await latch.arrived(2);
  const result = await use(latch);
  await latch.release();
  await Promise.all(waiting);
  return result;
}

function send({ url, key }: MockSandbox, path: string, method = 'GET'): Promise<Response> {
  return fetch(url + path, { method, headers: { Authorization: `Bearer ${key}` } });
}

/**
 * What each method does in a sandbox whose client has read animal 1 and then cancelled order 1, and what
 * it returns. What the endpoints do beyond that is tested in test/control/.
 */
// biome-ignore format: a row for each
const METHODS: Readonly<
  Record<Method, readonly [act: (mock: MockSandbox) => unknown, result: unknown]>
> = {
  'state.get': [({ state }) => state.get(), having({ orders: among({ id: 2 }) })],
  'state.put': [({ state }) => state.put({ animals: [WHISKERS] }), { animals: [WHISKERS], inventory: [], orders: [] }],
  'state.patch': [({ state }) => state.patch(SHIPPED), having({ orders: among({ status: 'shipped' }) })],
  'animals.list': [({ animals }) => animals.list({ _limit: 2 }), [having({ id: 1 }), having({ id: 2 })]],
  'animals.count': [({ animals }) => animals.count({ id: 2 }), 1],
  'animals.get': [({ animals }) => animals.get(1n), having({ id: 1 })],
  'animals.create': [({ animals }) => animals.create(REX), { id: 65, ...REX }],
  'animals.put': [({ animals }) => animals.put(BIG, REX), { id: BIG, ...REX }],
  'animals.patch': [({ animals }) => animals.patch(1, { status: null }), { id: 1, name: 'Rex', categoryId: 1 }],
  'animals.delete': [async ({ animals }) => { await animals.delete(1); return animals.count(); }, 63],
  'snapshots.list': [({ snapshots }) => snapshots.list(), []],
  'snapshots.create': [({ snapshots }) => snapshots.create('own'), having({ name: 'own', animals: 64 })],
  'snapshots.restore': [
    async ({ snapshots, animals }) => {
      await snapshots.create('own');
      await animals.delete(1);
      await snapshots.restore('own');
      return animals.count();
    },
    64,
  ],
  'snapshots.delete': [
    async ({ snapshots }) => {
      await snapshots.create('own');
      await snapshots.delete('own');
      return snapshots.list();
    },
    [],
  ],
  'scenario.get': [({ scenario }) => scenario.get(), []],
  'scenario.use': [({ scenario }) => scenario.use('slow', { rules: [] }), [having({ name: 'slow' }), having({ name: 'request' })]],
  'scenarios.list': [({ scenarios }) => scenarios.list(), among({ name: 'slow', own: false })],
  'scenarios.save': [({ scenarios }) => scenarios.save('own', {}), having({ name: 'own', own: true })],
  'scenarios.text': [async ({ scenarios }) => { await scenarios.save('own', OUTAGE); return scenarios.text('own'); }, OUTAGE],
  'scenarios.delete': [
    async ({ scenarios }) => {
      await scenarios.save('own', OUTAGE);
      await scenarios.delete('own');
      return (await scenarios.list()).filter(({ own }) => own);
    },
    [],
  ],
  assumptions: [({ assumptions }) => assumptions(), among({ id: 'unknown-pet', chosen: '404' })],
  assume: [
    async ({ assume, assumptions }) => { await assume({ 'unknown-pet': '400' }); return assumptions(); },
    among({ id: 'unknown-pet', chosen: '400', default: '404' }),
  ],
  'clock.get': [({ clock }) => clock.get(), having({ real: true, frozen: false })],
  'clock.set': [({ clock }) => clock.set({ now: '2030-01-01T00:00:00Z', frozen: true }), { now: '2030-01-01T00:00:00.000Z', frozen: true, real: false }],
  'clock.advance': [
    async ({ clock }) => { await clock.freeze('2030-12-01T00:00:00Z'); return clock.advance('P5D'); },
    having({ now: '2030-12-06T00:00:00.000Z' }),
  ],
  'clock.freeze': [({ clock }) => clock.freeze(new Date('2030-12-01T00:00:00Z')), having({ now: '2030-12-01T00:00:00.000Z', frozen: true })],
  'requests.list': [({ requests }) => requests.list({ operation: 'cancelOrder' }), [having({ number: 2, method: 'DELETE', status: 204, key: 'demo…' })]],
  'requests.get': [({ requests }) => requests.get(1).read(), having({ number: 1 })],
  'requests.edits': [async ({ requests, state }) => { await state.patch(SHIPPED); return requests.edits(); }, [having({ after: 2 })]],
  'requests.count': [({ requests }) => requests.count({ status: 204 }), 1],
  'requests.wait': [({ requests }) => requests.wait({}, { atLeast: 2 }), among({ number: 2 })],
  'requests.follow': [async ({ requests }) => (await requests.follow({ after: 0, status: 204 }).next()).value, having({ number: 2 })],
  'requests.clear': [async ({ requests }) => { await requests.clear(); return requests.count(); }, 0],
  'call.read': [({ requests }) => requests.get(2).read(), having({ number: 2, status: 204 })],
  'call.state': [
    async ({ requests }) => {
      const states = [await requests.get(2).state(), await requests.get(2).state('after')];
      return states.map(({ orders }) => orders[0]?.status);
    },
    ['pending', 'cancelled'],
  ],
  'call.rewind': [async ({ requests, orders }) => { await requests.get(2).rewind(); return orders.get(1); }, having({ status: 'pending' })],
  'call.alternatives': [
    async (mock) => { await send(mock, '/store/orders/1', 'DELETE'); return mock.requests.get(3).alternatives(); },
    among({ assumption: 'cancel-again', option: '404', status: 404 }),
  ],
  'call.replay': [({ requests }) => requests.get(2).replay(), having({ number: 3, replays: 2, status: 409 })],
  'call.rule': [({ requests }) => requests.get(2).rule(), expect.stringContaining('gets 204')],
  hold: [(mock) => holding(mock, () => mock.requests.list({ limit: 1 })), [having({ hold: { name: expect.any(String) } })]],
  holds: [(mock) => holding(mock, mock.holds), [having({ exchange: 3 }), having({ exchange: 4 })]],
  'latch.arrived': [(mock) => holding(mock, (latch) => latch.arrived(2)), [having({ number: 3 }), having({ number: 4 })]],
  'latch.release': [(mock) => holding(mock, (latch) => latch.release({ count: 1 })), [having({ exchange: 3 })]],
  'latch.releaseNewestFirst': [(mock) => holding(mock, (latch) => latch.releaseNewestFirst({ count: 1 })), [having({ exchange: 4 })]],
  coverage: [({ coverage }) => coverage(), having({ documented: among({ count: 1 }) })],
  findings: [({ findings }) => findings(), having({ findings: [having({ code: 'deprecated', exchange: 1 })] })],
  undo: [async ({ undo, animals }) => { await animals.delete(1); return undo(); }, { what: expect.any(String), laterCalls: 0 }],
  reset: [
    async ({ reset, requests, orders }) => {
      await reset({ keep: ['journal'] });
      return [await requests.count(), (await orders.get(1)).status];
    },
    [2, 'pending'],
  ],
};

test.each(Object.entries(METHODS))('%s', async (_name, [act, result]) => {
  const mock = server.sandbox();
  expect((await send(mock, '/pets/1')).status).toBe(200);
  expect((await send(mock, '/store/orders/1', 'DELETE')).status).toBe(204);
  expect(await act(mock)).toEqual(result);
});
