import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson, writeJson } from '../../src/contract/json.ts';
import { parseExact, writeExact } from '../../src/dashboard/client/exact-json.ts';

const NUMBERS = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((it) => !Number.isInteger(it)),
);

const VALUES = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, NUMBERS, fc.string(), fc.boolean(), tie('list'), tie('record')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  record: fc.dictionary(fc.string(), tie('value'), { maxKeys: 4, noNullPrototype: true }),
})).record;

test('the page reads JSON from the server as the server itself does', () => {
  fc.assert(
    fc.property(VALUES, (value) => {
      const text = writeJson(Object(value));
      expect(parseExact(text)).toEqual(parseJson(text));
    }),
  );
});

test('the server reads JSON from the page unchanged', () => {
  fc.assert(
    fc.property(VALUES, (value) => {
      const text = writeExact(value);
      expect(parseJson(text)).toEqual(parseJson(writeJson(Object(value))));
    }),
  );
});

test('digits in strings stay strings', () => {
  const value = { '9007199254740993': 'id 9007199254740993, "-9007199254740993"', id: 1n };
  expect(parseExact(writeExact({ ...value, id: 9007199254740993n }))).toEqual({
    ...value,
    id: 9007199254740993n,
  });
});
