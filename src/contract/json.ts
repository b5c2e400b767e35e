import { isNumber, LosslessNumber, stringify as stringifyExactly } from 'lossless-json';

/** An object of JSON, such as a JSON Schema or a part of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

/** Text in which a double could lose a digit: 16 digits, a fraction, or an exponent. */
const MAY_LOSE_DIGITS = /\d{16}|\d[.eE]/;

/** The most characters of a number that is evaluated: a longer one would take too long. */
const LONGEST_NUMBER = 400;

/** The most digits of an integer that is evaluated: twice as many as those of an int64. */
const MOST_DIGITS = 40;

/** A double holds any number of up to this many characters without an exponent. */
const LONGEST_SAFE = 15;

/** Matches most integers that a double cannot hold. */
const DIGITS = /^-?\d{1,20}$/;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Parses JSON without losing a digit of an integer.
 *
 * Returns numbers as `numberOf` does. Uses JSON.parse, which is many times faster, if that is exact.
 *
 * @throws SyntaxError if `text` is not JSON, RangeError if it is nested too deeply
 * @example parseJson('{"id":9007199254740993}') // { id: 9007199254740993n }
 */
export function parseJson(text: string): unknown {
  return MAY_LOSE_DIGITS.test(text) ? parseExactly(text) : JSON.parse(text);
}

/** The prefix of a number that became a string. Random, so that no client can send it. */
const NUMBER_PREFIX = `${Math.random().toString(36).slice(2, 10)} `;

/**
 * Turns the numbers that JSON.parse could change into strings with a prefix.
 *
 * The parser of lossless-json is as fast for lists of records, but concatenates strings by character:
 * a string of 15 MB takes 8 s and 500 MB there, and 0.1 s here.
 */
function parseExactly(text: string): unknown {
  try {
    return unmark(JSON.parse(prefixNumbers(text)));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The original text fails with the right reason and position.
    return JSON.parse(text);
  }
}

function prefixNumbers(text: string): string {
  let inString = false;
  return text.replace(/"|\\.|-?\d[\d.eE+-]*/gs, (token) => {
    if (token === '"') inString = !inString;
    return !inString && mayLoseDigits(token) ? `"${NUMBER_PREFIX}${token}"` : token;
  });
}

function mayLoseDigits(literal: string): boolean {
  return (literal.length > LONGEST_SAFE || /[eE]/.test(literal)) && isNumber(literal);
}

/** Replaces strings with the prefix by their numbers at every depth. */
function unmark(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.startsWith(NUMBER_PREFIX) ? numberOf(value.slice(NUMBER_PREFIX.length)) : value;
  }
  if (Array.isArray(value)) {
    const elements: unknown[] = value;
    for (let at = 0; at < elements.length; at += 1) elements[at] = unmark(elements[at]);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (name.startsWith(NUMBER_PREFIX)) throw new SyntaxError('a number cannot be a name');
      const plain = unmark(member);
      if (plain !== member) Reflect.set(value, name, plain);
    }
  }
  return value;
}

/**
 * Evaluates a number in JSON. Returns a number for an integer that a double can hold, and a bigint for
 * a larger one. JSON Schema counts 1.0 and 1e3 as integers. A value that neither can hold, such as
 * 1e400, stays as it is.
 *
 * @example numberOf('9007199254740993e0') // 9007199254740993n
 */
export function numberOf(literal: string): unknown {
  if (literal.length > LONGEST_NUMBER) return new LosslessNumber(literal);
  const double = Number(literal);
  // A double cannot have rounded so few digits to an integer, except to 0.
  if (literal.length <= LONGEST_SAFE && double !== 0 && Number.isSafeInteger(double)) return double;
  const integer = integerOf(literal);
  if (integer !== undefined) {
    const held = Number(integer);
    return Number.isSafeInteger(held) ? held : integer;
  }
  // The double of a fraction may have been rounded to an integer.
  return Number.isFinite(double) && !Number.isInteger(double)
    ? double
    : new LosslessNumber(literal);
}

/** The value of an integer in any spelling; undefined if it is not an integer or too long. */
function integerOf(literal: string): bigint | undefined {
  if (DIGITS.test(literal)) return BigInt(literal);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(literal) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return 0n;
  const zeros = digits.length - significant.length - fraction.length + Number(exponent);
  if (zeros < 0 || significant.length + zeros > MOST_DIGITS) return undefined;
  return BigInt(`${sign}${significant}${'0'.repeat(zeros)}`);
}

/**
 * Writes JSON with bigints as digits. Numbers that `numberOf` could not evaluate stay as they were. Leaves
 * out undefined members.
 *
 * @param indent spaces per level; 0 writes one line
 */
export function writeJson(value: unknown, indent = 0): string {
  return stringifyExactly(value, undefined, indent) ?? '';
}
