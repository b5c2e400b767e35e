import { describe, expect, test } from 'vitest';
import { ScenarioError } from '../../src/scenario/sandbox-start.ts';
import type { Scenario } from '../../src/scenario/scenario-shape.ts';
import { readScenarioText, type ScenarioFormat } from '../../src/scenario/scenario-text.ts';
import { BROKEN, BROKEN_FOR_THE_READER, WHOLE } from '../helpers/scenario-examples.ts';

function load(text: string, format: ScenarioFormat = 'yaml'): Promise<Scenario> {
  return readScenarioText('FILE', { name: 'whole', format, text });
}

async function problemsOf(text: string, format?: ScenarioFormat): Promise<readonly string[]> {
  try {
    await load(text, format);
  } catch (error) {
    if (error instanceof ScenarioError) return error.problems;
    throw error;
  }
  return [];
}

describe('a problem is reported with line, column, what was expected and what was found', () => {
  test.each([...BROKEN, ...BROKEN_FOR_THE_READER])('%s', async (_, text, ...problems) => {
    expect(await problemsOf(text)).toEqual(problems);
  });
});

const TEN = '[x, x, x, x, x, x, x, x, x, x]';
const LAUGHS = [...'bcdefgh'].map(
  (it, at) => `${it}: &${it} ${TEN.replaceAll('x', `*${'abcdefg'[at]}`)}`,
);

test.each<[string, ScenarioFormat, string, string]>([
  ['an open array', 'yaml', 'rules: [', '1:9: expected YAML: Flow sequence in block'],
  ['an unknown type', 'yaml', 'a: !date 1', '1:4: expected YAML: Unresolved tag: !date'],
  ['an alias without an anchor', 'yaml', 'a: *b', '1:1: expected YAML: Unresolved alias'],
  ['an alias of itself', 'yaml', 'rules: &a [*a]', '1:12: $.rules[0]: expected an object'],
  [
    'a body that contains itself',
    'yaml',
    'rules: [{ on: getPet, reply: { status: 200, body: &a { a: [*a, *a] } } }]',
    '1:54: $.rules[0].reply.body: expected at most 100 levels',
  ],
  [
    'aliases of millions of values',
    'yaml',
    `a: &a ${TEN}\n${LAUGHS.join('\n')}`,
    '1:1: expected YAML: Excessive alias count',
  ],
  ['a repeated name', 'yaml', 'keys: {}\nkeys: {}', '2:1: expected YAML: Map keys must be unique'],
  ['arrays that never close', 'yaml', `a: ${'['.repeat(1e5)}`, '1:'],
  ['a trailing comma in .json', 'json', '{"rules": [],}', '1:14: expected JSON: '],
])('%s is refused', async (_, format, text, problem) => {
  const problems = await problemsOf(text, format);
  expect(problems).toEqual([expect.stringContaining(`FILE:${problem}`)]);
});

describe('a valid scenario', () => {
  test('can name all keys, or a key called "all"', async () => {
    const { keys } = await load('keys: { invalid: all, readOnly: all, expires: { all: PT1M } }');
    const expires = new Map([['all', { kind: 'after', milliseconds: 60_000 }]]);
    expect(keys).toEqual({ invalid: 'all', allReadOnly: true, expires });
    const named = await load('keys: { invalid: [all], readOnly: [all] }');
    expect(named.keys).toEqual({ invalid: ['all'], readOnly: ['all'], allReadOnly: false });
  });

  test('has keys, assumptions, a clock and a base', async () => {
    const { keys, assume, clock, generate, description, name } = await load(WHOLE);
    expect({ name, description }).toEqual({ name: 'whole', description: 'Everything at once.' });
    expect(generate).toEqual({ animals: 5, orders: 0 });
    expect(keys).toEqual({
      valid: ['a-key'],
      readOnly: [],
      allReadOnly: false,
      invalid: ['demo-key'],
      expires: new Map([
        ['a-key', { kind: 'after', milliseconds: 90_000 }],
        ['other-key', { kind: 'at', instant: Date.UTC(2030, 11, 5, 23) }],
      ]),
    });
    expect(assume).toEqual({
      'cancel-again': '404',
      'absent-optionals': 'null',
      'name-limits': '255',
      'rate-limit': '3/s',
    });
    expect(clock).toEqual({ now: Date.UTC(2030, 11, 6), frozen: true });
  });

  test('can reply with JSON, with text, with no body, or with the usual one', async () => {
    const { rules } = await load(WHOLE);
    expect(rules.slice(3).map(({ reply }) => reply?.body)).toEqual([
      { kind: 'json', text: 'Hello', mediaType: 'text/plain' },
      { kind: 'json', text: '{"a":1}', mediaType: 'text/html' },
      { kind: 'json', text: '"Hello"', mediaType: 'application/hal+json' },
      { kind: 'json', text: '"Hello"' },
      { kind: 'json', text: 'null' },
      { kind: 'none' },
      undefined,
    ]);
    expect(rules.slice(3).map(({ reply }) => reply?.headers)).toEqual(Array(7).fill([]));
  });

  test('can have a byte order mark, Windows line endings and aliases', async () => {
    const { rules } = await load(
      '\uFEFFrules:\r\n  - &slow { on: getPet, delay: 1 }\r\n  - *slow\r\n',
    );
    expect(rules).toHaveLength(2);
  });
});
