import { LosslessNumber } from 'lossless-json';

/** In characters: evaluating a longer number would take too long. */
const MAX_NUMBER_LENGTH = 400;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Evaluates a number in JSON: a bigint for an integer that a double cannot hold, such as
 * 9007199254740993 or 1e18 (JSON Schema counts that as one). What neither can hold, such as 1e400,
 * stays as it is.
 */
export function parseNumber(literal: string): unknown {
  const double = Number(literal);
  if (literal.length > MAX_NUMBER_LENGTH || !Number.isFinite(double)) {
    return new LosslessNumber(literal);
  }
  if (!Number.isInteger(double)) return double;
  // The double may have been rounded: from a fraction, or from another integer.
  const integer = parseInteger(literal);
  if (integer === undefined) return new LosslessNumber(literal);
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

/** A number that JavaScript would write otherwise than its source, such as 1.0 or, in YAML, 007. */
export class WrittenNumber extends LosslessNumber {
  readonly text: string;

  constructor(json: string, text = json) {
    super(json);
    this.text = text;
  }
}

export function keepNumber(literal: string): unknown {
  const value = parseNumber(literal);
  return String(value) === literal ? value : new WrittenNumber(literal);
}

export function numberText(value: unknown): string {
  return value instanceof WrittenNumber ? value.text : String(value);
}

/** What `keepNumber` has kept, as `parseNumber` evaluates it. Other values stay. */
export function plainNumber(value: unknown): unknown {
  return value instanceof WrittenNumber ? parseNumber(value.value) : value;
}
