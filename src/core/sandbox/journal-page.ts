import type { Exchange, ExchangeWithHold } from './exchange.ts';
import { type ExchangeFilter, passes } from './exchange-filter.ts';

export interface JournalQuery {
  readonly filter?: ExchangeFilter | undefined;
  /** How many exchanges to return, the latest ones. */
  readonly limit?: number | undefined;
  /** Whether the caller does not need the bodies. */
  readonly heads?: boolean | undefined;
}

export interface JournalPage {
  /** The matching exchanges, the newest first. */
  readonly exchanges: readonly Exchange[];
  readonly total: number;
  readonly dropped: number;
  readonly number: number;
  /** Whether the count is exact: no dropped exchange could match. */
  readonly isComplete: boolean;
}

export interface JournalSize {
  readonly number: number;
  readonly size: number;
  readonly dropped: number;
}

/** Whether a query is about held replies, which the journal may have dropped already. */
export function includesHeld({ filter = {} }: JournalQuery): boolean {
  return filter.hold !== undefined || filter.held === true;
}

/** `kept` begins with the newest exchange, `held` with the oldest. */
export function selectExchanges(
  { number, size, dropped }: JournalSize,
  kept: Iterable<Exchange>,
  held: readonly ExchangeWithHold[],
  query: JournalQuery,
): JournalPage {
  const { filter = {}, limit = Number.POSITIVE_INFINITY } = query;
  const oldest = number - size + 1;
  const exchanges: Exchange[] = [];
  let total = 0;
  let oldestAt = Number.POSITIVE_INFINITY;
  const take = (exchange: Exchange): void => {
    if (!passes(exchange, filter)) return;
    total += 1;
    if (total <= limit) exchanges.push(exchange);
  };
  for (const exchange of kept) {
    take(exchange);
    oldestAt = exchange.at;
  }
  if (includesHeld(query)) {
    for (const exchange of held.toReversed()) if (exchange.number < oldest) take(exchange);
  }
  const { from = Number.NEGATIVE_INFINITY, after = 0 } = filter;
  // Dropped exchanges are older than the kept ones, unless the clock was set back meanwhile.
  const isComplete = dropped === 0 || from > oldestAt || after >= oldest - 1;
  return { exchanges, total, dropped, number, isComplete };
}
