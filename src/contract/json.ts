import { parse as parseExactly, stringify as stringifyExactly } from 'lossless-json';

/** Text in which a double could lose a digit: 16 digits, a point among them or not, or a number with an exponent. */
const MAY_LOSE_DIGITS = /(?:\d\.?){16}|\d[eE]/;

/** A fraction of zeros changes no value: JSON Schema counts 1.0 as an integer. */
const ZERO_FRACTION = /\.0+$/;

/**
 * Parses JSON without losing a digit of an integer.
 *
 * An integer that a double holds comes back as a number, a larger one as a bigint. Text that can
 * lose nothing takes the engine's own parser, which is many times faster.
 *
 * @throws SyntaxError where `text` is not JSON, RangeError where it is nested too deep to read
 * @example parseJson('{"id":9007199254740993}') // { id: 9007199254740993n }
 */
export function parseJson(text: string): unknown {
  return MAY_LOSE_DIGITS.test(text)
    ? parseExactly(text, undefined, { parseNumber, onDuplicateKey: ({ newValue }) => newValue })
    : JSON.parse(text);
}

function parseNumber(literal: string): number | bigint {
  const integer = literal.replace(ZERO_FRACTION, '');
  if (/^-?\d+$/.test(integer)) {
    const exact = BigInt(integer);
    const rounded = Number(exact);
    return Number.isSafeInteger(rounded) ? rounded : exact;
  }
  const value = Number(literal);
  // More than 15 digits with a fraction may round to an integer that was never written.
  const digits = literal.replace(/[eE].*$/, '').replace(/\D/g, '').length;
  return Number.isInteger(value) && digits > 15 ? Number.NaN : value;
}

/** What a file of JSON holds, or why it holds none. */
export type JsonReading =
  | { readonly ok: true; readonly value: unknown }
  /** `FILE:LINE:COLUMN: expected JSON: …`, or without the place where none can be told. */
  | { readonly ok: false; readonly problem: string };

/**
 * Parses the text of a file.
 *
 * @param file what a problem calls it
 */
export function readJson(file: string, text: string): JsonReading {
  // Some editors begin a file with a byte order mark, which is no JSON.
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  try {
    return { ok: true, value: parseJson(json) };
  } catch (error) {
    const problem =
      error instanceof RangeError
        ? `${file}: expected JSON, found JSON that is nested too deep to read`
        : notJson(file, json, String(error));
    return { ok: false, problem };
  }
}

/** Where and why a text is not JSON, the same on every version of Node, whose own parser varies. */
function notJson(file: string, text: string, reason: string): string {
  const [, why, digits] = /^(.*) at position (\d+)$/s.exec(firstError(text)) ?? [];
  if (why === undefined || digits === undefined) return `${file}: expected JSON: ${reason}`;
  const before = text.slice(0, Number(digits)).split('\n');
  const column = (before.at(-1) ?? '').length + 1;
  return `${file}:${before.length}:${column}: expected JSON: ${why}`;
}

function firstError(text: string): string {
  try {
    parseExactly(text);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Writes JSON with a bigint as its digits. Members that are undefined are left out.
 *
 * @param indent spaces of indentation a level; 0 writes one line
 */
export function writeJson(value: object, indent = 0): string {
  return stringifyExactly(value, undefined, indent) ?? '';
}
