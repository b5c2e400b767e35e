import { DATE_TIME, FIELD_TYPES } from '../contract/records.ts';
import type { Expiry } from '../service/keyring.ts';
import { readAs, type Shape, scalar } from '../shape/shapes.ts';
import { DURATION, parseDuration } from './duration.ts';

/** The end of the years with four digits. */
const YEAR_10000 = Date.UTC(10_000, 0);

/** An instant that a clock can show, in milliseconds since 1970. */
export const INSTANT: Shape<number> = scalar({
  kinds: ['string'],
  expected: 'an RFC 3339 instant from 1970 to 9999 such as "2030-12-06T00:00:00Z"',
  schema: {
    ...FIELD_TYPES.dateTime.schema,
    pattern: DATE_TIME.source.replace('\\d{4}', '(?:19[7-9]\\d|[2-9]\\d{3})'),
  },
  read(value) {
    const instant = Date.parse(FIELD_TYPES.dateTime.read(value) ?? '');
    return instant >= 0 && instant < YEAR_10000 ? instant : undefined;
  },
});

const DURATION_TEXT: Shape<number> = scalar({
  kinds: ['string'],
  expected: 'a duration such as "PT10M"',
  schema: { type: 'string', pattern: DURATION.source },
  read: (value) => (typeof value === 'string' ? parseDuration(value) : undefined),
});

/** How far to move a clock, in milliseconds. Negative moves it back. */
export const SHIFT: Shape<number> = scalar({
  kinds: ['string'],
  expected:
    'an ISO 8601 duration of weeks, days, hours, minutes and seconds such as "P30D" or "-PT10M"',
  schema: {
    type: 'string',
    pattern: DURATION.source.replace('^', '^-?'),
    examples: ['P30D', 'PT10M', '-PT1H'],
  },
  read(value) {
    if (typeof value !== 'string') return undefined;
    const milliseconds = parseDuration(value.replace(/^-/, ''));
    return value.startsWith('-') && milliseconds !== undefined ? -milliseconds : milliseconds;
  },
});

/** When a key expires. */
export const EXPIRY: Shape<Expiry> = scalar({
  kinds: ['string'],
  expected:
    'a duration after the start such as "PT10M", or an instant such as "2030-12-06T00:00:00Z"',
  schema: { anyOf: [DURATION_TEXT.schema, INSTANT.schema] },
  read(value) {
    const after = readAs(DURATION_TEXT, value);
    if (after.ok) return { kind: 'after', milliseconds: after.value };
    const at = readAs(INSTANT, value);
    return at.ok ? { kind: 'at', instant: at.value } : undefined;
  },
});
