import { tmpdir } from 'node:os';
import { join } from 'node:path';
import jsonServer from 'json-server';
import request from 'supertest';
import { describe, expect, test } from 'vitest';
import {
  COLLECTIONS,
  SEEN_ANIMAL_STATUSES,
  STORED_RECORDS,
} from '../../../src/core/contract/records.ts';
import { writeJson } from '../../../src/core/json.ts';
import { FixtureError } from '../../../src/core/store/fixture.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { packageRoot } from '../../../src/server/files.ts';
import { loadFixture, loadFixtureSync, parseFixture } from '../../../src/server/fixtures.ts';
import { NODE_PLATFORM } from '../../../src/server/node-platform.ts';

const storeIn = (text: string) => parseFixture('FILE', { ok: true, text });

function refusal(load: () => unknown): string {
  try {
    load();
  } catch (error) {
    if (error instanceof FixtureError) return error.message;
    throw error;
  }
  throw new Error('It was not refused.');
}

const REX = '{"id":1,"name":"Rex","categoryId":2}';
const INT64 = 'an integer from -2^63 to 2^63-1';
const DATE_TIME = 'an ISO 8601 date-time such as "2026-11-21T09:30:00Z"';
const deep = `${'['.repeat(100_000)}9007199254740993${']'.repeat(100_000)}`;
const wrongDate = (date: string): [string, string] => [
  `{"orders":[{"id":1,"shipDate":"${date}"}]}`,
  `1:31: $.orders[0].shipDate: expected ${DATE_TIME}, found "${date}"`,
];

// biome-ignore format: a row for each
test.each<[string, text: string, ...problems: string[]]>([
  ['a missing comma', '{\n  "animals": [\n  "orders": []\n}', "3:11: expected JSON: Comma ',' expected after value but got ':'"],
  ['an empty file', '', '1:1: expected JSON: JSON value expected but reached end of input'],
  ['more after the end', '{}\n{}', "2:1: expected JSON: Expected end of input but got '{'"],
  ['deep arrays', deep, '1:1: expected JSON: it is nested more than 100 levels deep'],
  ['a leap second within a day', ...wrongDate('2016-12-31T22:59:60Z')],
  ['a day that no month has', ...wrongDate('2026-02-30T09:00:00Z')],
  ['two animals with one id', `{"animals":[${REX},${REX}]}`, '1:56: $.animals[1].id: expected an id that no other record of animals has, found 1, as in $.animals[0]'],
  [
    'many problems, at the value or at the parent of a missing one',
    '{"animals": [\n{ "id": "1" }],\n"orders": [{ "id": 4 }, { "id": 5, "petId": 9 }, { "id": 1.5 }] }',
    `2:9: $.animals[0].id: expected ${INT64}, found "1"`,
    '2:1: $.animals[0].name: expected a string, found nothing',
    `2:1: $.animals[0].categoryId: expected ${INT64}, found nothing`,
    `3:58: $.orders[2].id: expected ${INT64}, found 1.5`,
    '3:45: $.orders[1].petId: expected the id of an animal, found 9, which no animal has',
  ],
  ['a broken animal, but not the order for it', '{"animals":[{"id":1,"name":"Rex"}],"orders":[{"id":1,"petId":1}]}', `1:13: $.animals[0].categoryId: expected ${INT64}, found nothing`],
])('%s is refused with its place', (_, text, ...problems) => {
  expect(refusal(() => storeIn(text)).split('\n')).toEqual(problems.map((it) => `FILE:${it}`));
});

test('of thousands of wrong records on one line the first 20 problems are reported, in one pass', () => {
  const records = Array.from({ length: 100_000 }, (_, id) => ({ id, nmae: 'Rex', categoryId: 1 }));
  const message = refusal(() => storeIn(JSON.stringify({ animals: records })));
  expect(message).toMatch(/^(?:FILE:.*\n){20}and more$/);
}, 30_000);

test.each(['x', '\\n', '\\"'])('%j a million times moves no place', (part) => {
  const long = `{"id":1,"name":"${part.repeat(1e6)}","categoryId":1}`;
  const message = refusal(() => storeIn(`{"animals":[${long},\n{"id":"2"}]}`));
  expect(message).toMatch(
    /^FILE:1:28: \$\.animals\[0\]\.name: .*\nFILE:2:7: \$\.animals\[1\]\.id: /,
  );
});

test('the shipped fixture is read as any other, though nothing checks it at the start', async () => {
  const checked = storeIn(NODE_PLATFORM.shippedText('fixtures/default.json'));
  const shipped = await loadFixture('default');
  // The order of members too.
  const write = (store: Store) => COLLECTIONS.map((it) => writeJson([...store[it].ascending()]));
  expect(write(shipped)).toEqual(write(checked));
  expect([...shipped.orders.ascending()][0]?.id).toBe(1n);
});

test('a misspelt name and a folder are refused', () => {
  const expected = 'expected a fixture file, or the name of a shipped one: default; found';
  for (const [path, found] of [
    ['defualt', 'nothing (did you mean default?)'],
    [tmpdir(), 'a directory'],
  ] as const) {
    expect(refusal(() => loadFixtureSync(path))).toBe(`${path}: ${expected} ${found}`);
  }
});

test('a fixture can start with a byte order mark, and leave out collections', () => {
  const { animals, inventory, orders } = storeIn('\uFEFF{"orders":[{"id":1}]}');
  expect([animals.size, inventory.size, orders.size]).toEqual([0, 0, 1]);
});

describe('the default fixture', async () => {
  const store = await loadFixture('default');
  const [animals, inventory] = [[...store.animals.ascending()], [...store.inventory.ascending()]];
  const orders = [...store.orders.ascending()];

  test('has 64 animals with unique names, of each seen status and without one', () => {
    expect(new Set(animals.map(({ name }) => name)).size).toBe(64);
    for (const seen of [...SEEN_ANIMAL_STATUSES, undefined]) {
      expect(animals.filter(({ status }) => status === seen).length).toBeGreaterThanOrEqual(5);
    }
  });

  test('has a value of each field of each record, so that every filter finds something', () => {
    for (const name of COLLECTIONS) {
      const present = [...store[name].ascending()].flatMap((record) => Object.keys(record));
      expect([...new Set(present)].sort()).toEqual(
        Object.keys(STORED_RECORDS[name].members).sort(),
      );
    }
  });

  test('has an inventory entry for each animal, sold if the quantity is 0', () => {
    expect(inventory.map(({ petId }) => petId)).toEqual(animals.map(({ id }) => id));
    for (const { quantity, status } of inventory) {
      expect([status, quantity >= 0]).toEqual([quantity === 0 ? 'sold' : 'available', true]);
    }
  });

  test('has 14 orders: 1, 4 and 5 pending, 2 shipped, 3 cancelled; none ships before 2031', () => {
    expect(orders).toHaveLength(14);
    const statuses = orders.slice(0, 5).map(({ status }) => status);
    expect(statuses).toEqual(['pending', 'shipped', 'cancelled', 'pending', 'pending']);
    const pending = orders.filter(({ status = 'pending' }) => status === 'pending');
    expect(pending.filter(({ shipDate = '2031' }) => shipDate < '2031')).toEqual([]);
  });

  test('is served by json-server 0.17.4, unchanged', async () => {
    const router = jsonServer.router(join(packageRoot, 'fixtures/default.json'));
    const app = jsonServer.create().use(router);
    expect((await request(app).get('/animals')).body).toHaveLength(animals.length);
    const sold = await request(app).get('/inventory?petId=4');
    expect(sold.body).toEqual([{ petId: 4, quantity: 0, status: 'sold' }]);
    expect((await request(app).get('/orders/8')).body).toEqual({
      id: 8,
      petId: 27,
      status: 'pending',
    });
  });
});
