import { DATE_TIME, FIELD_TYPES } from '../contract/records.ts';
import type { Expiry } from '../service/keyring.ts';
import { scalar } from '../shape/shapes.ts';

/** In milliseconds: five minutes. */
export const LONGEST_DELAY = 300_000;

/** Milliseconds of a week, a day, an hour, a minute and a second. */
const UNITS = [7 * 86_400_000, 86_400_000, 3_600_000, 60_000, 1000];

/** Weeks, days, hours, minutes and seconds. Years and months have no fixed length. */
const DURATION =
  /^P(?=\d|T\d)(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,3})?)S)?)?$/;

/**
 * Reads an ISO 8601 duration.
 *
 * @returns milliseconds, or undefined if the text is not a duration
 * @example parseDuration('PT10M') // 600000
 */
export function parseDuration(text: string): number | undefined {
  const counts = DURATION.exec(text)?.slice(1);
  if (counts === undefined) return undefined;
  const sum = UNITS.reduce((sum, unit, index) => sum + unit * Number(counts[index] ?? 0), 0);
  return Math.round(sum);
}

/** The end of the years with four digits. */
const YEAR_10000 = Date.UTC(10_000, 0);

const INSTANT_SCHEMA = {
  ...FIELD_TYPES.dateTime.schema,
  pattern: DATE_TIME.source.replace('\\d{4}', '(?:19[7-9]\\d|[2-9]\\d{3})'),
};

function readInstant(value: unknown): number | undefined {
  const instant = Date.parse(FIELD_TYPES.dateTime.read(value) ?? '');
  return instant >= 0 && instant < YEAR_10000 ? instant : undefined;
}

/** An instant that a clock can show, in milliseconds since 1970. */
export const INSTANT = scalar(
  'an RFC 3339 instant from 1970 to 9999 such as "2030-12-06T00:00:00Z"',
  INSTANT_SCHEMA,
  readInstant,
);

/** How far to move a clock, in milliseconds. Negative moves it back. */
export const SHIFT = scalar(
  'an ISO 8601 duration of weeks, days, hours, minutes and seconds such as "P30D" or "-PT10M"',
  {
    type: 'string',
    pattern: DURATION.source.replace('^', '^-?'),
    examples: ['P30D', 'PT10M', '-PT1H'],
  },
  (value) => {
    if (typeof value !== 'string') return undefined;
    const milliseconds = parseDuration(value.replace(/^-/, ''));
    return value.startsWith('-') && milliseconds !== undefined ? -milliseconds : milliseconds;
  },
);

/** How long a sandbox may be unused, in milliseconds. */
export const IDLE_TIME = scalar(
  'an ISO 8601 duration from "PT1S" on, such as "PT12H"',
  { type: 'string', pattern: DURATION.source, examples: ['PT12H', 'P7D'] },
  (value) => {
    const milliseconds = typeof value === 'string' ? parseDuration(value) : undefined;
    return milliseconds !== undefined && milliseconds >= 1000 ? milliseconds : undefined;
  },
);

/** A wait of at most a minute, in milliseconds. */
export const PATIENCE = scalar(
  'an ISO 8601 duration up to "PT60S"',
  { type: 'string', pattern: DURATION.source, examples: ['PT5S'] },
  (value) => {
    const milliseconds = typeof value === 'string' ? parseDuration(value) : undefined;
    return milliseconds !== undefined && milliseconds <= 60_000 ? milliseconds : undefined;
  },
);

/** The longest hold, in milliseconds. */
export const LONGEST_HOLD = scalar(
  'milliseconds or an ISO 8601 duration, up to a day, such as "PT5M"',
  {
    anyOf: [
      { type: 'integer', minimum: 1, maximum: 86_400_000 },
      { type: 'string', pattern: DURATION.source },
    ],
  },
  (value) => {
    const isCount = typeof value === 'number' || /^\d+$/.test(String(value));
    const milliseconds = isCount ? Number(value) : parseDuration(String(value));
    if (milliseconds === undefined || !Number.isInteger(milliseconds)) return undefined;
    return milliseconds >= 1 && milliseconds <= 86_400_000 ? milliseconds : undefined;
  },
);

/** When a key expires. */
export const EXPIRY = scalar<Expiry>(
  'a duration after the start such as "PT10M", or an instant such as "2030-12-06T00:00:00Z"',
  { type: 'string', anyOf: [{ pattern: DURATION.source }, INSTANT_SCHEMA] },
  (value) => {
    const milliseconds = typeof value === 'string' ? parseDuration(value) : undefined;
    if (milliseconds !== undefined) return { kind: 'after', milliseconds };
    const instant = readInstant(value);
    return instant === undefined ? undefined : { kind: 'at', instant };
  },
);
