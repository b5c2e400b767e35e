import { describe, expect, test } from 'vitest';
import type { Seen } from '../../src/evidence/exchange.ts';
import { Journal, type ObservedExchange } from '../../src/evidence/journal.ts';
import type { Outcome } from '../../src/scenario/outcome.ts';
import type { Reply } from '../../src/service/reply.ts';
import { callOf } from '../helpers/call.ts';

const SEEN: Seen = {
  method: 'GET',
  target: '/v1/pets',
  authorization: 'Bearer demo-key',
  call: callOf('listPets'),
  headers: [],
  connection: {},
  receivedAt: 0,
};

function replied(reply: Partial<Reply> = {}): Outcome {
  return {
    kind: 'reply',
    delay: 0,
    reply: {
      status: 200,
      headers: [],
      body: { kind: 'json', text: '[]' },
      basis: { kind: 'documented' },
      ...reply,
    },
  };
}

/** A journal that has seen a number of exchanges, a millisecond apart. */
function journalOf(capacity: number, count: number): Journal {
  const journal = new Journal('default', capacity, new Set());
  for (let at = 1; at <= count; at += 1) journal.record(at, SEEN, replied());
  return journal;
}

const numbers = (journal: Journal): number[] => [...journal.select()].map(({ number }) => number);

describe('the journal', () => {
  test('keeps the latest exchanges, oldest first, and counts those it dropped', () => {
    const journal = journalOf(3, 5);
    expect(numbers(journal)).toEqual([3, 4, 5]);
    expect(journal.dropped).toBe(2);
  });

  test('keeps nothing with a capacity of 0', () => {
    const journal = journalOf(0, 5);
    expect(numbers(journal)).toEqual([]);
  });

  test('keeps numbering after it is cleared, with nothing dropped', () => {
    const journal = journalOf(3, 5);
    journal.clear();
    expect(journal.dropped).toBe(0);
    journal.record(6, SEEN, replied());
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

  test('never shows more of a key than its first four characters', () => {
    const journal = new Journal('default', 2, new Set());
    journal.record(1, SEEN, replied());
    journal.record(2, { ...SEEN, authorization: 'Bearer abcd' }, replied());
    expect([...journal.select()].map(({ key }) => key)).toEqual(['demo…', 'a…']);
    expect(JSON.stringify([...journal.select()])).not.toMatch(/demo-key|abcd/);
  });

  test('can be searched by operation, status, basis, method, key and time', () => {
    const journal = new Journal('default', 10, new Set());
    journal.record(1, SEEN, replied());
    const assumed = { kind: 'assumed', by: ['unknown-pet=404'] } as const;
    const seen = { ...SEEN, method: 'DELETE', call: callOf('cancelOrder') } as const;
    journal.record(
      2,
      { ...seen, authorization: 'Bearer k' },
      replied({ status: 404, basis: assumed }),
    );
    const found = (filter: Parameters<Journal['select']>[0]) =>
      [...journal.select(filter)].map(({ number }) => number);
    expect(found({ operation: 'listPets' })).toEqual([1]);
    expect(found({ status: 404 })).toEqual([2]);
    expect(found({ basis: 'assumed' })).toEqual([2]);
    expect(found({ method: 'GET' })).toEqual([1]);
    expect(found({ key: 'demo-key' })).toEqual([1]);
    expect(found({ key: 'demo' })).toEqual([]);
    expect(found({ from: 2 })).toEqual([2]);
    expect(found({ to: 1 })).toEqual([1]);
  });

  test('gives the reasons in words', () => {
    const journal = new Journal('default', 10, new Set());
    const by = ['cancel-again=409'];
    const reason = 'order 3 is already cancelled';
    journal.record(1, SEEN, replied());
    journal.record(2, SEEN, replied({ status: 409, basis: { kind: 'assumed', by }, reason }));
    journal.record(3, SEEN, replied({ status: 204, basis: { kind: 'assumed', by: [] } }));
    expect([...journal.select()].map(({ why }) => why)).toEqual([
      ['as the document prescribes'],
      ['assumption cancel-again=409', reason],
      ['as HTTP requires'],
    ]);
  });

  test('truncates long targets and bodies, and keeps no part of the socket', () => {
    const journal = new Journal('default', 1, new Set());
    const wide = Buffer.alloc(1 << 20, 'x');
    journal.record(
      1,
      { ...SEEN, target: '/'.repeat(10_000), call: callOf('createPet', wide) },
      replied(),
    );
    const [exchange] = journal.select();
    expect(exchange?.target.length).toBe(2048);
    expect(exchange?.requestBody?.length).toBe(4096);
    expect(exchange?.requestBody?.buffer).not.toBe(wide.buffer);
  });

  test('gives observers a frozen copy that they can keep', () => {
    const seen: ObservedExchange[] = [];
    const observers = new Set([
      (_sandbox: string, exchange: ObservedExchange) => seen.push(exchange),
    ]);
    const journal = new Journal('one', 1, observers);
    journal.record(1, SEEN, replied());
    journal.record(2, { ...SEEN, target: '/v1/inventory' }, replied());
    expect(seen.map(({ number, target }) => [number, target])).toEqual([
      [1, '/v1/pets'],
      [2, '/v1/inventory'],
    ]);
    expect(seen.every((exchange) => Object.isFrozen(exchange))).toBe(true);
  });

  test('notifies observers of every exchange, even with a capacity of 0', () => {
    const seen: string[] = [];
    const observers = new Set([
      (sandbox: string, { target }: { target: string }) => {
        seen.push(`${sandbox} ${target}`);
      },
    ]);
    new Journal('one', 0, observers).record(1, SEEN, replied());
    expect(seen).toEqual(['one /v1/pets']);
  });
});
