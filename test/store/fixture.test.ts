import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { FixtureError, loadFixtureSync, parseFixture } from '../../src/store/fixture.ts';

const storeIn = (text: string) => parseFixture('FILE', { ok: true, text });

/** The message that a text ends in. */
function refusal(text: string): string {
  return refusalOf(() => storeIn(text));
}

function refusalOf(load: () => unknown): string {
  try {
    load();
  } catch (error) {
    if (error instanceof FixtureError) return error.message;
    throw error;
  }
  throw new Error('It was not refused.');
}

/** The same without places, where the path is what counts. */
function placeless(text: string): string {
  return refusal(text).replaceAll(/^FILE:\d+:\d+:/gm, 'FILE:');
}

const REX = '{"id":1,"name":"Rex","categoryId":2}';
const INT64 = 'an integer from -2^63 to 2^63-1';
const DATE_TIME =
  'an ISO 8601 date-time such as "2026-11-21T09:30:00Z", in a year from 0 to 9999 in UTC and in +02:00';

describe('a file that is not JSON is refused with line and column', () => {
  test.each([
    [
      'a missing comma',
      '{\n  "animals": [\n  "orders": []\n}',
      "FILE:3:11: expected JSON: Comma ',' expected after value but got ':'",
    ],
    [
      'half a file',
      '{"animals": [',
      "FILE:1:14: expected JSON: Array item or end of array ']' expected but reached end of input",
    ],
    ['an empty file', '', 'FILE:1:1: expected JSON: JSON value expected but reached end of input'],
    ['more after the end', '{}\n{}', "FILE:2:1: expected JSON: Expected end of input but got '{'"],
  ])('%s', (_, text, message) => {
    expect(refusal(text)).toBe(message);
  });

  test('deeply nested arrays with an exact number', () => {
    const text = `${'['.repeat(100_000)}9007199254740993${']'.repeat(100_000)}`;
    expect(refusal(text)).toBe('FILE:1:1: expected JSON: it is nested more than 100 levels deep');
  });
});

test('of thousands of wrong records on one line the first 20 problems are reported, in one pass', () => {
  const records = Array.from({ length: 100_000 }, (_, id) => ({ id, nmae: 'Rex', categoryId: 1 }));
  expect(refusal(JSON.stringify({ animals: records }))).toMatch(/^(?:FILE:.*\n){20}and more$/);
}, 30_000);

test.each(['x', '\\n', '\\"'])(
  'a wrong record after a name of a million times %j has its place',
  (part) => {
    const name = part.repeat(1e6);
    const text = `{"animals":[{"id":1,"name":"${name}","categoryId":1},\n{"id":"2"}]}`;
    expect(refusal(text)).toMatch(/^FILE:2:7: \$\.animals\[1\]\.id: /);
  },
);

describe('a broken record is reported with its path, the expectation and what was found', () => {
  test.each([
    [
      'a date that +02:00 moves beyond the year 9999',
      '{"orders":[{"id":1,"shipDate":"9999-12-31T22:30:00Z"}]}',
      `$.orders[0].shipDate: expected ${DATE_TIME}, found "9999-12-31T22:30:00Z"`,
    ],
    [
      'a date before the year 0',
      '{"orders":[{"id":1,"shipDate":"0000-01-01T00:30:00+01:00"}]}',
      `$.orders[0].shipDate: expected ${DATE_TIME}, found "0000-01-01T00:30:00+01:00"`,
    ],
    [
      'a day that no month has',
      '{"orders":[{"id":1,"shipDate":"2026-02-30T09:00:00Z"}]}',
      `$.orders[0].shipDate: expected ${DATE_TIME}, found "2026-02-30T09:00:00Z"`,
    ],
    [
      'two animals with one id',
      `{"animals":[${REX},${REX}]}`,
      '$.animals[1].id: expected an id that no other record of animals has, found 1, as in $.animals[0]',
    ],
    [
      'an order for no animal',
      '{"orders":[{"id":1,"petId":1}]}',
      '$.orders[0].petId: expected the id of an animal, found 1, which no animal has',
    ],
  ])('%s', (_, text, message) => {
    expect(placeless(text)).toBe(`FILE: ${message}`);
  });

  test('every problem is reported at once, at the value or at the parent of a missing one', () => {
    const text = `{"animals": [
      { "id": "1" }],
      "orders": [{ "id": 4 }, { "id": 5, "petId": 9 }, { "id": 1.5 }] }`;
    expect(refusal(text).split('\n')).toEqual([
      `FILE:2:15: $.animals[0].id: expected ${INT64}, found "1"`,
      'FILE:2:7: $.animals[0].name: expected a string, found nothing',
      `FILE:2:7: $.animals[0].categoryId: expected ${INT64}, found nothing`,
      `FILE:3:64: $.orders[2].id: expected ${INT64}, found 1.5`,
      'FILE:3:51: $.orders[1].petId: expected the id of an animal, found 9, which no animal has',
    ]);
  });

  test('a broken animal is reported once, not for each record with its id', () => {
    const text = '{"animals":[{"id":1,"name":"Rex"}],"orders":[{"id":1,"petId":1}]}';
    expect(placeless(text)).toBe(`FILE: $.animals[0].categoryId: expected ${INT64}, found nothing`);
  });
});

test('a misspelt name and a folder are refused', () => {
  const expected = 'expected a fixture file, or the name of a shipped one: default; found';
  for (const [path, found] of [
    ['defualt', 'nothing (did you mean default?)'],
    [tmpdir(), 'a directory'],
  ] as const) {
    expect(refusalOf(() => loadFixtureSync(path))).toBe(`${path}: ${expected} ${found}`);
  }
});

describe('a fixture', () => {
  test('can leave out collections, which are then empty', () => {
    const base = storeIn('{}');
    expect([base.animals.size, base.inventory.size, base.orders.size]).toEqual([0, 0, 0]);
  });

  test('can start with a byte order mark', () => {
    expect(storeIn('\uFEFF{"orders":[{"id":1}]}').orders.size).toBe(1);
  });
});
