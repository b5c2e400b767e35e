import { OPERATION_IDS } from '../../contract/operations.ts';
import type { ExchangeFilter } from '../../evidence/journal.ts';
import { INSTANT } from '../../scenario/time-shapes.ts';
import { object, optional } from '../../shape/objects.ts';
import { ANY_TEXT, choice, integer, named, type Shape } from '../../shape/shapes.ts';
import { BASIS, COUNT } from '../control-shapes.ts';

/** The most exchanges that all streams together send per second. */
export const MOST_PER_SECOND = 2_000;

/** Exchanges that a stream can be behind its journal before it skips the oldest. */
export const MOST_BEHIND = 1_000;

/** The most exchanges that a list holds without a limit. */
export const MOST_EXCHANGES = 100_000;

const MEMBERS = {
  operation: optional(choice(OPERATION_IDS), 'Exchanges of this operation.'),
  status: optional(integer(100, 999, 'an HTTP status'), 'Exchanges with this status.'),
  basis: optional(BASIS, 'Exchanges whose reply has this basis.'),
  method: optional(ANY_TEXT, 'Exchanges with this HTTP method.'),
  key: optional(ANY_TEXT, 'Exchanges with this API key (the whole key).'),
  from: optional(INSTANT, 'Exchanges at or after this instant.'),
  to: optional(INSTANT, 'Exchanges at or before this instant.'),
  after: optional(COUNT, 'Exchanges with a higher number.'),
  before: optional(COUNT, 'Exchanges with a lower number.'),
  text: optional(ANY_TEXT, 'Exchanges whose target, reasons or bodies contain this, in any case.'),
};

/** A filter of exchanges: all members must match. */
export const FILTER: Shape<ExchangeFilter> = named('ExchangeFilter', object(MEMBERS));

/** A filter, and how many exchanges to stream. */
export const STREAM_FILTER = object({
  ...MEMBERS,
  perSecond: optional(
    integer(1, MOST_PER_SECOND),
    `Send at most this many exchanges per second and skip the others; ${MOST_PER_SECOND} by default.`,
  ),
});

/** A filter, how many exchanges to return, and their order. */
export const LIMITED_FILTER = object({
  ...MEMBERS,
  limit: optional(
    COUNT,
    `Return only this many of the latest exchanges; ${MOST_EXCHANGES} by default.`,
  ),
  order: optional(choice(['asc', 'desc']), '`desc` lists the newest first; `asc` is the default.'),
});
