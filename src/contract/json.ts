import { isNumber, LosslessNumber, parse, stringify as stringifyExactly } from 'lossless-json';

/** Text in which a double could lose a digit: 16 digits, a fraction, or an exponent. */
const MAY_LOSE_DIGITS = /\d{16}|\d[.eE]/;

/** Characters of a number that are looked at. Taking in longer ones could take any time. */
const LONGEST_NUMBER = 400;

/** Digits of an integer that are taken in: twice as many as the longest int64 has. */
const MOST_DIGITS = 40;

/** Characters of a number that a double holds, whatever they are, as long as there is no exponent. */
const LONGEST_SAFE = 15;

/** Most integers that no double holds. */
const DIGITS = /^-?\d{1,20}$/;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Parses JSON without losing a digit of an integer.
 *
 * Numbers come back as `numberOf` gives them. Text that can lose nothing takes the engine's own
 * parser, which is many times faster.
 *
 * @throws SyntaxError where `text` is not JSON, RangeError where it is nested too deep to read
 * @example parseJson('{"id":9007199254740993}') // { id: 9007199254740993n }
 */
export function parseJson(text: string): unknown {
  return MAY_LOSE_DIGITS.test(text) ? parseExactly(text) : JSON.parse(text);
}

/** Marks a number while it is a string. Drawn in each process, so that no client can write it. */
const MARK = `${Math.random().toString(36).slice(2, 10)} `;

/**
 * Turns the numbers in question into marked strings and leaves the rest to the engine's parser.
 *
 * lossless-json's own parser is as fast on lists of records, but it joins strings character by
 * character: one of 15 MB blocks the process for 8 s and fills 500 MB, where this takes 0.1 s.
 */
function parseExactly(text: string): unknown {
  try {
    return unmarked(JSON.parse(markNumbers(text)));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The original text fails too, with the right reason and position.
    return JSON.parse(text);
  }
}

function markNumbers(text: string): string {
  const pieces: string[] = [];
  let copied = 0;
  const quoteOrNumber = /"|-?\d[\d.eE+-]*/g;
  for (;;) {
    const found = quoteOrNumber.exec(text);
    if (found === null) break;
    const [token] = found;
    if (token === '"') quoteOrNumber.lastIndex = endOfString(text, found.index);
    else if (mayLoseDigits(token)) {
      pieces.push(text.slice(copied, found.index), `"${MARK}${token}"`);
      copied = quoteOrNumber.lastIndex;
    }
  }
  pieces.push(text.slice(copied));
  return pieces.join('');
}

function mayLoseDigits(literal: string): boolean {
  return (literal.length > LONGEST_SAFE || /[eE]/.test(literal)) && isNumber(literal);
}

/** The position after a string's closing quote. A regular expression would run out of stack. */
function endOfString(text: string, opening: number): number {
  for (let at = opening + 1; ; ) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

/** Replaces marked strings by their numbers, at every depth. */
function unmarked(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.startsWith(MARK) ? numberOf(value.slice(MARK.length)) : value;
  }
  if (Array.isArray(value)) {
    const elements: unknown[] = value;
    for (let at = 0; at < elements.length; at += 1) elements[at] = unmarked(elements[at]);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (name.startsWith(MARK)) throw new SyntaxError('A number cannot be a name.');
      const plain = unmarked(member);
      if (plain !== member) Reflect.set(value, name, plain);
    }
  }
  return value;
}

/**
 * The value of a number as JSON writes it. An integer that a double holds is a number, a larger one
 * a bigint, also where it is written with a fraction of zeros or an exponent: JSON Schema counts 1.0
 * as an integer. What neither holds, such as 1e400, stays as it was written.
 *
 * @example numberOf('9007199254740993e0') // 9007199254740993n
 */
export function numberOf(literal: string): number | bigint | LosslessNumber {
  if (literal.length > LONGEST_NUMBER) return new LosslessNumber(literal);
  const double = Number(literal);
  // Too few digits for a double to round them to an integer, but for 0.
  if (literal.length <= LONGEST_SAFE && double !== 0 && Number.isSafeInteger(double)) return double;
  const integer = integerOf(literal);
  if (integer !== undefined) {
    const held = Number(integer);
    return Number.isSafeInteger(held) ? held : integer;
  }
  // A double of what is no integer may have been rounded to one that was never written.
  return Number.isFinite(double) && !Number.isInteger(double)
    ? double
    : new LosslessNumber(literal);
}

/** The integer that a number is, however it is written; undefined where it is none, or too long. */
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
  return `${file}:${before.length}:${column}: expected JSON: ${shortened(why)}`;
}

/** Characters of a reason at whose start stands what was found, and at whose end why it is wrong. */
const LONGEST_START = 80;
const LONGEST_END = 80;

/** A reason repeats the number that is wrong, which can be as long as the text. */
function shortened(why: string): string {
  if (why.length <= LONGEST_START + LONGEST_END) return why;
  return `${why.slice(0, LONGEST_START)}…${why.slice(-LONGEST_END)}`;
}

function firstError(text: string): string {
  try {
    parse(text);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Writes JSON with a bigint as its digits, and a number that no value holds as it was written.
 * Members that are undefined are left out.
 *
 * @param indent spaces of indentation a level; 0 writes one line
 */
export function writeJson(value: object, indent = 0): string {
  return stringifyExactly(value, undefined, indent) ?? '';
}
