import { expect, test } from 'vitest';
import type { OrderStatus } from '../../../src/core/contract/records.ts';
import { writeJson } from '../../../src/core/json.ts';
import { recordDeployment } from '../../../src/features/deployment/record-deployment.ts';

type Headers = Readonly<Record<string, string>>;

/** What a deployment lists: records, or the text of a body. */
interface Lists {
  readonly pets?: (
    query: URLSearchParams,
  ) => readonly [list: unknown, headers?: Headers, status?: number];
  readonly inventory?: unknown;
  readonly orders?: unknown;
}

/** Records a deployment in memory, which has nothing that is not given. */
async function record(lists: Lists, unknownStatus: OrderStatus = 'pending') {
  const { pets = () => [[]], inventory = [], orders = [] } = lists;
  const asked: string[] = [];
  const get = async (target: string) => {
    asked.push(target);
    const { pathname, searchParams } = new URL(target, 'http://a');
    const others = pathname === '/inventory' ? inventory : orders;
    const [list, headers = {}, status = 200] = pathname === '/pets' ? pets(searchParams) : [others];
    const text = typeof list === 'string' ? list : writeJson(list);
    return { status, headers: Object.entries(headers).flat(), body: Buffer.from(text) };
  };
  const { store, gaps } = await recordDeployment(get, unknownStatus);
  const [animals = [], entries, recorded] = [store.animals, store.inventory, store.orders].map(
    (records) => [...records.ascending()],
  );
  return { animals, inventory: entries, orders: recorded, gaps, asked };
}

const ids = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

const animal = (id: number | bigint, more: object = {}) => ({
  id,
  name: `Rex ${id}`,
  categoryId: 1,
  ...more,
});

const entry = (petId: number | bigint) => ({ petId, quantity: 1, status: 'available' });

const ALL = ids(1, 230).map((id) => animal(id));

/** A page that begins where a parameter says. */
const pageFrom = (query: URLSearchParams, name: string, most = 100) => {
  const from = Number(query.get(name) ?? 0);
  return ALL.slice(from, from + Math.min(Number(query.get('limit')), most));
};

const linked = (query: URLSearchParams): Headers => {
  const from = Number(query.get('from') ?? 0);
  const next = `<http://inner:8080/v1/pets?limit=100&from=${from + 100}>; rel="next"`;
  return from < 200 ? { Link: `</first>; rel="first", ${next}` } : {};
};

const UNLISTED =
  'orders: none shows that it was cancelled; the deployment may leave cancelled orders out';

// biome-ignore format: a row for each
test.each<[way: string, last: string, pets: NonNullable<Lists['pets']>]>([
  ['the Link to the next page, whatever host it names', 'from=200', (query) => [pageFrom(query, 'from'), linked(query)]],
  ['offset, with a total', 'offset=200', (query) => [pageFrom(query, 'offset'), { 'X-Total-Count': '230' }]],
  ['offset, without a total', 'offset=230', (query) => [pageFrom(query, 'offset')]],
  ['offset, in pages that are shorter than asked for', 'offset=230', (query) => [pageFrom(query, 'offset', 50)]],
])('animals are listed by %s', async (_, last, pets) => {
  const { animals, gaps, asked } = await record({ pets });
  expect(animals).toHaveLength(230);
  expect(asked.at(-1)).toBe(`/pets?limit=100&${last}`);
  expect(gaps).toEqual([UNLISTED]);
});

// biome-ignore format: a row for each
test.each<[way: string, pets: NonNullable<Lists['pets']>, missing: string]>([
  ['refuses', (query) => (query.has('offset') ? ['', {}, 400] : [pageFrom(query, 'offset')]), 'others may be missing'],
  ['ignores', (query) => [pageFrom(new URLSearchParams({ limit: `${query.get('limit')}` }), ''), { 'X-Total-Count': '230' }], '130 are missing'],
])('a deployment that %s the next page has animals that may be missing', async (_, pets, missing) => {
  const { animals, gaps } = await record({ pets });
  expect(animals).toHaveLength(100);
  expect(gaps[0]).toBe(`animals: GET /pets lists 100 and has no next page; ${missing}`);
});

test('animals that are not shown lose their entries and the petId of their orders', async () => {
  const { inventory, orders, gaps } = await record({
    pets: () => [[animal(1)]],
    inventory: [entry(1), entry(2)],
    orders: [{ id: 7, petId: 2, complete: true }],
  });
  expect(inventory).toEqual([{ ...entry(1), petId: 1n }]);
  expect(orders).toEqual([{ id: 7n, complete: true, status: 'shipped' }]);
  expect(gaps[0]).toMatch(/^animal 2: not listed, though/);
});

test('dates are kept as they are written, also a leap second and one at the end of time', async () => {
  const dates = [
    '9999-12-31T23:59:59Z',
    '2016-12-31T23:59:60Z',
    '2031-03-15T09:00:00.1234567891Z',
    '0000-01-01T00:00:00+01:00',
  ];
  const { orders } = await record({ orders: dates.map((shipDate, id) => ({ id, shipDate })) });
  expect(orders).toMatchObject(dates.map((shipDate) => ({ shipDate })));
});

test('orders have the status that they show, and else that of --unknown-status', async () => {
  const shown = [
    { id: 1, status: 'cancelled' },
    { id: 2, status: 'shipped', complete: false },
    { id: 3, status: 'pending', complete: true },
    { id: 4, complete: true },
    { id: 5, status: 'returned' },
    { id: 6, quantity: 2, shipDate: '2031-03-15T09:00:00.000Z', complete: null, petId: null },
    { quantity: 3 },
  ];
  const { orders, gaps } = await record({ orders: shown }, 'shipped');
  expect(orders).toEqual([
    { id: 1n, status: 'cancelled' },
    { id: 2n, status: 'shipped', complete: false },
    { id: 3n, status: 'pending', complete: true },
    { id: 4n, status: 'shipped', complete: true },
    { id: 5n, status: 'shipped' },
    { id: 6n, quantity: 2, shipDate: '2031-03-15T09:00:00.000Z', status: 'shipped' },
  ]);
  expect(gaps).toEqual([
    'orders: 1 order without an id left out',
    'orders: 2 of 6 have an unknown status (found "returned" or nothing); recorded as shipped (--unknown-status)',
  ]);
});

test('ids are exact, and fields that a fixture cannot hold are named', async () => {
  const [low, high] = [-(2n ** 63n), 2n ** 63n - 1n];
  const { animals, inventory, gaps } = await record({
    pets: () => [[animal(low, { tags: [] }), animal(high, { breed: 'x', status: null })]],
    inventory: [entry(high)],
  });
  expect(animals).toEqual([low, high].map((id) => ({ ...animal(id), categoryId: 1n })));
  expect(inventory).toEqual([entry(high)]);
  expect(gaps).toContain('animals: left out tags and breed, which a fixture cannot hold');
});

// biome-ignore format: a row for each
test.each<[string, Lists, string]>([
  ['an Error', { pets: () => [{ code: 'oops', message: 'no disk', status: 500 }, {}, 500] }, 'GET /pets?limit=100: expected 200, found 500: oops: no disk'],
  ['a page', { inventory: '<html>' }, 'GET /inventory: expected an array of objects in JSON, found "<html>"'],
  ['a missing field', { pets: () => [[animal(1)]], inventory: [{ petId: 1, quantity: 2 }] }, '$.inventory[0].status: expected a string, found nothing'],
])('%s is reported instead of recorded', async (_, lists, message) => {
  await expect(record(lists)).rejects.toThrow(message);
});
