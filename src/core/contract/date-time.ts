import { scalar } from '../shape/shapes.ts';

/** A full date, `T`, a time, and `Z` or an offset (RFC 3339, section 5.6). */
const FORM =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

const LEAP_SECOND = /:60(?=[.Zz+-])/;

export const DAY_MS = 86_400_000;

/** Milliseconds since 1970, a leap second as the next one; undefined if it is no date-time. */
export function parseDateTime(text: string): number | undefined {
  if (!FORM.test(text)) return undefined;
  // Date.parse reads February 30 as March 2.
  const day = text.slice(0, 'yyyy-mm-dd'.length);
  if (new Date(day).getUTCDate() !== Number(day.slice(-2))) return undefined;
  if (!LEAP_SECOND.test(text)) return Date.parse(text);
  const second = Date.parse(text.replace(LEAP_SECOND, ':59')) + 1000;
  // Only the last minute of a day in UTC can have a leap second.
  return Math.floor(second / 1000) % (DAY_MS / 1000) === 0 ? second : undefined;
}

export type DateFormat = 'utc-seconds' | 'utc-millis' | 'offset';

/** The format of the option `utc-seconds`, which fixtures and generated stores also use. */
const UTC_SECONDS = /^(\d{4}-\d\d-\d\dT)(\d\d)(:\d\d:\d\d)Z$/;

const WRITTEN_OFFSET = '+02:00';
const WRITTEN_OFFSET_HOURS = 2;

/** The same instant in another format. Unchanged if its year would not have four digits there. */
export function formatDateTime(text: string, format: DateFormat): string {
  const [, day, hour = '', rest] = UTC_SECONDS.exec(text) ?? [];
  const localHour = Number(hour) + WRITTEN_OFFSET_HOURS;
  // This avoids Date: formatting a list of 100,000 orders would block other requests.
  if (day !== undefined && format === 'utc-seconds') return text;
  if (day !== undefined && format === 'utc-millis') return `${day}${hour}${rest}.000Z`;
  if (day !== undefined && localHour < 24) {
    return `${day}${String(localHour).padStart(2, '0')}${rest}${WRITTEN_OFFSET}`;
  }
  const isLeap = LEAP_SECOND.test(text);
  const instant = Date.parse(isLeap ? text.replace(LEAP_SECOND, ':59') : text);
  const shift = format === 'offset' ? WRITTEN_OFFSET_HOURS * 3_600_000 : 0;
  const utc = new Date(instant + shift).toISOString();
  if (!/^\d/.test(utc)) return text;
  const written = isLeap ? utc.replace(/:59(?=\.)/, ':60') : utc;
  if (format === 'utc-millis') return written;
  return written.replace(/\.\d{3}Z$/, format === 'offset' ? WRITTEN_OFFSET : 'Z');
}

export const DATE_TIME = scalar<string>(
  'an ISO 8601 date-time such as "2026-11-21T09:30:00Z"',
  { type: 'string', format: 'date-time' },
  (value) => (typeof value === 'string' && parseDateTime(value) !== undefined ? value : undefined),
);
