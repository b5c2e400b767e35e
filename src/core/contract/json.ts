import { isNumber, stringify as stringifyExactly } from 'lossless-json';
import { LIMITS } from '../limits.ts';
import { keepNumber, parseNumber, plainNumber } from './numbers.ts';

export type Json = Readonly<Record<string, unknown>>;

/** Text in which a double could lose a digit or a sign: 16 digits, a fraction, an exponent, or -0. */
const MAY_LOSE_DIGITS = /\d{16}|\d[.eE]|-0/;

/** In characters: any shorter number without an exponent is exact as a double. */
const SAFE_LENGTH = 15;

/** Parses JSON without losing a digit of an integer: see `parseNumber`. */
export function parseJson(text: string): unknown {
  // JSON.parse is many times faster.
  return MAY_LOSE_DIGITS.test(text) ? parseExactly(text, parseNumber) : JSON.parse(text);
}

/**
 * `parseJson` for what a caller sends: keeps how each number is written. Throws a RangeError with
 * `TOO_DEEP` if it nests too deeply.
 */
export function parseInput(text: string): unknown {
  // A text as short as most bodies cannot be nested too deeply.
  if (text.length > LIMITS.nesting.max && !isWithinNesting(text)) throw new RangeError(TOO_DEEP);
  return MAY_LOSE_DIGITS.test(text) ? parseExactly(text, keepNumber) : JSON.parse(text);
}

export const TOO_DEEP = `it is nested more than ${LIMITS.nesting.max} levels deep`;

/** Looks at the text: parsers recurse, and where the stack ends V8 may end the process. */
function isWithinNesting(text: string): boolean {
  let levels = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') isInString = !isInString;
    else if (isInString) at += character === '\\' ? 1 : 0;
    else if (character === '[' || character === '{') levels += 1;
    else if (character === ']' || character === '}') levels -= 1;
    if (levels > LIMITS.nesting.max) return false;
  }
  return true;
}

export function tryParseJson(text: string, parse = parseJson): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** Marks a number that became a string. Random, so that no client can send it. */
const NUMBER_PREFIX = `${Math.random().toString(36).slice(2, 10)} `;

/**
 * Turns the numbers that JSON.parse could change into strings with a prefix. lossless-json concatenates
 * strings by character: one of 15 MB takes 8 s and 500 MB there, and 0.1 s here.
 */
function parseExactly(text: string, evaluate: (literal: string) => unknown): unknown {
  try {
    return JSON.parse(prefixNumbers(text), (name, value: unknown) => {
      if (name.startsWith(NUMBER_PREFIX)) throw new SyntaxError('a number cannot be a name');
      const isNumber = typeof value === 'string' && value.startsWith(NUMBER_PREFIX);
      return isNumber ? evaluate(value.slice(NUMBER_PREFIX.length)) : value;
    });
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
  const isExact =
    literal.length <= SAFE_LENGTH && !/[eE]/.test(literal) && String(Number(literal)) === literal;
  return !isExact && isNumber(literal);
}

/** Writes JSON with bigints as digits, and numbers that `parseNumber` could not evaluate as they were. */
export function writeJson(value: unknown, indent = 0): string {
  return stringifyExactly(value, undefined, indent) ?? '';
}

/** A bigint only where a double would lose digits. */
export type Int64 = number | bigint;

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

/** An integer as JSON writes it (RFC 8259, section 6): no plus sign, no leading zero. */
const INTEGER = /^-?(?:0|[1-9]\d*)$/;

export function isIntegerText(text: string): boolean {
  return INTEGER.test(text);
}

export function parseInt64(text: string): bigint | undefined {
  // The longest int64 has 20 characters; a far longer text would take long to convert.
  return text.length > 20 || !isIntegerText(text) ? undefined : toInt64(BigInt(text));
}

/** The int64 that `parseJson` has read; undefined also for a double that may have been rounded. */
export function toInt64(given: unknown): bigint | undefined {
  const value = plainNumber(given);
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== 'bigint') return undefined;
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}
