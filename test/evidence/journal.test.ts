import { describe, expect, test } from 'vitest';
import {
  hasKey,
  observedExchange,
  reasonsFor,
  shownHeaders,
  shownKey,
} from '../../src/evidence/exchange.ts';
import { Journal } from '../../src/evidence/journal.ts';
import { exchangeOf } from '../../src/evidence/make-exchange.ts';
import type { ExchangeFilter } from '../../src/evidence/report-shapes.ts';
import { Evidence } from '../../src/evidence/sandbox-evidence.ts';
import { EMPTY_STORE } from '../../src/store/store.ts';
import { callOf, requestOf } from '../helpers/call.ts';
import { exchangeWith } from '../helpers/exchange.ts';
import { worldWith } from '../helpers/world.ts';

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

  test('keeps nothing with a capacity of 0', () => {
    const journal = journalOf(0, 5);
    expect([numbers(journal), journal.dropped]).toEqual([[], 5]);
  });

  test('keeps numbering after it is cleared, with nothing dropped', () => {
    const journal = journalOf(3, 5);
    journal.clear();
    expect(journal.dropped).toBe(0);
    journal.add(exchangeWith());
    expect(numbers(journal)).toEqual([6]);
  });

  test('marks a count as incomplete if a dropped exchange could match', () => {
    const journal = journalOf(3, 5);
    expect(journal.isComplete({})).toBe(false);
    expect(journal.isComplete({ from: 2 })).toBe(false);
    expect(journal.isComplete({ from: 4 })).toBe(true);
    expect(journal.isComplete({ after: 1 })).toBe(false);
    expect(journal.isComplete({ after: 2 })).toBe(true);
    expect(journalOf(3, 3).isComplete({})).toBe(true);
  });

  test('is as it was after it is written and read as JSON', () => {
    const journal = journalOf(3, 5);
    const read = new Journal(3, JSON.parse(JSON.stringify(journal.state)));
    for (const each of [journal, read]) each.add(exchangeWith({ at: 6 }));
    expect(JSON.stringify(read.state)).toBe(JSON.stringify(journal.state));
    expect([numbers(read), read.isComplete({ from: 3 })]).toEqual([[6, 5, 4], false]);
  });

  test('can be searched by operation, status, basis, method, key and time', () => {
    const journal = new Journal(10);
    journal.add(exchangeWith({ at: 1, status: 200, authorization: 'Bearer demo-key' }));
    journal.add(
      exchangeWith({
        at: 2,
        method: 'DELETE',
        operation: 'cancelOrder',
        status: 404,
        basis: { kind: 'assumed', by: ['unknown-pet=404'] },
        authorization: 'Bearer k',
      }),
    );
    const found = (filter: ExchangeFilter) => numbers(journal, filter);
    expect(found({ operation: 'listPets' })).toEqual([1]);
    expect(found({ status: 404 })).toEqual([2]);
    expect(found({ basis: 'assumed' })).toEqual([2]);
    expect(found({ method: 'GET' })).toEqual([1]);
    expect(found({ key: 'demo-key' })).toEqual([1]);
    expect(found({ key: 'demo' })).toEqual([]);
    expect(found({ from: 2 })).toEqual([2]);
    expect(found({ to: 1 })).toEqual([1]);
    expect(found({ text: 'UNKNOWN-PET' })).toEqual([2]);
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

  test('gives its reasons in words', () => {
    const by = ['cancel-again=409'];
    const reason = 'order 3 is already cancelled';
    const reasons = [
      exchangeWith(),
      exchangeWith({ basis: { kind: 'assumed', by }, reason }),
      exchangeWith({ basis: { kind: 'assumed', by: [] } }),
    ].map(reasonsFor);
    expect(reasons).toEqual([
      ['as the document prescribes'],
      ['assumption cancel-again=409', reason],
      ['as HTTP requires'],
    ]);
  });

  test('is cut where a client sent much', () => {
    const call = { ...callOf('createPet', Buffer.alloc(1 << 20, 'x')), path: '/'.repeat(10_000) };
    const headers = Array.from({ length: 1000 }, () => ['X-Long', 'y'.repeat(100)]).flat();
    const { requestHeaders, target, requestBody, requestCut } = exchangeOf(
      requestOf(call, { headers }),
      { kind: 'fault', fault: { kind: 'reset' }, reply: undefined, delay: 0 },
      {
        world: worldWith(EMPTY_STORE),
        now: { wall: 0, steady: 0 },
        frozen: false,
        isNext: true,
        evidence: new Evidence('default', { journal: 10, maxHold: 1000 }),
      },
    );
    expect([target.length, requestBody?.length, requestCut]).toEqual([2048, 4096, true]);
    expect(requestHeaders.join('').length).toBeLessThanOrEqual(4096);
  });
});
