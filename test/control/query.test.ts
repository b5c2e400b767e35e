import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import jsonServer from 'json-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeJson } from '../../src/contract/json.ts';
import { type CollectionName, STORED_RECORDS } from '../../src/contract/records.ts';
import { linkHeader, queryRecords } from '../../src/control/records/query.ts';
import { packageRoot } from '../../src/package.ts';
import { loadFixtureSync } from '../../src/store/fixture/load-fixture.ts';
import { problemText } from '../../src/words.ts';

const folder = mkdtempSync(join(tmpdir(), 'query-'));
const file = join(folder, 'db.json');
copyFileSync(join(packageRoot, 'fixtures/default.json'), file);
const server = createServer(jsonServer.create().use(jsonServer.router(file)));
const store = loadFixtureSync('default');
let origin: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected a port');
  origin = `http://127.0.0.1:${address.port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

function ask(collection: CollectionName, query: string) {
  const parameters = new URLSearchParams(query);
  switch (collection) {
    case 'animals':
      return queryRecords(STORED_RECORDS.animals, store.animals, parameters);
    case 'inventory':
      return queryRecords(STORED_RECORDS.inventory, store.inventory, parameters);
    case 'orders':
      return queryRecords(STORED_RECORDS.orders, store.orders, parameters);
  }
}

async function problemsOf(collection: CollectionName, query: string): Promise<readonly string[]> {
  const answer = await ask(collection, query);
  return answer.ok ? [] : answer.problems.map(problemText);
}

async function expectSame(collection: CollectionName, query: string): Promise<void> {
  const url = `${origin}/${collection}?${query}`;
  const theirs = await fetch(url);
  expect(theirs.status).toBe(200);
  const ours = await ask(collection, query);
  if (!ours.ok) throw new Error(ours.problems.map(problemText).join('\n'));
  expect(JSON.parse(writeJson(ours.records))).toEqual(await theirs.json());
  const total = theirs.headers.get('X-Total-Count');
  if (total !== null) expect(ours.total).toBe(Number(total));
  // json-server sends an empty Link if there is no other page.
  const link = ours.pages === undefined ? undefined : linkHeader(url, ours.pages);
  expect(link ?? '').toBe(theirs.headers.get('Link') ?? '');
}

const QUERIES: Readonly<Record<CollectionName, readonly string[]>> = {
  animals: [
    '',
    '_=1700000000',
    'id=3',
    'id=3&id=5&id=3',
    'id=-0',
    'id=999999',
    'id=9007199254740993',
    'name=Rex',
    'name=rex',
    'name=',
    'status=sold',
    'status=sold&status=pending',
    'status=sold&categoryId=1',
    'status=nothing',
    'status_ne=sold',
    'status_ne=sold&status_ne=pending',
    'id_gte=60',
    'id_lte=5',
    'id_gte=5&id_lte=8',
    'id_gte=50&id_gte=5',
    'id_gte=-9223372036854775808',
    'name_gte=S',
    'name_lte=b',
    'name_like=b',
    'name_like=^B',
    'name_like=^(bu|ki)',
    'name_like=[aeiou]{2}%24',
    'name_like=^R&name_like=^S',
    'name_like=',
    'id_like=^1.%24',
    'status_like=.',
    'name_like=e&status_like=^a&id_lte=30',
    'q=rex',
    'q=REX',
    'q=1',
    'q=',
    'q=nothing+like+it',
    'q=a&status=sold&_sort=name',
    '_sort=name',
    '_sort=name&_order=desc',
    '_sort=name&_order=DESC',
    '_sort=status',
    '_sort=status&_order=desc',
    '_sort=status,name&_order=desc,asc',
    '_sort=status,name&_order=desc',
    '_sort=categoryId,status,id&_order=,desc,desc',
    '_sort=&_order=',
    '_page=1',
    '_page=2',
    '_page=2&_limit=7',
    '_page=3&_limit=7&status=available',
    '_page=999',
    '_page=1&_limit=1000',
    '_page=&_limit=&_start=&_end=',
    '_limit=5',
    '_limit=0',
    '_start=5&_limit=5',
    '_start=5&_end=9',
    '_end=3',
    '_end=0',
    '_start=9&_end=5',
    '_start=1000&_limit=5',
    '_sort=name&_start=10&_limit=10&status_ne=sold',
  ],
  inventory: [
    'petId=4',
    'quantity=0',
    'quantity_gte=5&quantity_lte=9',
    'quantity_ne=0&_sort=quantity,petId&_order=desc',
    'q=0',
    'status=sold&_page=1&_limit=3',
  ],
  orders: [
    'complete=true',
    'complete=false',
    'complete_ne=true',
    'q=false',
    '_sort=complete',
    '_sort=complete,shipDate&_order=desc,desc',
    'shipDate_gte=2031',
    'shipDate_lte=2031-06',
    'shipDate_like=%5C%2B',
    'status=shipped&status=cancelled',
    'status_ne=pending',
    'petId_gte=10&_sort=quantity',
    '_sort=petId&_order=desc&_page=2&_limit=5',
  ],
};

describe('json-server 0.17.4 gives the same answer', () => {
  const cases = (['animals', 'inventory', 'orders'] as const).flatMap((collection) =>
    QUERIES[collection].map((query) => [collection, query] as const),
  );

  test.each(cases)('to /%s?%s', (collection, query) => expectSame(collection, query));

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
      fc.tuple(count(0), count(0)).map(([start, limit]) => `_start=${start}&_limit=${limit}`),
      fc.tuple(count(0), count(0)).map(([start, end]) => `_start=${start}&_end=${end}`),
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
    ['animals', '_limt=5', /did you mean _limit\?/],
    ['animals', 'constructor=1', /found "constructor"/],
    ['animals', '__proto__=1', /found "__proto__"/],
    ['animals', 'callback=steal', /found "callback"/],
    ['animals', '_embed=orders', /found "_embed"/],
    ['animals', 'id=one', /^query id: expected an integer from -2\^63 to 2\^63-1, found "one"$/],
    ['animals', 'id_gte=1.5', /^query id_gte: expected an integer/],
    ['animals', 'id_gte=9223372036854775808', /^query id_gte: expected an integer/],
    ['inventory', 'quantity=9007199254740993', /^query quantity: expected an integer/],
    ['orders', 'complete=yes', /^query complete: expected true or false, found "yes"$/],
    ['orders', 'complete_gte=true', /^query complete_gte: expected a field that has an order/],
    ['orders', 'status=shiped', /^query status: expected one of pending, shipped, cancelled/],
    ['orders', 'shipDate=2031-01-01T00:00:00+02:00', /^query shipDate: expected an ISO 8601/],
    [
      'animals',
      'name_like=(',
      /^query name_like: expected a regular expression in RE2 syntax, found "\("$/,
    ],
    [
      'animals',
      'name_like=(a)%5C1',
      /^query name_like: expected a regular expression in RE2 syntax/,
    ],
    [
      'animals',
      `name_like=${'a'.repeat(101)}`,
      /^query name_like: expected a pattern of at most 100 char/,
    ],
    [
      'animals',
      'name_like=(?:abcdef{50}){20}',
      /^query name_like: expected a pattern of at most 100/,
    ],
    ['animals', '_sort=nme', /^query _sort: .*found "nme" \(did you mean name\?\)/],
    ['animals', '_sort=name&_order=down', /^query _order: expected asc or desc, found "down"$/],
    ['animals', '_order=desc', /^query _order: expected at most one order for each field in _sort/],
    ['animals', '_sort=name&_sort=id', /^query _sort: expected one value, found several$/],
    ['animals', '_page=0', /^query _page: expected an integer from 1 to 2\^53-1, found 0$/],
    ['animals', '_page=1&_limit=0', /^query _limit: expected an integer from 1/],
    ['animals', '_limit=-1', /^query _limit: expected an integer from 0/],
    ['animals', '_limit=ten', /^query _limit: expected an integer from 0/],
    ['animals', '_start=5', /^query _start: expected _end or _limit beside it/],
    ['animals', '_page=1&_start=5', /^query _start: expected no _start beside _page/],
    ['animals', '_page=1&_end=5', /^query _end: expected no _end beside _page/],
    ['animals', '_end=5&_limit=5', /^query _end: expected no _end beside _limit/],
  ] as const)('is refused: /%s?%s', async (collection, query, problem) => {
    expect(await problemsOf(collection, query)).toEqual([expect.stringMatching(problem)]);
  });

  test('is refused with every problem', async () => {
    expect(await problemsOf('animals', 'nam=Rex&id=one&_page=0')).toHaveLength(3);
  });
});

describe('ids', () => {
  const source = (ids: readonly bigint[]) => ({
    size: ids.length,
    ascending: () => ids.map((id) => ({ id, name: `n${id}`, categoryId: 1n })),
  });
  const ids = [-(2n ** 63n), 2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n, 2n ** 63n - 1n];
  const found = async (query: string) => {
    const answer = await queryRecords(
      STORED_RECORDS.animals,
      source(ids),
      new URLSearchParams(query),
    );
    return answer.ok ? answer.records.map(({ id }) => id) : answer.problems;
  };

  test('beyond 2^53 are compared exactly', async () => {
    expect(await found('id=9007199254740993')).toEqual([2n ** 53n + 1n]);
    expect(await found('id_gte=9007199254740993')).toEqual(ids.slice(2));
    expect(await found('id_lte=9007199254740992')).toEqual(ids.slice(0, 2));
    expect(await found('id_ne=9007199254740992')).toEqual(ids.filter((id) => id !== 2n ** 53n));
    expect(await found('id_gte=9223372036854775807')).toEqual([2n ** 63n - 1n]);
    expect(await found('_sort=id&_order=desc')).toEqual(ids.toReversed());
  });
});

describe('a large collection', () => {
  const SIZE = 200_000;
  let drawn = 0;
  const source = {
    size: SIZE,
    *ascending() {
      for (let id = 1; id <= SIZE; id += 1) {
        drawn += 1;
        yield { id: BigInt(id), name: 'Rex', categoryId: 1n };
      }
    },
  };

  test('is read no further than a page needs', async () => {
    drawn = 0;
    const query = new URLSearchParams('_page=2&_limit=10');
    const answer = await queryRecords(STORED_RECORDS.animals, source, query);
    expect(answer).toMatchObject({ ok: true, total: SIZE, pages: { last: 20_000 } });
    expect(drawn).toBe(20);
  });

  test('is sorted without holding every record', async () => {
    const sorted = await queryRecords(
      STORED_RECORDS.animals,
      source,
      new URLSearchParams('_sort=name,id&_order=asc,desc&_page=100&_limit=3'),
    );
    expect(sorted).toMatchObject({ ok: true, total: SIZE, pages: { next: 101 } });
    expect(sorted.ok && sorted.records.map(({ id }) => id)).toEqual([199703n, 199702n, 199701n]);
  });

  test.each(['_sort=id', 'name=Rex', '_sort=id&_start=100000&_limit=1'])(
    'is not answered with more records than a reply holds: %s',
    async (query) => {
      const answer = await queryRecords(STORED_RECORDS.animals, source, new URLSearchParams(query));
      expect(answer).toEqual({
        ok: false,
        problems: [
          {
            path: 'query',
            expected: expect.stringMatching(/^at most 100000 records/),
            found: 'more',
          },
        ],
      });
    },
  );
});

describe('a pattern', () => {
  // V8 needs exponential time to compile the first and to match the second.
  test.each([
    [`${'(a?)'.repeat(20)}${'a'.repeat(20)}`, 'a'.repeat(20)],
    ['(a+)+$', `${'a'.repeat(900)}!`],
  ])('%s takes linear time', async (pattern, name) => {
    const source = { size: 1, ascending: () => [{ id: 1n, name, categoryId: 1n }] };
    const answer = await queryRecords(
      STORED_RECORDS.animals,
      source,
      new URLSearchParams({ name_like: pattern }),
    );
    expect(answer).toMatchObject({ ok: true, total: name.endsWith('!') ? 0 : 1 });
  });

  test('searches the first 1,000 characters of a value', async () => {
    const names = [`${'b'.repeat(999)}a`, `${'b'.repeat(1000)}a`];
    const records = names.map((name, index) => ({ id: BigInt(index), name, categoryId: 1n }));
    const source = { size: 2, ascending: () => records };
    const answer = await queryRecords(
      STORED_RECORDS.animals,
      source,
      new URLSearchParams('name_like=a'),
    );
    expect(answer).toMatchObject({ ok: true, total: 1, records: [{ id: 0n }] });
  });
});

describe('the Link header', () => {
  const pages = { first: 1, prev: undefined, next: 3, last: undefined };

  test('changes the page and nothing else', () => {
    expect(linkHeader('/__mock/animals?name=page%3D2&_page=2&_limit=2', pages)).toBe(
      '</__mock/animals?name=page%3D2&_page=1&_limit=2>; rel="first", ' +
        '</__mock/animals?name=page%3D2&_page=3&_limit=2>; rel="next"',
    );
  });

  test('escapes characters that would end the link early', () => {
    expect(linkHeader('/animals?name=>;"&_page=2', { ...pages, next: undefined })).toBe(
      '</animals?name=%3E;%22&_page=1>; rel="first"',
    );
  });

  test('is left out if there is no other page', () => {
    expect(linkHeader('/animals?_page=1', { ...pages, first: undefined, next: undefined })).toBe(
      undefined,
    );
  });
});
