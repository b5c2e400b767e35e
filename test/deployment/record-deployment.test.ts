import { describe, expect, test } from 'vitest';
import { writeJson } from '../../src/contract/json.ts';
import type { OrderStatus } from '../../src/contract/records.ts';
import type { DeploymentReply } from '../../src/deployment/deployment-reply.ts';
import { recordDeployment } from '../../src/deployment/record-deployment.ts';

interface Canned {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** What a deployment answers, by path; a list of animals can depend on the query. */
type Answers = Readonly<Record<string, unknown>> & {
  readonly '/pets'?: (query: URLSearchParams) => Canned;
};

/** Records a deployment in memory, which has nothing that is not given. */
async function record(answers: Answers, unknownStatus: OrderStatus = 'pending') {
  const asked: string[] = [];
  const get = async (target: string): Promise<DeploymentReply> => {
    asked.push(target);
    const [path = '', query] = target.split('?');
    const { status = 200, headers = {}, body } = cannedFor(answers, path, query);
    const text = typeof body === 'string' ? body : writeJson([body]).slice(1, -1);
    return { status, headers: Object.entries(headers).flat(), body: Buffer.from(text) };
  };
  const { store, gaps } = await recordDeployment(get, unknownStatus);
  const [animals, inventory, orders] = [store.animals, store.inventory, store.orders].map(
    (collection) => [...collection.ascending()],
  );
  return { animals, inventory, orders, gaps, asked, ids: idsOf(store.animals.ascending()) };
}

function cannedFor(answers: Answers, path: string, query = ''): Canned {
  if (path === '/pets') return answers['/pets']?.(new URLSearchParams(query)) ?? { body: [] };
  if (Object.hasOwn(answers, path)) {
    const answer = answers[path];
    return typeof answer === 'number' ? { status: answer, body: '' } : { body: answer };
  }
  return path.startsWith('/pets/') ? { status: 404, body: '' } : { body: [] };
}

const idsOf = (records: Iterable<{ readonly id: bigint }>) =>
  [...records].map(({ id }) => Number(id));

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

const animal = (id: number | bigint, more: object = {}) => ({
  id,
  name: `Rex ${id}`,
  categoryId: 1,
  ...more,
});

const entry = (petId: number | bigint) => ({ petId, quantity: 1, status: 'available' });

/** The page of a list that a query asks for, of 100 or a lower limit. */
function pageOf<T>(all: readonly T[], query: URLSearchParams, most = 100): T[] {
  const start = Number(query.get('offset') ?? 0);
  return all.slice(start, start + Math.min(Number(query.get('limit')), most));
}

const ABOUT_ORDERS =
  'orders: none shows that it was cancelled; the deployment may leave cancelled orders out';

describe('animals', () => {
  const all = range(1, 230).map((id) => animal(id));

  test('are listed by the Link to the next page, whatever host it names', async () => {
    const { ids, gaps, asked } = await record({
      '/pets': (query) => {
        const from = Number(query.get('from') ?? 0);
        const link = `<http://inner:8080/v1/pets?limit=100&from=${from + 100}>; rel="next"`;
        return {
          body: all.slice(from, from + 100),
          headers: from < 200 ? { Link: `</first>; rel="first", ${link}` } : {},
        };
      },
    });
    expect(ids).toEqual(range(1, 230));
    expect(asked.slice(2)).toEqual([
      '/pets?limit=100',
      '/pets?limit=100&from=100',
      '/pets?limit=100&from=200',
    ]);
    expect(gaps).toEqual([ABOUT_ORDERS]);
  });

  test.each([
    ['a total', 100, { 'X-Total-Count': '230' }, 3],
    ['no total', 100, {}, 4],
    ['pages that are shorter than asked for', 50, {}, 6],
  ])('are listed by offset, with %s', async (_, most, headers, requests) => {
    const { ids, gaps, asked } = await record({
      '/pets': (query) => ({ body: pageOf(all, query, most), headers }),
    });
    expect(ids).toEqual(range(1, 230));
    expect(asked).toHaveLength(2 + requests);
    expect(gaps).toEqual([ABOUT_ORDERS]);
  });

  test('that no page lists may be missing, and the recording says so', async () => {
    const { ids, gaps } = await record({
      '/pets': (query) =>
        query.has('offset') ? { status: 400, body: '' } : { body: all.slice(0, 100) },
    });
    expect(ids).toEqual(range(1, 100));
    expect(gaps[0]).toBe(
      'animals: GET /pets lists 100 and has no next page; others may be missing',
    );
  });

  test('that are not shown lose their entries and the petId of their orders', async () => {
    const { inventory, orders, gaps } = await record({
      '/pets': () => ({ body: [animal(1)] }),
      '/inventory': [entry(1), entry(2)],
      '/store/orders': [{ id: 7, petId: 2, complete: true }],
    });
    expect(inventory).toEqual([{ ...entry(1), petId: 1n }]);
    expect(orders).toEqual([{ id: 7n, complete: true, status: 'shipped' }]);
    expect(gaps[0]).toMatch(/^animal 2: not listed, though/);
  });
});

describe('orders', () => {
  const shown = [
    { id: 1, status: 'cancelled' },
    { id: 2, status: 'shipped', complete: false },
    { id: 3, status: 'pending', complete: true },
    { id: 4, complete: true },
    { id: 5, status: 'returned' },
    { id: 6, quantity: 2, shipDate: '2031-03-15T09:00:00.000Z', complete: null, petId: null },
    { quantity: 3 },
  ];

  test('have the status that they show, and else that of --unknown-status', async () => {
    const { orders, gaps } = await record({ '/store/orders': shown }, 'shipped');
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
});

test('ids are exact, and fields that a fixture cannot hold are named', async () => {
  const [low, high] = [-(2n ** 63n), 2n ** 63n - 1n];
  const { animals, inventory, gaps } = await record({
    '/pets': () => ({
      body: [animal(low, { tags: [] }), animal(high, { breed: 'x', status: null })],
    }),
    '/inventory': [entry(high)],
  });
  expect(animals).toEqual([
    { id: low, name: `Rex ${low}`, categoryId: 1n },
    { id: high, name: `Rex ${high}`, categoryId: 1n },
  ]);
  expect(inventory).toEqual([{ ...entry(high) }]);
  expect(gaps).toContain('animals: left out tags and breed, which a fixture cannot hold');
});

test.each<[string, Answers, string]>([
  [
    'an Error',
    { '/pets': () => ({ status: 500, body: { code: 'oops', message: 'no disk', status: 500 } }) },
    'GET /pets?limit=100: expected 200, found 500: oops: no disk',
  ],
  [
    'a page',
    { '/inventory': '<html>' },
    'GET /inventory: expected an array of objects in JSON, found "<html>"',
  ],
  [
    'a missing field',
    { '/pets': () => ({ body: [animal(1)] }), '/inventory': [{ petId: 1, quantity: 2 }] },
    '$.inventory[0].status: expected a string, found nothing',
  ],
])('%s is reported instead of recorded', async (_, answers, message) => {
  await expect(record(answers)).rejects.toThrow(message);
});
