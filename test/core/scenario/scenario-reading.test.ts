import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { formatProblem } from '../../../src/core/problems.ts';
import { readScenarioText } from '../../../src/core/scenario/resolve-scenarios.ts';
import { ScenarioError } from '../../../src/core/scenario/scenario-records.ts';
import {
  type SavedScenario,
  type Scenario,
  scenarioSchema,
} from '../../../src/core/scenario/scenario-shape.ts';
import { packageRoot } from '../../../src/server/files.ts';

const SCENARIOS = join(packageRoot, 'scenarios');

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false });
formats.default(ajv);
ajv.addVocabulary(['x-seen-values']);
const validate = ajv.compile(scenarioSchema());

function load(text: string, format: SavedScenario['format'] = 'yaml'): Scenario {
  return readScenarioText('FILE', { name: 'whole', format, text });
}

async function problemsOf(
  text: string,
  format?: SavedScenario['format'],
): Promise<readonly string[]> {
  try {
    load(text, format);
  } catch (error) {
    if (error instanceof ScenarioError) return error.problems.map(formatProblem);
    throw error;
  }
  return [];
}

const PARTS =
  '$schema, description, extends, fixture, generate, state, keys, assume, clock, offContract or rules';

/** Invalid scenarios in YAML with the problems that the reader reports. FILE stands for the path. */
// biome-ignore format: a row for each
const BROKEN: readonly (readonly [name: string, text: string, ...problems: string[]])[] = [
  ['a misspelt operation', 'rules:\n  - { on: canceOrder, reply: { status: 409 } }', 'FILE:2:11: $.rules[0].on: expected listPets, createPet, getPet, listInventory, updateInventory, listOrders, cancelOrder or "*", or an array of operations, found "canceOrder" (did you mean cancelOrder?)'],
  ['a misspelt part', 'desciption: Mine.', `FILE:1:1: $.desciption: expected ${PARTS}, found "desciption" (did you mean description?)`],
  ['an option of another assumption', 'assume: { cancel-again: 405, rate-limit: 10/h }', 'FILE:1:25: $.assume["cancel-again"]: expected 409, 404 or 204, found 405', 'FILE:1:42: $.assume["rate-limit"]: expected none, or a rate such as 10/s or 600/m, found "10/h" (did you mean 10/s?)'],
  ['an id in quotes', 'state: { orders: { remove: [1, "2"] } }', 'FILE:1:32: $.state.orders.remove[1]: expected an integer from -2^63 to 2^63-1, found "2"'],
  ['calls with a comma, without quotes in braces', 'rules:\n  - { on: getPet, delay: 1, calls: 2,4 }', 'FILE:2:38: $.rules[0]["4"]: expected on, where, calls, chance, delay, reply, patch, lag, fault, hold or apply, found "4" (inside braces, quote a value that contains a comma)'],
  ['a header value with a line break', 'rules:\n  - { on: getPet, reply: { status: 200, headers: { X-A: "a\\r\\nX-B: b" } } }', 'FILE:2:57: $.rules[0].reply.headers["X-A"]: expected a header value: a string without control characters and without spaces around it, or a number, or an array of those, found "a\\r\\nX-B: b"'],
  ['a key with a blank, and one that expires after a year of unknown length', 'keys: { invalid: [a b], expires: { demo-key: P1Y } }', 'FILE:1:19: $.keys.invalid[0]: expected a key of visible ASCII characters, found "a b"', 'FILE:1:46: $.keys.expires["demo-key"]: expected a duration after the start such as "PT10M", or an instant such as "2030-12-06T00:00:00Z", found "P1Y"'],
  ['an empty file', '', 'FILE:1:1: $: expected an object with the parts of a scenario, found null'],
  ['names that every JavaScript object inherits', 'constructor: 1\n__proto__: { rules: [] }', `FILE:1:1: $.constructor: expected ${PARTS}, found "constructor"`, `FILE:2:1: $.__proto__: expected ${PARTS}, found "__proto__"`],
];

/** Scenarios that only the reader rejects: the schema compares no values. */
// biome-ignore format: a row for each
const BROKEN_FOR_THE_READER: typeof BROKEN = [
  ['a rule that does nothing', 'rules:\n  - { on: getPet }', 'FILE:2:5: $.rules[0]: expected `reply`, `patch`, `lag`, `fault`, `delay` or `hold`, found a rule that does nothing'],
  ['`apply` without anything to send', 'rules:\n  - { on: getPet, delay: 5, apply: true }', 'FILE:2:29: $.rules[0].apply: expected a `reply` or a `fault` for the client, found neither'],
  ['a reply that is also patched', 'rules:\n  - { on: getPet, reply: { status: 404 }, patch: { status: 404 } }', 'FILE:2:43: $.rules[0].patch: expected `reply` or `patch`, found both'],
  ['a lag of writes alone', 'rules:\n  - { on: createPet, lag: PT2S }', 'FILE:2:22: $.rules[0].lag: expected an operation that reads in `on`, found createPet'],
  ['a reply that lags', 'rules:\n  - { on: getPet, reply: { status: 404 }, lag: { calls: 2 } }', 'FILE:2:43: $.rules[0].lag: expected `reply` or `lag`, found both'],
  ['a patch that frames the message', 'rules:\n  - { on: getPet, patch: { headers: { Content-Length: null } } }', 'FILE:2:39: $.rules[0].patch.headers["Content-Length"]: expected a header that does not frame the message; use a `fault` to break that, found "Content-Length"'],
  ['two stores to start from', 'fixture: default\ngenerate: { animals: 1 }', 'FILE:2:1: $.generate: expected fixture or generate, to start from one store, found both'],
  ['an input that none of the operations has', 'rules:\n  - { on: getPet, where: { orderId: 1 }, fault: reset }', 'FILE:2:28: $.rules[0].where.orderId: expected an input of getPet, which has petId, found "orderId"'],
  ['a range of calls with the higher number first', 'rules:\n  - { on: getPet, delay: 1, calls: 4-2 }', 'FILE:2:36: $.rules[0].calls: expected the lower number first, found "4-2"'],
  ['a body beside 205', 'rules: [{ on: getPet, reply: { status: 205, body: 1 } }]', 'FILE:1:45: $.rules[0].reply.body: expected no body beside the status 205, found one'],
  ['a body beside 204', 'rules: [{ on: getPet, reply: { status: 204, body: 1 } }]', 'FILE:1:45: $.rules[0].reply.body: expected no body beside the status 204, found one'],
  ['a body that is empty too', 'rules: [{ on: getPet, reply: { status: 200, body: 1, empty: true } }]', 'FILE:1:54: $.rules[0].reply.empty: expected `body` or `empty`, found both'],
  ['two media types', 'rules: [{ on: getPet, reply: { status: 200, headers: { Content-Type: [a/b, c/d] }, body: 1 } }]', 'FILE:1:45: $.rules[0].reply.headers: expected one Content-Type, found a/b and c/d'],
  ['a header name with a blank', 'rules: [{ on: getPet, reply: { status: 200, headers: { X A: 1 } } }]', 'FILE:1:56: $.rules[0].reply.headers["X A"]: expected a header name, found "X A"'],
  ['a Content-Length', 'rules:\n  - { on: getPet, reply: { status: 200, headers: { Content-Length: 5 } } }', 'FILE:2:52: $.rules[0].reply.headers["Content-Length"]: expected a header that does not frame the message; use a `fault` to break that, found "Content-Length"'],
  ['a Connection, with which Node keeps one that the client asked to close', 'rules:\n  - { on: getPet, reply: { status: 200, headers: { connection: keep-alive } } }', 'FILE:2:52: $.rules[0].reply.headers.connection: expected a header that does not frame the message, such as `Connection: close`; use a `fault` to break that, found "connection"'],
  ['a Trailer, which Node writes before chunks only', 'rules:\n  - { on: cancelOrder, reply: { status: 204, headers: { Trailer: X-Sum } } }', 'FILE:2:57: $.rules[0].reply.headers.Trailer: expected a header that does not frame the message; use a `fault` to break that, found "Trailer"'],
];

/** A scenario that uses every feature. */
const WHOLE = `
$schema: scenario.schema.json
description: Everything at once.
extends: slow
generate: { animals: 5, orders: 0 }
state:
  animals: { remove: all, set: [{ id: -9223372036854775808, name: Rex, categoryId: 1 }] }
  inventory: { remove: [1, 9007199254740993] }
  orders:
    set: [{ id: 9007199254740993, status: shipped }]
    each:
      - { where: { id: [1, 2], status: [pending, null], petId: null }, petId: 1, quantity: null }
      - { complete: false }
keys:
  valid: [a-key]
  readOnly: []
  invalid: [demo-key]
  expires: { a-key: PT1M30S, other-key: "2030-12-06T00:00:00+01:00" }
assume:
  cancel-again: 404
  absent-optionals: null
  name-limits: "255"
  rate-limit: 3/s
clock: { now: 2030-12-06T00:00:00Z, frozen: true }
offContract: true
rules:
  - on: "*"
    where: { petId: [9007199254740993, null], headers: { X-Client: a }, key: [a-key, b-key] }
    calls: 1, 3-4, 6-, every 5
    chance: 0.5
    delay: { min: 120, max: 400 }
    reply:
      status: 409
      headers: { Retry-After: 1, X-Two: [a, b] }
      body: { id: 9223372036854775807, list: [1.5, null, true, "x"], "__proto__": 1 }
  - { on: [getPet, listPets], calls: 2, delay: 5, fault: slow-body }
  - { on: cancelOrder, calls: [1, 3], delay: { min: 1, max: 1 }, apply: true, fault: { kind: slow-body, over: 7 } }
  - { on: getPet, reply: { status: 200, headers: { content-type: text/plain }, body: Hello } }
  - { on: getPet, reply: { status: 200, headers: { content-type: text/html }, body: { a: 1 } } }
  - { on: getPet, reply: { status: 200, headers: { Content-Type: application/hal+json }, body: Hello } }
  - { on: getPet, reply: { status: 200, body: Hello } }
  - { on: getPet, reply: { status: 200, body: null } }
  - { on: getPet, reply: { status: 409, empty: true } }
  - { on: getPet, reply: { status: 404 } }
  - on: listPets
    lag: PT1M30S
    patch:
      status: 203
      headers: { X-Gone: null, X-Two: [a, 2], Content-Type: text/plain }
      body: { a: null, b: 9223372036854775807 }
      each: { c: [null] }
      items: [{ where: { id: [3, 9007199254740993], status: null }, body: 1 }]
`;

describe('a problem is reported with line, column, what was expected and what was found', () => {
  test.each([...BROKEN, ...BROKEN_FOR_THE_READER])('%s', async (_, text, ...problems) => {
    expect(await problemsOf(text)).toEqual(problems);
  });
  test.each(BROKEN)('and the schema rejects it too: %s', (_, text) => {
    expect(validate(parse(text))).toBe(false);
  });
});

const TEN = '[x, x, x, x, x, x, x, x, x, x]';
const LAUGHS = [...'bcdefgh'].map(
  (it, at) => `${it}: &${it} ${TEN.replaceAll('x', `*${'abcdefg'[at]}`)}`,
);

// biome-ignore format: a row for each
test.each<[string, SavedScenario['format'], string, string]>([
  ['an open array', 'yaml', 'rules: [', '1:9: expected YAML: Flow sequence in block'],
  ['an unknown type', 'yaml', 'a: !date 1', '1:4: expected YAML: Unresolved tag: !date'],
  ['an alias without an anchor', 'yaml', 'a: *b', '1:1: expected YAML: Unresolved alias'],
  ['an alias of itself', 'yaml', 'rules: &a [*a]', '1:1: expected YAML: it is nested more than 100 levels'],
  ['a body that contains itself', 'yaml', 'rules: [{ on: getPet, reply: { status: 200, body: &a { a: [*a, *a] } } }]', '1:1: expected YAML: it is nested more than 100 levels'],
  ['aliases of millions of values', 'yaml', `a: &a ${TEN}\n${LAUGHS.join('\n')}`, '1:1: expected YAML: Excessive alias count'],
  ['a repeated name', 'yaml', 'keys: {}\nkeys: {}', '2:1: expected YAML: a second "keys"; the first is in line 1, column 1'],
  ['a star without quotes', 'yaml', 'rules:\n  - { on: *, delay: 5 }', '2:11: expected YAML: a `*` alone: quote it, as "*"'],
  ['arrays that never close', 'yaml', `a: ${'['.repeat(1e5)}`, '1:'],
  ['a trailing comma in .json', 'json', '{"rules": [],}', '1:14: expected JSON: '],
])('%s is refused', async (_, format, text, problem) => {
  const problems = await problemsOf(text, format);
  expect(problems).toEqual([expect.stringContaining(`FILE:${problem}`)]);
});

describe('a valid scenario', () => {
  test('can name all keys, or a key called "all"', async () => {
    const { keys } = load('keys: { invalid: all, readOnly: all }');
    expect(keys).toEqual({ invalid: 'all', allReadOnly: true });
    const named = load('keys: { invalid: [all], readOnly: [all] }');
    expect(named.keys).toEqual({ invalid: ['all'], readOnly: ['all'], allReadOnly: false });
  });

  test('has keys, assumptions, a clock and a base', async () => {
    const after = { kind: 'after', milliseconds: 90_000 };
    const at = { kind: 'at', instant: Date.UTC(2030, 11, 5, 23) };
    const expires = new Map(Object.entries({ 'a-key': after, 'other-key': at }));
    const ids = ['cancel-again', 'absent-optionals', 'name-limits', 'rate-limit'];
    const options = ['404', 'null', '255', '3/s'];
    expect(load(WHOLE)).toMatchObject({
      ...{ name: 'whole', description: 'Everything at once.', extends: ['slow'] },
      generate: { animals: 5, orders: 0 },
      keys: { valid: ['a-key'], readOnly: [], allReadOnly: false, invalid: ['demo-key'], expires },
      assume: Object.fromEntries(ids.map((id, index) => [id, options[index]])),
      clock: { now: Date.UTC(2030, 11, 6), frozen: true },
    });
  });

  test('can reply with JSON, with text, with no body, or with the usual one', async () => {
    const { rules } = load(WHOLE);
    expect(rules.slice(3, -1).map(({ reply }) => reply?.content)).toEqual([
      { body: 'Hello', mediaType: 'text/plain' },
      { body: '{"a":1}', mediaType: 'text/html' },
      { body: '"Hello"', mediaType: 'application/hal+json' },
      { body: '"Hello"', mediaType: 'application/json' },
      { body: 'null', mediaType: 'application/json' },
      { body: undefined, mediaType: undefined },
      undefined,
    ]);
    expect(rules.slice(3, -1).map(({ reply }) => reply?.headers)).toEqual(Array(7).fill([]));
  });

  test.each<[SavedScenario['format'], string]>([
    [
      'json',
      '{"rules":[{"on":"getPet","where":{"headers":{"X-Api-Version":1.0}},"reply":{"status":200,"headers":{"X-A":[2.50,-0,1e2,"Zü😀"]},"body":[1.0,{"a":2.50},-0,1E400]}}]}',
    ],
    [
      'yaml',
      'rules: [{ on: getPet, where: { headers: { X-Api-Version: 1.0 } }, reply: { status: 200, headers: { X-A: [2.50, -0, 1e2, Zü😀] }, body: [1.0, { a: 2.50 }, -0, 1E400] } }]',
    ],
  ])('keeps digits as they are written in %s', async (format, text) => {
    const [rule] = load(text, format).rules;
    expect(rule?.where[0]?.values).toEqual([{ value: 1, text: '1.0' }]);
    const wire = Buffer.from('Zü😀').toString('latin1');
    const headers = ['2.50', '-0', '1e2', wire].flatMap((value) => ['X-A', value]);
    const content = { body: '[1.0,{"a":2.50},-0,1E400]', mediaType: 'application/json' };
    expect(rule?.reply).toEqual({ status: 200, headers, content });
  });

  test('keeps numbers in headers as YAML writes them, and has JSON in bodies', async () => {
    const { rules } = load(
      'rules: [{ on: getPet, calls: 0x2, reply: { status: 0o310, headers: { X-A: [007, 0x1F, +5, .5, 5.] }, body: [007, 0x1F, +5, .5, 5.] } }]',
    );
    const headers = ['007', '0x1F', '+5', '.5', '5.'].flatMap((value) => ['X-A', value]);
    const reply = {
      status: 200,
      headers,
      content: { body: '[7,31,5,0.5,5]', mediaType: 'application/json' },
    };
    expect(rules).toMatchObject([{ calls: [{ from: 2, to: 2 }], reply }]);
  });

  test('can have a byte order mark, Windows line endings and aliases', async () => {
    const { rules } = load('\uFEFFrules:\r\n  - &slow { on: getPet, delay: 1 }\r\n  - *slow\r\n');
    expect(rules).toHaveLength(2);
  });
});

test('the shipped schema is up to date with the reader', () => {
  const shipped: unknown = JSON.parse(
    readFileSync(join(SCENARIOS, 'scenario.schema.json'), 'utf8'),
  );
  // `npx tsx scripts/scenario-schema.mjs` writes it anew.
  expect(shipped).toEqual(scenarioSchema());
});

test.each(readdirSync(SCENARIOS).filter((file) => file.endsWith('.yaml')))(
  '%s matches the schema',
  (file) => {
    validate(parse(readFileSync(join(SCENARIOS, file), 'utf8')));
    expect(validate.errors).toBeNull();
  },
);

test('the schema accepts a scenario that uses every feature', () => {
  validate(parse(WHOLE));
  expect(validate.errors).toBeNull();
});

test('every member has a description', () => {
  const undescribed: string[] = [];
  const visit = (schema: unknown, path: string): void => {
    for (const [name, member] of Object.entries(Object(schema))) {
      const place = `${path}/${name}`;
      if (path.endsWith('/properties') && !('description' in Object(member))) {
        undescribed.push(place);
      }
      if (typeof member === 'object') visit(member, place);
    }
  };
  visit(scenarioSchema(), '');
  // What is said only to rule values out needs no description.
  expect(undescribed.filter((place) => !/\/(?:anyOf|allOf|not)\//.test(place))).toEqual([]);
});
