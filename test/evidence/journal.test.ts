import { describe, expect, test } from 'vitest';
import { hasKey, observedExchange, shownHeaders, shownKey } from '../../src/evidence/exchange.ts';
import type { ExchangeFilter } from '../../src/evidence/exchange-filter.ts';
import { Journal } from '../../src/evidence/journal.ts';
import { exchangeWith } from '../helpers/exchange.ts';

/** A journal that has seen a number of exchanges, a millisecond apart. */
function journalOf(capacity: number, count: number): Journal {
  const journal = new Journal(capacity);
  for (let at = 1; at <= count; at += 1) journal.add(exchangeWith({ at }));
  return journal;
}

const numbers = (journal: Journal, filter?: ExchangeFilter): number[] =>
  [...journal.select(filter)].map(({ number }) => number);

describe('the journal', () => {
  test('keeps the latest exchanges, the latest first, and counts those it dropped', () => {
    const journal = journalOf(3, 5);
    expect(numbers(journal)).toEqual([5, 4, 3]);
    expect(journal.dropped).toBe(2);
    expect([2, 3, 5, 6].map((number) => journal.at(number)?.at)).toEqual([
      undefined,
      3,
      5,
      undefined,
    ]);
  });
});

describe('an exchange', () => {
  test('never shows more of a key than its first four characters', () => {
    const long = exchangeWith({ authorization: 'Bearer demo-key' });
    const short = exchangeWith({ authorization: 'Bearer abcd' });
    expect([long, short].map(shownKey)).toEqual(['demo…', 'a…']);
    expect(hasKey(long, 'demo-key')).toBe(true);
    const headers = ['Authorization', 'Bearer demo-key', 'Cookie', 'abcdefgh', 'Accept', '*/*'];
    const shown = ['Authorization', 'Bearer demo…', 'Cookie', 'abcd…', 'Accept', '*/*'];
    expect(shownHeaders(headers)).toEqual(shown);
    const observed = { ...observedExchange({ ...long, requestHeaders: headers }) };
    expect(JSON.stringify(observed)).not.toMatch(/demo-key|abcdefgh/);
  });
});
