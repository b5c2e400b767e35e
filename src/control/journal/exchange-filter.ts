import { COUNT, EXCHANGE_FILTER, FILTER_MEMBERS } from '../../evidence/report-shapes.ts';
import { object, optional } from '../../shape/objects.ts';
import { choice, integer, named } from '../../shape/shapes.ts';

/** The most exchanges that all streams together send per second. */
export const MOST_PER_SECOND = 2_000;

/** Exchanges that a stream can be behind its journal before it skips the oldest. */
export const MOST_BEHIND = 1_000;

/** The most exchanges that a list holds without a limit. */
export const MOST_EXCHANGES = 100_000;

/** A filter of exchanges: all members must match. */
export const FILTER = named('ExchangeFilter', EXCHANGE_FILTER);

/** A filter, and how many exchanges to stream. */
export const STREAM_FILTER = object({
  ...FILTER_MEMBERS,
  perSecond: optional(
    integer(1, MOST_PER_SECOND),
    `Send at most this many exchanges per second and skip the others; ${MOST_PER_SECOND} by default.`,
  ),
});

/** A filter, how many exchanges to return, and their order. */
export const LIMITED_FILTER = object({
  ...FILTER_MEMBERS,
  limit: optional(
    COUNT,
    `Return only this many of the latest exchanges; ${MOST_EXCHANGES} by default.`,
  ),
  order: optional(choice(['asc', 'desc']), '`desc` lists the newest first; `asc` is the default.'),
});
