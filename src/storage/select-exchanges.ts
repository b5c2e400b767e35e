import type { Exchange, HeldExchange } from '../sandbox/exchange.ts';
import { type ExchangeFilter, passes } from '../sandbox/exchange-filter.ts';
import type { JournalPage, JournalQuery, JournalSize } from '../sandbox/storage.ts';

/** Whether a filter means held replies: there can be more than the journal keeps. */
export function includesHeld({ hold, held }: ExchangeFilter): boolean {
  return hold !== undefined || held === true;
}

/**
 * Selects exchanges of a journal.
 *
 * @param kept the newest first
 * @param held the oldest first
 */
export function selectExchanges(
  { number, size, dropped }: JournalSize,
  kept: Iterable<Exchange>,
  held: readonly HeldExchange[],
  { filter = {}, limit = Number.POSITIVE_INFINITY }: JournalQuery,
): JournalPage {
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
  if (includesHeld(filter))
    held
      .filter((it) => it.number < oldest)
      .reverse()
      .forEach(take);
  const { from = Number.NEGATIVE_INFINITY, after = 0 } = filter;
  // No dropped exchange can match, as long as the clock was not set back.
  const isComplete = dropped === 0 || from > oldestAt || after >= oldest - 1;
  return { exchanges, total, dropped, number, isComplete };
}
