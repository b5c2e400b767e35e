import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  INT64_MAX,
  INT64_MIN,
  isIntegerText,
  parseInt64,
  toInt64,
} from '../../src/contract/int64.ts';
import { parseJson, writeJson } from '../../src/contract/json.ts';
import { FIELD_TYPES, isObject, RECORDS } from '../../src/contract/records.ts';
import { readRecord } from '../../src/shape/record-shapes.ts';
import { describe as tell } from '../../src/words.ts';

/** Every int64, those near the ends of its range and of a double's more often. */
const int64 = fc.oneof(
  fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
  fc
    .tuple(
      fc.constantFrom(INT64_MIN, -(2n ** 53n), 0n, 2n ** 53n, INT64_MAX),
      fc.bigInt({ min: -3n, max: 3n }),
    )
    .map(([near, step]) => near + step)
    .filter((value) => value >= INT64_MIN && value <= INT64_MAX),
);

const beyondInt64 = fc.oneof(
  fc.bigInt({ min: INT64_MAX + 1n, max: 10n ** 40n }),
  fc.bigInt({ min: -(10n ** 40n), max: INT64_MIN - 1n }),
);

function readId(json: string): bigint | undefined {
  const value = parseJson(`{"id":${json}}`);
  return toInt64(isObject(value) ? value.id : undefined);
}

describe('an int64', () => {
  test('survives JSON', () => {
    fc.assert(
      fc.property(int64, (id) => {
        const text = writeJson({ id });
        expect(text).toBe(`{"id":${id}}`);
        expect(readId(id.toString())).toBe(id);
      }),
    );
  });

  test('is not a number outside its range', () => {
    fc.assert(
      fc.property(beyondInt64, (value) => {
        expect(parseInt64(value.toString())).toBeUndefined();
        expect(toInt64(value)).toBeUndefined();
        expect(readId(value.toString())).toBeUndefined();
      }),
    );
  });

  test.each(['01', '-01', '+1', '0x10', '1_000', '', '-', ' 1', '1 ', '١'])(
    'is not spelt %j, in a path or in JSON',
    (text) => {
      expect(parseInt64(text)).toBeUndefined();
      expect(isIntegerText(text)).toBe(false);
      if (text.trim() === text) expect(() => readId(text)).toThrow(SyntaxError);
    },
  );
});

describe('an integer', () => {
  test('is never a number with a fraction, however long', () => {
    const fraction = fc.oneof(
      fc.stringMatching(/^\d{0,24}[1-9]$/),
      fc
        .tuple(fc.constantFrom('0', '9'), fc.nat(24))
        .map(([digit, times]) => `${digit.repeat(times)}9`),
    );
    fc.assert(
      fc.property(
        fc.nat(20),
        fc.bigInt({ min: 0n, max: 10n ** 20n }),
        fraction,
        (cut, digits, rest) => {
          const whole = digits / 10n ** BigInt(cut);
          const value = parseJson(`[${whole}.${rest}]`);
          const [member]: unknown[] = Array.isArray(value) ? value : [];
          expect(toInt64(member)).toBeUndefined();
          expect(FIELD_TYPES.integer.read(member)).toBeUndefined();
        },
      ),
    );
  });
});

describe('a number with an exponent', () => {
  test.each([
    ['1e18', 10n ** 18n],
    ['9.007199254740993e15', 2n ** 53n + 1n],
    ['-0.0e5', 0n],
    ['0e999999999999999999999', 0n],
    [`1${'0'.repeat(300)}e-300`, 1n],
  ])('%s is an int64', (text, value) => {
    expect(readId(text)).toBe(value);
  });

  test.each([
    ['1e400', '1e400'],
    ['1.00000000000000000001e0', '1.00000000000000000001e0'],
    ['15e-1', '1.5'],
    ['9223372036854775808', '9223372036854775808'],
    ['9'.repeat(100), `${'9'.repeat(57)}…`],
    [`1e${'9'.repeat(1000)}`, `1e${'9'.repeat(55)}…`],
  ])('%s is refused with its original spelling', (text, found) => {
    const reading = readRecord(
      RECORDS.Animal,
      parseJson(`{"id":${text},"name":"a","categoryId":1}`),
    );
    expect(reading).toMatchObject({ problems: [{ path: '$.id', found }] });
  });

  test('keeps its original spelling if no value can hold it', () => {
    const text = '{"a":[1e400,{"b":-1e-400}],"isLosslessNumber":true}';
    expect(writeJson([parseJson(text)])).toBe(`[${text}]`);
  });
});

test('a message shows the start of a long text', () => {
  expect(tell(parseJson('-0'))).toBe('-0');
  expect(tell('x'.repeat(60))).toBe(`"${'x'.repeat(56)}…`);
  expect(tell('x'.repeat(58))).toBe(`"${'x'.repeat(58)}"`);
  expect(tell(`${'"'.repeat(1_000_000)}`)).toHaveLength(58);
});

describe('parseJson', () => {
  const key = fc.string().filter((name) => name !== '__proto__');
  const safe = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, true, false),
      fc.maxSafeInteger(),
      fc.double({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, noNaN: true }),
      fc.string({ unit: 'binary' }),
      fc.array(tie('value')),
      fc.dictionary(key, tie('value')),
    ),
  })).value;

  test('reads numbers that a double can hold like JSON.parse', () => {
    fc.assert(
      fc.property(safe, fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(parseJson(text)).toEqual(JSON.parse(text));
        expect(parseJson(`[9007199254740991, ${text}]`)).toEqual([
          Number.MAX_SAFE_INTEGER,
          JSON.parse(text),
        ]);
      }),
    );
  });

  test.each(['', '{', '[1,]', '{"a":1,}', "{'a':1}", 'NaN', '1 2', '01', '[1e]', '"\n"'])(
    'refuses %j, also beside a long number',
    (text) => {
      expect(() => parseJson(text)).toThrow(SyntaxError);
      expect(() => parseJson(`[9007199254740993, ${text}]`)).toThrow(SyntaxError);
    },
  );

  test('keeps a long number named __proto__ as a member', () => {
    const value = parseJson('{"__proto__":9007199254740993,"a":{"__proto__":1e400}}');
    expect(writeJson([value])).toBe('[{"__proto__":9007199254740993,"a":{"__proto__":1e400}}]');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test('finds numbers only outside strings', () => {
    const texts = fc.array(
      fc.oneof(
        fc.stringMatching(/^[\\"]{0,6}$/),
        fc.constantFrom('9007199254740993', '1e5', '\\u0022', '":9007199254740993,"', '[1e5]'),
        fc.string({ unit: 'binary' }),
      ),
    );
    fc.assert(
      fc.property(texts, fc.nat(3), (values, indent) => {
        const text = JSON.stringify(
          [values, Object.fromEntries(values.map((it) => [it, it]))],
          undefined,
          indent,
        );
        expect(parseJson(`[9007199254740993,${text},1e5]`)).toEqual([
          2n ** 53n + 1n,
          JSON.parse(text),
          100_000,
        ]);
      }),
    );
  });
});

test('members of a __proto__ are no fields of a record', () => {
  const animal = '{"id":1,"name":"Rex","categoryId":9007199254740993}';
  const value = parseJson(`{"__proto__":${animal},"other":1}`);
  expect(readRecord(RECORDS.Animal, value)).toMatchObject({
    ok: false,
    problems: [{ path: '$.id' }, { path: '$.name' }, { path: '$.categoryId', found: 'nothing' }],
  });
  expect(Object.prototype).not.toHaveProperty('name');
});
