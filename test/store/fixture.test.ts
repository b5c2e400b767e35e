import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadFixture, loadFixtureSync } from '../../src/store/fixture/load-fixture.ts';
import { FixtureError } from '../../src/store/fixture/parse-fixture.ts';

let folder = '';
let file = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fixture-'));
  file = join(folder, 'store.json');
});

afterAll(() => rmSync(folder, { recursive: true }));

/** The message that loading a file with this text ends in, with FILE for the file's path. */
async function refusal(text: string): Promise<string> {
  writeFileSync(file, text);
  return refusalOf(file);
}

async function refusalOf(path: string): Promise<string> {
  try {
    loadFixtureSync(path);
  } catch (error) {
    if (error instanceof FixtureError) return error.message.replaceAll(path, 'FILE');
    throw error;
  }
  throw new Error('It was not refused.');
}

/** The same without the place, where the path is what counts. */
async function refusalByPath(text: string): Promise<string> {
  return (await refusal(text)).replaceAll(/^FILE:\d+:\d+:/gm, 'FILE:');
}

async function load(text: string) {
  writeFileSync(file, text);
  return loadFixtureSync(file);
}

const REX = '{"id":1,"name":"Rex","categoryId":2}';
const INT64 = 'an integer from -2^63 to 2^63-1';
const INTEGER = 'an integer from -(2^53-1) to 2^53-1';
const DATE_TIME = 'an ISO 8601 date-time such as "2026-11-21T09:30:00Z"';

describe('a file that is not JSON is refused with line and column', () => {
  test.each([
    [
      'a missing comma',
      '{\n  "animals": [\n  "orders": []\n}',
      "FILE:3:11: expected JSON: Comma ',' expected after value but got ':'",
    ],
    ['a comment', '// mine\n{}', "FILE:1:1: expected JSON: JSON value expected but got '/'"],
    [
      'a trailing comma',
      '{"animals": [],\n}',
      "FILE:2:1: expected JSON: Quoted object key expected but got '}'",
    ],
    [
      'half a file',
      '{"animals": [',
      "FILE:1:14: expected JSON: Array item or end of array ']' expected but reached end of input",
    ],
    ['an empty file', '', 'FILE:1:1: expected JSON: JSON value expected but reached end of input'],
    ['a word', '{"animals": nothing}', "FILE:1:13: expected JSON: Object value expected after ':'"],
    ['more after the end', '{}\n{}', "FILE:2:1: expected JSON: Expected end of input but got '{'"],
  ])('%s', async (_, text, message) => {
    expect(await refusal(text)).toBe(message);
  });

  test('deeply nested arrays with an exact number', async () => {
    const text = `${'['.repeat(100_000)}9007199254740993${']'.repeat(100_000)}`;
    expect(await refusal(text)).toBe(
      'FILE:1:1: expected JSON, found JSON that is nested too deeply',
    );
  });
});

test.each(['x', '\\n', '\\"'])(
  'a wrong record after a name of millions of %j has its place',
  async (part) => {
    const name = part.repeat(16e6 / part.length);
    const text = `{"animals":[{"id":1,"name":"${name}","categoryId":1},\n{"id":"2"}]}`;
    expect(await refusal(text)).toMatch(/^FILE:2:7: \$\.animals\[1\]\.id: /);
  },
);

describe('a broken record is reported with its path, the expectation and what was found', () => {
  test.each([
    [
      'an array on top',
      '[]',
      '$: expected an object with animals, inventory and orders, found an array',
    ],
    [
      'a misspelt collection',
      '{"animal":[]}',
      '$.animal: expected animals, inventory or orders, found "animal" (did you mean animals?)',
    ],
    [
      'a collection that is none',
      '{"pets":[]}',
      '$.pets: expected animals, inventory or orders, found "pets"',
    ],
    [
      'a collection that is no array',
      '{"animals":{}}',
      '$.animals: expected an array, found an object',
    ],
    ['a record that is no object', '{"animals":[1]}', '$.animals[0]: expected an object, found 1'],
    [
      'a required field left out',
      '{"animals":[{"id":1,"categoryId":2}]}',
      '$.animals[0].name: expected a string, found nothing',
    ],
    [
      'an order without id',
      '{"orders":[{"quantity":2}]}',
      `$.orders[0].id: expected ${INT64}, found nothing`,
    ],
    [
      'a name of another type',
      '{"animals":[{"id":1,"name":7,"categoryId":2}]}',
      '$.animals[0].name: expected a string, found 7',
    ],
    [
      'a status that is null',
      '{"animals":[{"id":1,"name":"Rex","categoryId":2,"status":null}]}',
      '$.animals[0].status: expected a string, found null',
    ],
    [
      'half an animal in stock',
      `{"animals":[${REX}],"inventory":[{"petId":1,"quantity":0.5,"status":"sold"}]}`,
      `$.inventory[0].quantity: expected ${INTEGER}, found 0.5`,
    ],
    [
      'a date without a time',
      '{"orders":[{"id":1,"shipDate":"2031-01-01"}]}',
      `$.orders[0].shipDate: expected ${DATE_TIME}, found "2031-01-01"`,
    ],
    [
      'a day that no month has',
      '{"orders":[{"id":1,"shipDate":"2026-02-30T09:00:00Z"}]}',
      `$.orders[0].shipDate: expected ${DATE_TIME}, found "2026-02-30T09:00:00Z"`,
    ],
    [
      'a boolean in quotes',
      '{"orders":[{"id":1,"complete":"true"}]}',
      '$.orders[0].complete: expected true or false, found "true"',
    ],
    [
      'an unknown state of an order',
      '{"orders":[{"id":1,"status":"placed"}]}',
      '$.orders[0].status: expected one of pending, shipped, cancelled, found "placed"',
    ],
    [
      'a misspelt field',
      '{"animals":[{"id":1,"name":"Rex","categoryId":2,"staus":"sold"}]}',
      '$.animals[0].staus: expected id, name, categoryId or status, found "staus" (did you mean status?)',
    ],
    [
      'a field that is none',
      '{"orders":[{"id":1,"customer name":"Ann"}]}',
      '$.orders[0]["customer name"]: expected id, petId, quantity, shipDate, complete or status, found "customer name"',
    ],
    [
      'two animals with one id',
      `{"animals":[${REX},${REX}]}`,
      '$.animals[1].id: expected an id that no other record of animals has, found 1, as in $.animals[0]',
    ],
    [
      'two entries for one animal',
      `{"animals":[${REX}],"inventory":[{"petId":1,"quantity":1,"status":"available"},{"petId":1,"quantity":0,"status":"sold"}]}`,
      '$.inventory[1].petId: expected an id that no other record of inventory has, found 1, as in $.inventory[0]',
    ],
    [
      'two orders with one id',
      '{"orders":[{"id":4},{"id":5},{"id":4}]}',
      '$.orders[2].id: expected an id that no other record of orders has, found 4, as in $.orders[0]',
    ],
    [
      'an entry for no animal',
      `{"animals":[${REX}],"inventory":[{"petId":2,"quantity":1,"status":"available"}]}`,
      '$.inventory[0].petId: expected the id of an animal, found 2, which no animal has',
    ],
    [
      'an order for no animal',
      '{"orders":[{"id":1,"petId":1}]}',
      '$.orders[0].petId: expected the id of an animal, found 1, which no animal has',
    ],
  ])('%s', async (_, text, message) => {
    expect(await refusalByPath(text)).toBe(`FILE: ${message}`);
  });

  test('every problem is reported at once', async () => {
    expect(await refusalByPath('{"animals":[{"id":"1"}],"orders":[{"id":1.5}]}')).toBe(
      [
        `FILE: $.animals[0].id: expected ${INT64}, found "1"`,
        'FILE: $.animals[0].name: expected a string, found nothing',
        `FILE: $.animals[0].categoryId: expected ${INT64}, found nothing`,
        `FILE: $.orders[0].id: expected ${INT64}, found 1.5`,
      ].join('\n'),
    );
  });

  test('the first 20 problems are reported, and the number of others', async () => {
    const lines = (await refusalByPath(JSON.stringify({ orders: Array(25).fill({}) }))).split('\n');
    expect(lines).toHaveLength(21);
    expect(lines[19]).toBe(`FILE: $.orders[19].id: expected ${INT64}, found nothing`);
    expect(lines[20]).toBe('and 5 more');
  });

  test('a broken animal is reported once, not for each record with its id', async () => {
    const text = '{"animals":[{"id":1,"name":"Rex"}],"orders":[{"id":1,"petId":1}]}';
    expect(await refusalByPath(text)).toBe(
      `FILE: $.animals[0].categoryId: expected ${INT64}, found nothing`,
    );
  });
});

describe('a broken record is reported with its line and column', () => {
  const text = `{
  "animals": [
    ${REX},
    { "id": 2,
      "name": 7 }
  ],
  "orders": [{ "id": 4 }, { "id": 5, "petId": 9 }]
}`;

  test('at the start of the value, or of the parent of a missing one', async () => {
    expect((await refusal(text)).split('\n')).toEqual([
      'FILE:5:15: $.animals[1].name: expected a string, found 7',
      `FILE:4:5: $.animals[1].categoryId: expected ${INT64}, found nothing`,
      'FILE:7:47: $.orders[1].petId: expected the id of an animal, found 9, which no animal has',
    ]);
  });
});

describe('a file that does not exist or cannot be read is refused', () => {
  const expected = 'expected a fixture file, or the name of a shipped one: default; found';

  test('a misspelled name, with a suggestion', async () => {
    expect(await refusalOf('defualt')).toBe(`FILE: ${expected} nothing (did you mean default?)`);
  });

  test('a folder', async () => {
    expect(await refusalOf(folder)).toBe(`FILE: ${expected} a directory`);
  });
});

describe('a fixture', () => {
  test('can leave out collections, which are then empty', async () => {
    const base = await load('{}');
    expect([base.animals.size, base.inventory.size, base.orders.size]).toEqual([0, 0, 0]);
  });

  test('can have its records in any order', async () => {
    const base = await load('{"orders":[{"id":10},{"id":-3},{"id":2}]}');
    expect([...base.orders.ascending()].map(({ id }) => id)).toEqual([-3n, 2n, 10n]);
  });

  test('can start with a byte order mark', async () => {
    expect((await load('\uFEFF{"orders":[{"id":1}]}')).orders.size).toBe(1);
  });

  test('is found by the name of a shipped fixture', async () => {
    expect((await loadFixture('default')).animals.size).toBeGreaterThan(0);
  });
});
