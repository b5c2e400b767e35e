import { expect, test } from 'vitest';
import { readYaml } from '../../src/scenario/yaml-text.ts';
import { readJson } from '../../src/shape/source-text.ts';

function parsed(format: 'json' | 'yaml', text: string): unknown {
  const reading = format === 'json' ? readJson(text) : readYaml(text);
  return reading.ok ? reading.source.value : reading.problems;
}

test.each([
  ['9007199254740993', 2n ** 53n + 1n],
  ['9007199254740993.0', 2n ** 53n + 1n],
  ['9.007199254740993e15', 2n ** 53n + 1n],
  ['-9223372036854775808', -(2n ** 63n)],
  ['1e18', 10n ** 18n],
  ['1e3', 1000],
  ['0.25', 0.25],
])('the number %s is the same in YAML and in JSON', (text, value) => {
  expect(parsed('yaml', `a: ${text}`)).toEqual({ a: value });
  expect(parsed('json', `{"a":${text}}`)).toEqual({ a: value });
});

test('numbers that JSON does not have are read as YAML defines them', () => {
  expect(parsed('yaml', '[0x10, +1, 007, .5, 1., "1e3"]')).toEqual([16, 1, 7, 0.5, 1, '1e3']);
});
