import { expect, test, vi } from 'vitest';
import { parseScenario } from '../../src/scenario/scenario-text.ts';
import { describe as tell } from '../../src/words.ts';

async function parsed(format: 'json' | 'yaml', text: string): Promise<unknown> {
  const { value, problems } = parseScenario('FILE', format, text);
  return value ?? problems;
}

test.each([
  ['9007199254740993', 2n ** 53n + 1n],
  ['9007199254740993.0', 2n ** 53n + 1n],
  ['9.007199254740993e15', 2n ** 53n + 1n],
  ['-9223372036854775808', -(2n ** 63n)],
  ['1e18', 10n ** 18n],
  ['1e3', 1000],
  ['0.25', 0.25],
])('the number %s is the same in YAML and in JSON', async (text, value) => {
  expect(await parsed('yaml', `a: ${text}`)).toEqual({ a: value });
  expect(await parsed('json', `{"a":${text}}`)).toEqual({ a: value });
});

test('numbers that JSON does not have are read as YAML defines them', async () => {
  const text = '[0x10, +1, 007, .5, 1., "1e3", .inf]';
  expect(await parsed('yaml', text)).toEqual([16, 1, 7, 0.5, 1, '1e3', Number.POSITIVE_INFINITY]);
});

test.each(['yaml', 'json'] as const)(
  'a number of 100,000 digits does not become a bigint in %s',
  async (format) => {
    const made = vi.spyOn(globalThis, 'BigInt');
    const digits = '9'.repeat(100_000);
    const value = await parsed(format, `[${digits}]`);
    expect(made).not.toHaveBeenCalled();
    made.mockRestore();
    expect(Array.isArray(value) ? value.map(tell) : value).toEqual([`${'9'.repeat(57)}…`]);
  },
);
