import { LIMITS } from './limits.ts';

export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof WrittenNumber)
  );
}

/** JSON in which a double could lose a digit or a sign. Dates do not match. */
const MAY_LOSE_DIGITS = /\d{16}|\d[.eE]|(?<!\d)-0/;

/** In characters: a shorter number without an exponent is exact as a double. */
const SAFE_LENGTH = 15;

/** Parses JSON without losing a digit of an integer. `parseNumber` says how. */
export function parseJson(text: string): unknown {
  // JSON.parse is many times faster than `parseExactly`.
  return MAY_LOSE_DIGITS.test(text) ? parseExactly(text, parseNumber) : JSON.parse(text);
}

/**
 * Like `parseJson`, for a caller's input: `writeJson` writes its numbers as they were, such as 1.0.
 * Throws a RangeError with `TOO_DEEP` if the text nests too deeply.
 */
export function parseInput(text: string): unknown {
  if (isTooDeep(text)) throw new RangeError(TOO_DEEP);
  return MAY_LOSE_DIGITS.test(text) ? parseExactly(text, keepNumber) : JSON.parse(text);
}

export const TOO_DEEP = `it is nested more than ${LIMITS.nesting} levels deep`;

/** Checks the text itself, because parsers recurse and a stack overflow may end the process. */
export function isTooDeep(text: string): boolean {
  // A text this short cannot nest too deeply. Most bodies are.
  if (text.length <= LIMITS.nesting) return false;
  let levels = 0;
  return !everyMark(text, (mark) => {
    if (mark === '[' || mark === '{') levels += 1;
    else if (mark === ']' || mark === '}') levels -= 1;
    return levels <= LIMITS.nesting;
  });
}

/** Whether `test` holds for each character outside of strings. */
export function everyMark(text: string, test: (mark: string) => boolean): boolean {
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const mark = text.charAt(at);
    if (mark === '"') isInString = !isInString;
    else if (isInString) at += mark === '\\' ? 1 : 0;
    else if (!test(mark)) return false;
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

/** Marks a string that stands for a number. It is random, so that no client can send it. */
const NUMBER_PREFIX = `${Math.random().toString(36).slice(2, 10)} `;

/** Parses JSON with `evaluate` for the numbers that JSON.parse could change. */
function parseExactly(text: string, evaluate: (literal: string) => unknown): unknown {
  try {
    return JSON.parse(prefixNumbers(text), (name, value: unknown) => {
      if (name.startsWith(NUMBER_PREFIX)) throw new SyntaxError('a number cannot be a name');
      const isNumber = typeof value === 'string' && value.startsWith(NUMBER_PREFIX);
      return isNumber ? evaluate(value.slice(NUMBER_PREFIX.length)) : value;
    });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // JSON.parse of the original text throws with the right reason and position.
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
  return !isExact && NUMBER_TEXT.test(literal);
}

/** Writes JSON. Bigints become digits, and a `WrittenNumber` stays as it was written. */
export function writeJson(value: unknown, indent = 0): string {
  // JSON.stringify is several times faster without a replacer.
  if (isPlain(value)) return JSON.stringify(value, undefined, indent) ?? '';
  const mark = (_name: string, part: unknown) =>
    typeof part === 'bigint' || part instanceof WrittenNumber ? `${NUMBER_PREFIX}${part}` : part;
  return JSON.stringify(value, mark, indent).replace(MARKED, '$1');
}

const MARKED = new RegExp(`"${NUMBER_PREFIX}([^"]*)"`, 'g');

/** Whether JSON.stringify can write the value: it has no bigint and no `WrittenNumber`. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'bigint' || value instanceof WrittenNumber) return false;
  if (typeof value !== 'object' || value === null) return true;
  for (const name in value) if (!isPlain(Reflect.get(value, name))) return false;
  return true;
}

/** A number, or a bigint where a double would lose digits. */
export type Int64 = number | bigint;

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

/** The grammar of numbers in JSON (RFC 8259, section 6): no plus sign, no leading zero. */
export const INTEGER_TEXT = /^-?(?:0|[1-9]\d*)$/;
export const NUMBER_TEXT = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export function parseInt64(text: string): bigint | undefined {
  // The longest int64 has 20 characters. Converting a far longer text would take long.
  return text.length > 20 || !INTEGER_TEXT.test(text) ? undefined : toInt64(BigInt(text));
}

/** An int64 from a value that `parseJson` has read; undefined if a double may have rounded it. */
export function toInt64(given: unknown): bigint | undefined {
  const value = plainNumber(given);
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== 'bigint') return undefined;
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}

/** In characters. Evaluating a longer number would take too long. */
const MAX_NUMBER_LENGTH = 400;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Evaluates a number of JSON. An integer that a double cannot hold becomes a bigint, such as
 * 9007199254740993 or 1e18, which JSON Schema counts as an integer. What neither type can hold,
 * such as 1e400, stays a `WrittenNumber`.
 */
function parseNumber(literal: string): unknown {
  const double = Number(literal);
  if (literal.length > MAX_NUMBER_LENGTH || !Number.isFinite(double)) {
    return new WrittenNumber(literal);
  }
  if (!Number.isInteger(double)) return double;
  // The double may be rounded from a fraction or from another integer.
  const integer = parseInteger(literal);
  if (integer === undefined) return new WrittenNumber(literal);
  return Number.isSafeInteger(Number(integer)) ? double : integer;
}

function parseInteger(literal: string): bigint | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(literal) ?? [];
  const digits = whole + fraction;
  if (/^0*$/.test(digits)) return 0n;
  const power = Number(exponent) - fraction.length;
  if (power >= 0) return BigInt(`${sign}${digits}${'0'.repeat(power)}`);
  return /^0*$/.test(digits.slice(power)) ? BigInt(sign + digits.slice(0, power)) : undefined;
}

/** A number that a double cannot hold, or that JavaScript would write differently, as 1.0. */
export class WrittenNumber {
  readonly json: string;
  readonly text: string;

  constructor(json: string, text = json) {
    this.json = json;
    this.text = text;
  }

  toString(): string {
    return this.json;
  }
}

export function keepNumber(literal: string): unknown {
  const value = parseNumber(literal);
  return String(value) === literal ? value : new WrittenNumber(literal);
}

export function numberText(value: unknown): string {
  return value instanceof WrittenNumber ? value.text : String(value);
}

/** Evaluates a `WrittenNumber` as `parseNumber` does. Other values stay as they are. */
export function plainNumber(value: unknown): unknown {
  return value instanceof WrittenNumber ? parseNumber(value.json) : value;
}
