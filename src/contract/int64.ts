/** The range of an int64, inclusive. */
export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

/** An integer as JSON writes it (RFC 8259, section 6): no plus sign, no leading zero. */
const INTEGER = /^-?(?:0|[1-9]\d*)$/;

/** The most characters of an int64, including the sign. */
const INT64_MAX_LENGTH = 20;

/** A double holds any integer of up to this many characters. */
const DOUBLE_LENGTH = 15;

/** Whether a text is an integer in JSON, of any size. */
export function isIntegerText(text: string): boolean {
  return INTEGER.test(text);
}

/**
 * Parses an int64 exactly.
 *
 * @returns undefined if `text` is not an integer from -2^63 to 2^63-1
 * @example parseInt64('9007199254740993') // 9007199254740993n
 */
export function parseInt64(text: string): bigint | undefined {
  if (text.length > INT64_MAX_LENGTH || !INTEGER.test(text)) return undefined;
  return text.length <= DOUBLE_LENGTH ? BigInt(Number(text)) : toInt64(BigInt(text));
}

/**
 * Converts a JSON value (see `parseJson`) to an int64.
 *
 * @returns undefined if the value is not an integer in range, or a double may have rounded it
 */
export function toInt64(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== 'bigint') return undefined;
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}
