/** The range of an int64, both ends included. */
export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

/** An integer as JSON writes it (RFC 8259, section 6): no plus sign, no leading zero. */
const INTEGER = /^-?(?:0|[1-9]\d*)$/;

/** Digits of the longest int64, its sign included: anything longer is out of range unread. */
const INT64_MAX_LENGTH = 20;

/** Characters of an integer that a double holds exactly, whatever they are. */
const DOUBLE_LENGTH = 15;

/** Whether `text` spells an integer of any size the way JSON does. */
export function isIntegerText(text: string): boolean {
  return INTEGER.test(text);
}

/**
 * Reads an int64 from its decimal digits, exactly.
 *
 * @returns the value, or undefined where `text` is no integer or lies outside -2^63 to 2^63-1
 * @example parseInt64('9007199254740993') // 9007199254740993n
 */
export function parseInt64(text: string): bigint | undefined {
  if (text.length > INT64_MAX_LENGTH || !INTEGER.test(text)) return undefined;
  return text.length <= DOUBLE_LENGTH ? BigInt(Number(text)) : toInt64(BigInt(text));
}

/**
 * Takes a parsed JSON value (see `parseJson`) as an int64.
 *
 * @returns the value, or undefined where it is no integer, was rounded by a double, or is out of range
 */
export function toInt64(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== 'bigint') return undefined;
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}
