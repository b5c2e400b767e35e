import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../src/contract/json.ts';
import { isObject } from '../../src/contract/records.ts';
import { readYaml } from '../../src/scenario/yaml-text.ts';
import { readJson } from '../../src/shape/json-text.ts';
import {
  locateProblems,
  type ParsedText,
  repeatedNames,
  type SourceText,
} from '../../src/shape/places.ts';
import { memberPath } from '../../src/shape/shapes.ts';

function sourceOf(parsed: ParsedText): SourceText {
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join());
  return parsed.source;
}

function* pathsOf(value: unknown, path = '$'): Generator<[path: string, value: unknown]> {
  yield [path, value];
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* pathsOf(item, `${path}[${index}]`);
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      yield* pathsOf(member, path + memberPath(name));
    }
  }
}

/** The rest of its line from the place of each path. */
function textsAt(source: SourceText, paths: readonly string[], ofName = false): string[] {
  const problems = paths.map((path) => ({ path, ofName, expected: '', found: '' }));
  const lines = source.text.split('\n');
  return locateProblems(source, problems).map(
    ({ line, column }) => lines[line - 1]?.slice(column - 1) ?? '',
  );
}

test('every value of a text has its place, read as JSON or as YAML', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      const values = [...pathsOf(value)];
      const paths = values.map(([path]) => path);
      for (const source of [sourceOf(readJson(text)), sourceOf(readYaml(text))]) {
        expect(source.value).toEqual(parseJson(text));
        for (const [index, found] of textsAt(source, paths).entries()) {
          const part = values[index]?.[1];
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
    const source = sourceOf(read('{\n  "a": [{ "b c": 1 }] }'));
    const paths = ['$.a[0]["b c"]', '$.a[0].d.e', '$.x'];
    expect(textsAt(source, paths, true)).toEqual(['"b c": 1 }] }', '{ "b c": 1 }] }', '{']);
  }
});

test('each name that occurs again is found, once', () => {
  for (const [read, text] of [
    [readJson, '{ "a": { "b": 1 },\n"a": { "b": 2 }, "c": [{ "a": 1, "d": 2, "d": 3 }],\n"a": 3 }'],
    [readYaml, 'a: { b: 1 }\na: { b: 2 }\nc: [&x { d: 2, d: 3 }, *x]\na: 3'],
  ] as const) {
    expect(repeatedNames(sourceOf(read(text))).map(({ line, message }) => [line, message])).toEqual(
      expect.arrayContaining([
        [2, '$.a: expected each name once, found it again'],
        [read === readJson ? 2 : 3, '$.c[0].d: expected each name once, found it again'],
        [read === readJson ? 3 : 4, '$.a: expected each name once, found it again'],
      ]),
    );
    expect(repeatedNames(sourceOf(read(text)))).toHaveLength(3);
  }
});
