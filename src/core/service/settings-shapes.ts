import {
  ASSUMPTION_IDS,
  type AssumptionId,
  assumptionShape,
  type Choices,
  choicePattern,
  isOptionOf,
  optionsOf,
} from '../contract/assumption-table.ts';
import { DATE_TIME, DAY_MS, parseDateTime } from '../contract/date-time.ts';
import { type Member, object, optional } from '../shape/objects.ts';
import { type Shape, scalar, withTypes } from '../shape/shapes.ts';
import { joinWords } from '../words.ts';
import { LATEST } from './clock.ts';
import type { Expiry } from './keyring.ts';

/** Five minutes, in milliseconds. */
export const MAX_DELAY_MS = 300_000;

const UNITS = [7 * DAY_MS, DAY_MS, 3_600_000, 60_000, 1000] as const;

/** ISO 8601 durations of weeks to seconds. Years and months have no fixed length. */
const DURATION =
  /^P(?=\d|T\d)(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,3})?)S)?)?$/;

/** Writes a duration in the largest unit that divides it. */
export function writeDuration(milliseconds: number): string {
  if (milliseconds % DAY_MS === 0) return `P${milliseconds / DAY_MS}D`;
  const minutes = milliseconds / 60_000;
  return Number.isInteger(minutes) ? `PT${minutes}M` : `PT${milliseconds / 1000}S`;
}

export function parseDuration(text: string): number | undefined {
  const counts = DURATION.exec(text)?.slice(1);
  if (counts === undefined) return undefined;
  return Math.round(
    UNITS.reduce<number>((sum, unit, index) => sum + unit * Number(counts[index] ?? 0), 0),
  );
}

function readInstant(value: unknown): number | undefined {
  const instant = typeof value === 'string' ? parseDateTime(value) : undefined;
  return instant !== undefined && instant >= 0 && instant <= LATEST ? instant : undefined;
}

/** An instant: an RFC 3339 date-time in JSON, milliseconds since 1970 in the code. */
export const INSTANT = scalar<number, string>(
  'an RFC 3339 instant from 1970 to 9999 such as "2030-12-06T00:00:00Z"',
  DATE_TIME.schema,
  readInstant,
);

/** How far to move a clock, in milliseconds. A negative shift moves it back. */
export const SHIFT = scalar<number, string>(
  'an ISO 8601 duration of weeks, days, hours, minutes and seconds such as "P30D" or "-PT10M"',
  {
    type: 'string',
    pattern: DURATION.source.replace('^', '^-?'),
    examples: ['P30D', 'PT10M', '-PT1H'],
  },
  (value) => {
    const milliseconds = parseDuration(String(value).replace(/^-/, ''));
    return String(value).startsWith('-') && milliseconds ? -milliseconds : milliseconds;
  },
);

function duration(expected: string, min: number, max: number) {
  return scalar<number, string>(expected, { type: 'string', pattern: DURATION.source }, (value) => {
    const milliseconds = parseDuration(String(value)) ?? Number.NaN;
    return milliseconds >= min && milliseconds <= max ? milliseconds : undefined;
  });
}

export const IDLE_TIME = duration(
  'an ISO 8601 duration from "PT1S" on, such as "PT12H"',
  1_000,
  Number.POSITIVE_INFINITY,
);

export const LAG_TIME = duration('an ISO 8601 duration up to "PT5M"', 1, MAX_DELAY_MS);

export const WAIT_TIME = duration('an ISO 8601 duration up to "PT60S"', 0, 60_000);

export const HOLD_TIME = duration('an ISO 8601 duration up to "P1D", such as "PT5M"', 1, UNITS[1]);

export const EXPIRY = scalar<Expiry, string>(
  'a duration after the start such as "PT10M", or an instant such as "2030-12-06T00:00:00Z"',
  { type: 'string', anyOf: [{ pattern: DURATION.source }, DATE_TIME.schema] },
  (value) => {
    const milliseconds = parseDuration(String(value));
    if (milliseconds !== undefined) return { kind: 'after', milliseconds };
    const instant = readInstant(value);
    return instant === undefined ? undefined : { kind: 'at', instant };
  },
);

function optionMember(id: AssumptionId): Member<string> {
  const { question, options } = assumptionShape(id);
  const names = optionsOf(id);
  const unquoted = names
    .filter((name) => /^(?:\d+|null)$/.test(name))
    .map((name) => JSON.parse(name));
  const meanings = options.map(({ name, meaning }) => `${name}: ${meaning}`).join('; ');
  const shape = scalar(
    id === 'rate-limit' ? 'none, or a rate such as 10/s or 600/m' : joinWords(names, 'or'),
    id === 'rate-limit'
      ? { type: 'string', examples: names, pattern: `^${choicePattern(id)}$` }
      : { type: ['string', 'number', 'null'], enum: [...names, ...unquoted] },
    (value) => {
      // Without quotes, YAML and JSON read some options as a number or null.
      const option = typeof value === 'number' || value === null ? String(value) : value;
      return typeof option === 'string' && isOptionOf(id, option) ? option : undefined;
    },
    names,
  );
  return optional(shape, `${question} ${meanings}.`);
}

export const ASSUME: Shape<Partial<Choices>, Partial<Choices>> = withTypes(
  object(Object.fromEntries(ASSUMPTION_IDS.map((id) => [id, optionMember(id)])), {
    expected: 'an object of options by assumption',
    expectedName: 'an assumption that "petstore-mock assumptions" lists',
  }),
);
