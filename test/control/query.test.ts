import { copyFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import fc from 'fast-check';
import jsonServer from 'json-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeJson } from '../../src/contract/json.ts';
import { type AnyRecord, type CollectionName, STORED_RECORDS } from '../../src/contract/records.ts';
import { readQueryAs } from '../../src/control/endpoint.ts';
import { listQuery, pageOf, type RecordList } from '../../src/control/records/query.ts';
import { packageRoot } from '../../src/package.ts';
import { loadFixtureSync } from '../../src/store/fixture/load-fixture.ts';
import { problemText } from '../../src/words.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { listen } from '../helpers/host.ts';

const folder = temporaryFolder();
const file = join(folder, 'db.json');
copyFileSync(join(packageRoot, 'fixtures/default.json'), file);
const server = createServer(jsonServer.create().use(jsonServer.router(file)));
const store = loadFixtureSync('default');
let origin: string;

beforeAll(async () => {
  origin = `http://127.0.0.1:${await listen(server)}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function read(collection: CollectionName, query: string) {
  return readQueryAs(listQuery(STORED_RECORDS[collection]), new URLSearchParams(query));
}

function select(
  collection: CollectionName,
  query: string,
  records: RecordList<AnyRecord> = store[collection],
) {
  const reading = read(collection, query);
  if (!reading.ok) throw new Error(reading.problems.map(problemText).join('\n'));
  return pageOf(records, reading.value);
}

async function expectSame(collection: CollectionName, query: string): Promise<void> {
  const url = `${origin}/${collection}?${query}`;
  const theirs = await fetch(url);
  expect(theirs.status).toBe(200);
  const { records, total } = select(collection, query);
  expect(JSON.parse(writeJson(records))).toEqual(await theirs.json());
  const theirTotal = theirs.headers.get('X-Total-Count');
  if (theirTotal !== null) expect(total).toBe(Number(theirTotal));
}

/** What a random query seldom or never has. */
const QUERIES: readonly (readonly [CollectionName, string])[] = [
  ['animals', ''],
  ['animals', 'id=9007199254740993'],
  ['animals', 'status=sold&status=pending'],
  ['animals', 'id_gte=-9223372036854775808'],
  ['animals', 'name_like=B&name_like=ex'],
  ['animals', 'name_like='],
  ['animals', 'q=REX'],
  ['animals', '_sort=name&_order=DESC'],
  ['animals', '_sort=&_order='],
  ['animals', '_page=999'],
  ['animals', '_limit=0'],
  ['orders', 'q=false'],
  ['orders', 'complete=false'],
  ['orders', '_sort=complete,shipDate&_order=desc,desc'],
  ['orders', 'shipDate_gte=2031'],
];

describe('json-server 0.17.4 gives the same answer', () => {
  test.each(QUERIES)('to /%s?%s', (collection, query) => expectSame(collection, query));

  test('to random valid queries', async () => {
    const value = (type: string) => {
      if (type === 'boolean') return fc.constantFrom('true', 'false');
      if (type === 'int64' || type === 'integer') return fc.integer({ min: -2, max: 70 });
      if (type === 'orderStatus') return fc.constantFrom('pending', 'shipped', 'cancelled');
      return fc.constantFrom('available', 'sold', 'Rex', 'B', 'pending', 'Z', '');
    };
    const filter = (fields: readonly (readonly [string, string])[]) =>
      fc.constantFrom(...fields).chain(([name, type]) => {
        const exact = type === 'dateTime' ? [] : ['', '_ne'];
        const range = type === 'boolean' ? [] : ['_gte', '_lte'];
        return fc
          .tuple(fc.constantFrom(...exact, ...range, '_like'), value(type))
          .map(([operator, text]) => `${name}${operator}=${text}`);
      });
    const count = (min: number) => fc.integer({ min, max: 25 });
    const slice = fc.oneof(
      fc.constant(''),
      count(1).map((page) => `_page=${page}`),
      fc.tuple(count(1), count(1)).map(([page, limit]) => `_limit=${limit}&_page=${page}`),
      count(0).map((limit) => `_limit=${limit}`),
    );
    const query = fc
      .constantFrom<CollectionName>('animals', 'inventory', 'orders')
      .chain((collection) => {
        const fields = Object.entries(STORED_RECORDS[collection]).map(
          ([name, { type }]) => [name, type] as const,
        );
        const names = fields.map(([name]) => name);
        const sort = fc.array(
          fc.tuple(fc.constantFrom(...names), fc.constantFrom('asc', 'desc', '')),
          { maxLength: 3 },
        );
        const text = fc.constantFrom('', 'q=a', 'q=1', 'q=sold');
        const filters = fc.array(filter(fields), { maxLength: 3 });
        return fc.tuple(filters, sort, slice, text).map(([wanted, keys, part, q]) => {
          const sorted =
            keys.length > 0
              ? `_sort=${keys.map(([name]) => name)}&_order=${keys.map(([, order]) => order)}`
              : '';
          return { collection, query: [...wanted, sorted, part, q].filter(Boolean).join('&') };
        });
      });
    await fc.assert(
      fc.asyncProperty(query, (it) => expectSame(it.collection, it.query)),
      { numRuns: 300 },
    );
  });
});

describe('a query that json-server would misunderstand', () => {
  test.each([
    ['animals', 'nam=Rex', /found "nam" \(did you mean name\?\)/],
    ['animals', 'nam_like=Rex', /did you mean name_like\?/],
    ['animals', '__proto__=1', /found "__proto__"/],
    ['animals', 'id=one', /^query\.id: expected an integer from -2\^63 to 2\^63-1, found "one"$/],
    ['animals', 'id_gte=9223372036854775808', /^query\.id_gte: expected an integer/],
    ['inventory', 'quantity=9007199254740993', /^query\.quantity: expected an integer/],
    ['orders', 'complete=yes', /^query\.complete: expected true or false, found "yes"$/],
    ['orders', 'status=shiped', /^query\.status: expected pending, shipped or cancelled/],
    ['animals', '_sort=nme', /^query\._sort\[0\]: .*found "nme" \(did you mean name\?\)/],
    ['animals', '_sort=name&_order=down', /^query\._order\[0\]: expected asc or desc/],
    ['animals', '_limit=-1', /^query\._limit: expected an integer from 0/],
    ['animals', '_start=5', /found "_start"/],
  ] as const)('is refused: /%s?%s', (collection, query, problem) => {
    const reading = read(collection, query);
    const problems = reading.ok ? [] : reading.problems.map(problemText);
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });
});

describe('ids', () => {
  const source = (ids: readonly bigint[]) => ({
    size: ids.length,
    ascending: () => ids.map((id) => ({ id, name: `n${id}`, categoryId: 1n })),
  });
  const ids = [-(2n ** 63n), 2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n, 2n ** 63n - 1n];
  const found = (query: string) =>
    select('animals', query, source(ids)).records.map(({ id }) => id);

  test('beyond 2^53 are compared exactly', () => {
    expect(found('id=9007199254740993')).toEqual([2n ** 53n + 1n]);
    expect(found('id_gte=9007199254740993')).toEqual(ids.slice(2));
    expect(found('id_lte=9007199254740992')).toEqual(ids.slice(0, 2));
    expect(found('id_ne=9007199254740992')).toEqual(ids.filter((id) => id !== 2n ** 53n));
    expect(found('id_gte=9223372036854775807')).toEqual([2n ** 63n - 1n]);
    expect(found('_sort=id&_order=desc')).toEqual(ids.toReversed());
  });
});

test('a large collection is read no further than a page needs', () => {
  let drawn = 0;
  const source = {
    size: 200_000,
    *ascending() {
      for (let id = 1n; ; id += 1n) {
        drawn += 1;
        yield { id, name: 'Rex', categoryId: 1n };
      }
    },
  };
  const page = select('animals', '_page=2&_limit=10', source);
  expect(page).toMatchObject({ total: 200_000, records: { length: 10 } });
  expect(drawn).toBeLessThan(30);
});
