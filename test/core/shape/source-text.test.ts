import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { isObject, parseInput, plainNumber } from '../../../src/core/json.ts';
import { formatProblem } from '../../../src/core/problems.ts';
import { readYaml } from '../../../src/core/scenario/yaml-text.ts';
import { object, optional } from '../../../src/core/shape/objects.ts';
import { choice, list, readAs, type ValuePath } from '../../../src/core/shape/shapes.ts';
import { type ParsedText, readJson } from '../../../src/core/shape/source-text.ts';

type Parsed = Extract<ParsedText, { ok: true }>;

function parsedText(parsed: ParsedText): Parsed {
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed;
}

function* partsOf(value: unknown, at: ValuePath = []): Generator<[at: ValuePath, value: unknown]> {
  yield [at, value];
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* partsOf(item, [...at, index]);
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) yield* partsOf(member, [...at, name]);
  }
}

/** The rest of the line from each place. */
function textsAt(text: string, { locate }: Parsed, places: readonly ValuePath[], ofName = false) {
  const lines = text.split('\n');
  const problems = places.map((at) => ({ at, ofName, path: '', expected: '', found: '' }));
  return locate(problems).map(({ line = 0, column = 0 }) => {
    return lines[line - 1]?.slice(column - 1) ?? '';
  });
}

test('every value of a text has its place, read as JSON or as YAML', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      const parts = [...partsOf(value)];
      const places = parts.map(([at]) => at);
      for (const source of [readJson, readYaml].map((read) => parsedText(read('FILE', text)))) {
        expect(source.value).toEqual(parseInput(text));
        for (const [index, found] of textsAt(text, source, places).entries()) {
          const part = parts[index]?.[1];
          const written = JSON.stringify(part);
          const start = typeof part === 'object' && part !== null ? written.slice(0, 1) : written;
          expect(found.startsWith(start)).toBe(true);
        }
      }
    }),
  );
});

test('a name has its place too, and what is missing that of its parent', () => {
  for (const read of [readJson, readYaml]) {
    const text = '{\n  "a": [{ "b c": 1 }] }';
    const places = [['a', 0, 'b c'], ['a', 0, 'd', 'e'], ['x']];
    expect(textsAt(text, parsedText(read('FILE', text)), places, true)).toEqual([
      '"b c": 1 }] }',
      '{ "b c": 1 }] }',
      '{',
    ]);
  }
});

test('numbers that JSON does not have are read as YAML defines them', () => {
  const { value } = parsedText(readYaml('FILE', '[0x10, +1, 007, .5, 1., "1e3", 1e3, 0.25]'));
  const plain = [value].flat().map(plainNumber);
  expect(plain).toEqual([16, 1, 7, 0.5, 1, '1e3', 1000, 0.25]);
});

test('a misfit has a hint, and nobody reads on after one more than a message lists', () => {
  const pet = object({ status: optional(choice(['available', 'sold']), 'Its status.') });
  for (const wrong of [{ statis: 'sold' }, { status: 'sould' }]) {
    const reading = readAs(list(pet), Array(1000).fill(wrong));
    const found = reading.ok ? [] : reading.problems.map((it) => it.found);
    const hinted = found.filter((it) => /\(did you mean (?:status|sold)\?\)$/.test(it));
    expect([found.length, hinted.length]).toEqual([21, 21]);
  }
});

test('what is not JSON has a place and a reason, whatever the engine says', () => {
  const broken = fc.tuple(
    fc.jsonValue({ maxDepth: 3 }),
    fc.nat(),
    fc.constantFrom(...'{["}],:0e.x\\\n'),
  );
  fc.assert(
    fc.property(broken, ([value, at, added]) => {
      const text = JSON.stringify(value);
      const position = at % (text.length + 1);
      const changed = text.slice(0, position) + added + text.slice(position + (at % 2));
      const parsed = readJson('FILE', changed);
      if (parsed.ok) return;
      const [{ message = '', line = 0 } = {}] = parsed.problems;
      expect(message).toMatch(/ but (?:got|reached) |a second "/);
      expect(line).toBeGreaterThan(0);
      if (!message.includes('a second')) expect(() => JSON.parse(changed)).toThrow();
    }),
    { numRuns: 1000 },
  );
});

const A_SECOND = 'a second "a"; the first is in line 1, column';

test.each([
  [readJson, '[1, "ab]', '1:5: expected JSON: JSON value expected but got a string without an end'],
  [
    readJson,
    '{"a": "C:\\d"}',
    '1:7: expected JSON: JSON value expected but got a string without an end or with',
  ],
  [
    readJson,
    '["a\tb"]',
    '1:2: expected JSON: JSON value expected but got a string without an end or with',
  ],
  [readJson, '{"a" 1}', "1:6: expected JSON: Colon ':' expected after property name but got '1'"],
  [readJson, '[tru]', "1:2: expected JSON: JSON value expected but got 't'"],
  [readJson, '[01]', "1:3: expected JSON: Comma ',' expected after value but got '1'"],
  [readJson, '[{}}', "1:4: expected JSON: Comma ',' expected after value but got '}'"],
  [readJson, '{"a": 1,\n"b": {}, "a": 2}', `2:10: expected JSON: ${A_SECOND} 2`],
  [
    readJson,
    '{"a": [{"b": 1}, {"b": ":"}], "\\u0061": 1.50}',
    `1:31: expected JSON: ${A_SECOND} 2`,
  ],
  [readYaml, 'a: 1\nb: {}\n"a": 2', `3:1: expected YAML: ${A_SECOND} 1`],
  [readYaml, '- x: { b: 1, b: 1 }', '1:14: expected YAML: a second "b"; the first is in line 1'],
  [readYaml, 'a: !!binary aGk=', '1:13: expected YAML: a tag without a value in JSON'],
  [readYaml, 'a: !!set { b }', '1:10: expected YAML: a tag without a value in JSON'],
  [readYaml, 'a: [-.inf]', '1:5: expected YAML: a number without digits: -.inf'],
  [readYaml, '? [a, b]\n: 1', '1:3: expected YAML: a name that is not text'],
])('%o refuses %j', (read, text, problem) => {
  const warned = vi.spyOn(console, 'warn');
  const parsed = read('FILE', text);
  expect(parsed.ok ? [] : parsed.problems.map(formatProblem)).toEqual([
    expect.stringContaining(`FILE:${problem}`),
  ]);
  expect(warned).not.toHaveBeenCalled();
});

test('no name of a map is compared with all others', () => {
  const text = Array.from({ length: 1000 }, (_, index) => `k${index}: 1\n`).join('');
  const scans = (['some', 'every', 'find', 'includes', 'indexOf'] as const).map((name) =>
    vi.spyOn<unknown[], typeof name>(Array.prototype, name),
  );
  expect(readYaml('FILE', text).ok).toBe(true);
  const scanned = scans.flatMap(({ mock }) => mock.contexts).map((list) => Object(list).length);
  for (const scan of scans) scan.mockRestore();
  expect(scanned.reduce((sum, length) => sum + length, 0)).toBeLessThan(50_000);
});
