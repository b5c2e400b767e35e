import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { INTEGER, RECORDS } from '../../../src/core/contract/records.ts';
import {
  INT64_MAX,
  INT64_MIN,
  INTEGER_TEXT,
  isObject,
  parseInt64,
  parseJson,
  toInt64,
  writeJson,
} from '../../../src/core/json.ts';
import { readYaml } from '../../../src/core/scenario/yaml-text.ts';
import { readAs } from '../../../src/core/shape/shapes.ts';
import { anyText } from '../../helpers/drawn-requests.ts';

/** Every int64, those near the ends of its range and of a double's more often. */
const int64 = fc.oneof(
  fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
  fc.bigInt({ min: INT64_MIN, max: INT64_MIN + 3n }),
  fc.bigInt({ min: INT64_MAX - 3n, max: INT64_MAX }),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }),
);

const beyondInt64 = fc.oneof(
  fc.bigInt({ min: INT64_MAX + 1n, max: 10n ** 40n }),
  fc.bigInt({ min: -(10n ** 40n), max: INT64_MIN - 1n }),
);

const idIn = (value: unknown) => toInt64(isObject(value) ? value.id : undefined);
const readId = (json: string) => idIn(parseJson(`{"id":${json}}`));

test('an int64 survives JSON, and no other integer is one', () => {
  fc.assert(
    fc.property(int64, beyondInt64, (id, beyond) => {
      expect(writeJson({ id })).toBe(`{"id":${id}}`);
      expect([readId(`${id}`), parseInt64(`${id}`)]).toEqual([id, id]);
      expect([readId(`${beyond}`), parseInt64(`${beyond}`)]).toEqual([undefined, undefined]);
    }),
  );
});

test.each(['01', '-01', '+1', '0x10', '1_000', '', '-', ' 1', '1 ', '١'])(
  'an integer is not spelt %j, in a path or in JSON',
  (text) => {
    expect([parseInt64(text), INTEGER_TEXT.test(text)]).toEqual([undefined, false]);
    if (text.trim() === text) expect(() => readId(text)).toThrow(SyntaxError);
  },
);

test('an integer is never a number with a fraction, however long', () => {
  const fraction = fc.oneof(
    fc.stringMatching(/^\d{0,24}[1-9]$/),
    fc.stringMatching(/^(?:0{0,24}|9{0,24})9$/),
  );
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), fraction, (whole, rest) => {
      const value = parseJson(`{"it":${whole}.${rest}}`);
      const member = isObject(value) ? value.it : undefined;
      expect(toInt64(member)).toBeUndefined();
      expect(readAs(INTEGER, member).ok).toBe(false);
    }),
  );
});

test.each([
  ['9007199254740993', 2n ** 53n + 1n],
  ['9007199254740993.0', 2n ** 53n + 1n],
  ['-9223372036854775808', INT64_MIN],
  ['9.007199254740993e15', 2n ** 53n + 1n],
  ['-0.0e5', 0n],
  ['0e999999999999999999999', 0n],
  [`1${'0'.repeat(300)}e-300`, 1n],
])('%s is an int64, in JSON and in YAML', (text, value) => {
  expect(readId(text)).toBe(value);
  const yaml = readYaml('FILE', `id: ${text}`);
  expect(idIn(yaml.ok && yaml.value)).toBe(value);
});

test.each([
  ['1e400', '1e400'],
  ['1.00000000000000000001e0', '1.00000000000000000001e0'],
  ['15e-1', '1.5'],
  ['9223372036854775808', '9223372036854775808'],
  [`1e${'9'.repeat(1000)}`, `1e${'9'.repeat(55)}…`],
])('%s is refused as an id with its original spelling', (text, found) => {
  const animal = parseJson(`{"id":${text},"name":"a","categoryId":1}`);
  const reading = readAs(RECORDS.Animal, animal);
  expect(reading).toMatchObject({ problems: [{ path: '$.id', found }] });
});

describe('parseJson', () => {
  const odd = fc.oneof(
    fc.stringMatching(/^[\\"]{0,6}$/),
    fc.constantFrom('9007199254740993', '1e5', '\\u0022', '":9007199254740993,"', '[1e5]'),
    anyText.filter((text) => text !== '__proto__'),
  );
  const { value: safe } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, true, false),
      fc.maxSafeInteger(),
      fc.double({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, noNaN: true }),
      odd,
      fc.array(tie('value')),
      fc.dictionary(odd, tie('value')),
    ),
  }));

  test('reads all but long numbers like JSON.parse, also beside them', () => {
    fc.assert(
      fc.property(safe, fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        const plain: unknown = JSON.parse(text);
        expect(parseJson(text)).toEqual(plain);
        const beside = parseJson(`[9007199254740993,${text},1e5]`);
        expect(beside).toEqual([2n ** 53n + 1n, plain, 100_000]);
      }),
    );
  });

  test.each(['', '{', '[1,]', '{"a":1,}', "{'a':1}", 'NaN', '1 2', '01', '[1e]', '"\n"'])(
    'refuses %j, also beside a long number',
    (text) => {
      expect(() => parseJson(text)).toThrow(SyntaxError);
      expect(() => parseJson(`[9007199254740993, ${text}]`)).toThrow(SyntaxError);
      expect(() => parseJson('{9007199254740993:1}')).toThrow(SyntaxError);
    },
  );

  test('keeps a long number named __proto__ as a member', () => {
    const value = parseJson('{"__proto__":9007199254740993,"a":{"__proto__":1e400}}');
    expect(writeJson([value])).toBe('[{"__proto__":9007199254740993,"a":{"__proto__":1e400}}]');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});
