import { copyFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import fc from 'fast-check';
import jsonServer from 'json-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AnyRecord,
  COLLECTIONS,
  type CollectionName,
  ORDER_STATUSES,
  STORED_RECORDS,
} from '../../../src/core/contract/records.ts';
import { readQuery } from '../../../src/core/control/read-input.ts';
import { createListQuery } from '../../../src/core/control/store/list-query.ts';
import { writeJson } from '../../../src/core/json.ts';
import { problemText } from '../../../src/core/problems.ts';
import type { ObjectMembers } from '../../../src/core/shape/objects.ts';
import type { Shape } from '../../../src/core/shape/shapes.ts';
import { type RecordSource, selectPage } from '../../../src/features/resources/select-page.ts';
import { packageRoot } from '../../../src/server/files.ts';
import { loadFixtureSync } from '../../../src/server/fixtures.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { listen } from '../../helpers/host.ts';

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
  const shape = createListQuery(STORED_RECORDS[collection].members);
  return readQuery(shape, new URLSearchParams(query));
}

function select(
  collection: CollectionName,
  query: string,
  records: RecordSource<AnyRecord> = store[collection],
) {
  const reading = read(collection, query);
  if (!reading.ok) throw new Error(reading.problems.map(problemText).join('\n'));
  return selectPage(records, reading.value, Object.keys(STORED_RECORDS[collection].members));
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
  ['animals', 'name='],
  ['animals', 'q=REX'],
  ['animals', '_sort=name&_order=DESC'],
  ['animals', '_sort=&_order='],
  ['animals', '_page=999'],
  ['animals', '_limit=0'],
  ['orders', 'q=false'],
  ['inventory', 'q=0'],
  ['orders', 'complete=false'],
  ['orders', '_sort=complete,shipDate&_order=desc,desc'],
];

describe('json-server 0.17.4 gives the same answer', () => {
  test.each(QUERIES)('to /%s?%s', (collection, query) => expectSame(collection, query));

  test('to random valid queries', async () => {
    const numbers = ['-1', '0', '1', '2', '3', '9', '30', '64', '70'];
    const texts = ['available', 'sold', 'Rex', 'B', 'pending', 'Z', ''];
    const dates = ['2031-01-10T00:00:00Z', '2031-06-01T08:00:00Z'];
    const textsOf = ({ schema: { type, format, enum: words } }: Shape<unknown>) => {
      if (type === 'integer') return numbers;
      if (type === 'boolean') return ['true', 'false'];
      if (words !== undefined) return ORDER_STATUSES;
      return format === 'date-time' ? dates : texts;
    };
    const property = fc.asyncProperty(fc.gen(), async (draw) => {
      const one = <T>(...from: readonly T[]): T => draw(fc.constantFrom, ...from);
      const some = <T>(make: () => T): T[] => Array.from({ length: draw(fc.nat, 3) }, make);
      const collection = one(...COLLECTIONS);
      const fields = Object.entries<ObjectMembers[string]>(STORED_RECORDS[collection].members);
      const filters = some(() => {
        const [name, { shape }] = one(...fields);
        return `${name}=${one<string>(...textsOf(shape))}`;
      });
      const keys = some(() => [one(...fields)[0], one('asc', 'desc', '')]);
      const sort = `_sort=${keys.map(([name]) => name)}&_order=${keys.map(([, order]) => order)}`;
      const page = one('', '_page=1', '_page=2', '_page=3&_limit=7', '_limit=0', '_limit=9');
      const search = one('', 'q=a', 'q=1', 'q=sold');
      await expectSame(
        collection,
        [...filters, keys[0] && sort, page, search].filter(Boolean).join('&'),
      );
    });
    await fc.assert(property, { numRuns: 100 });
  });
});

describe('a query that json-server would misunderstand', () => {
  test.each([
    ['animals', 'nam=Rex', /found "nam" \(did you mean name\?\)/],
    ['animals', 'name_like=Rex', /found "name_like"/],
    ['animals', '__proto__=1', /found "__proto__"/],
    ['animals', 'id=one', /^query\.id: expected an integer from -2\^63 to 2\^63-1, found "one"$/],
    ['animals', 'id=9223372036854775808', /^query\.id: expected an integer/],
    ['animals', 'id=%201', /^query\.id: expected an integer .*, found " 1"$/],
    ['animals', 'id=1.0', /^query\.id: expected an integer .*, found "1\.0"$/],
    ['animals', 'categoryId=1&categoryId=1.0', /^query\.categoryId: expected an integer/],
    ['orders', 'complete=%20true', /^query\.complete: expected true or false, found " true"$/],
    ['animals', 'id=1&id=one', /^query\.id: expected an integer/],
    ['inventory', 'quantity=9007199254740993', /^query\.quantity: expected an integer/],
    ['orders', 'complete=yes', /^query\.complete: expected true or false, found "yes"$/],
    ['orders', 'status=shiped', /^query\.status: expected pending, shipped or cancelled/],
    ['animals', '_sort=nme', /^query\._sort\[0\]: .*found "nme" \(did you mean name\?\)/],
    ['animals', '_sort=name&_order=down', /^query\._order\[0\]: expected asc, desc/],
    ['animals', '_limit=-1', /^query\._limit: expected an integer from 0/],
    ['animals', '_start=5', /found "_start"/],
  ] as const)('is refused: /%s?%s', (collection, query, problem) => {
    const reading = read(collection, query);
    const problems = reading.ok ? [] : reading.problems.map(problemText);
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });
});

test('ids beyond 2^53 are compared exactly', () => {
  const ids = [-(2n ** 63n), 2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n, 2n ** 63n - 1n];
  const animals = ids.map((id) => ({ id, name: `n${id}`, categoryId: 1n }));
  const source = { size: ids.length, ascending: () => animals };
  const found = (query: string) => select('animals', query, source).records.map(({ id }) => id);
  expect(found('id=9007199254740993')).toEqual([2n ** 53n + 1n]);
  expect(found('id=9223372036854775807&id=-9223372036854775808')).toEqual([ids[0], ids[4]]);
  expect(found('_sort=id&_order=desc')).toEqual(ids.toReversed());
});

test('a large collection is read no further than a page needs', () => {
  let drawn = 0;
  const source = {
    size: 200_000,
    *ascending() {
      for (let id = 1n; ; id += 1n, drawn += 1) yield { id, name: 'Rex', categoryId: 1n };
    },
  };
  const page = select('animals', '_page=2&_limit=10', source);
  expect(page).toMatchObject({ total: 200_000, records: { length: 10 } });
  expect(drawn).toBeLessThan(30);
});
