import { expect, test } from 'vitest';
import { LIMITS } from '../../../src/core/limits.ts';
import { Totals } from '../../../src/core/sandbox/coverage.ts';
import { Journal, MAX_REMEMBERED_BYTES, MemoryBudget } from '../../../src/core/sandbox/journal.ts';
import { createStart } from '../../../src/core/sandbox/start.ts';
import { initialState, type State } from '../../../src/core/sandbox/state.ts';
import { createReply, DOCUMENTED } from '../../../src/core/service/reply.ts';
import { createStore, EMPTY_STORE } from '../../../src/core/store/store.ts';
import { exchangeWith } from '../../helpers/exchange.ts';

const SIZE = 200_000;
const FITTING = Math.floor(MAX_REMEMBERED_BYTES / (SIZE + 1100));

const state: State = initialState(createStart({}, EMPTY_STORE), 0);

function openJournals() {
  const context = { capacity: 10_000, memory: new MemoryBudget(), formerTotals: new Totals() };
  const open = (name: string) => {
    const journal = new Journal(name, context);
    const add = (count: number): void => {
      for (let made = 0; made < count; made += 1) {
        const request = { headers: [], body: Buffer.from('{}'), size: SIZE };
        journal.add(exchangeWith({ request }), state, state);
      }
    };
    const edit = (kib: number): void => {
      const animals = Array.from({ length: kib / 50 }, (_, id) => ({
        id: BigInt(id + 1),
        name: 'x'.repeat(50 * 1024),
        categoryId: 1n,
      }));
      const before = { ...state, store: createStore({ animals }) };
      journal.addEdit({ what: 'changed', by: 'test' }, 0, before, state);
    };
    const undo = (): void => {
      journal.addEdit({ what: 'undid', by: 'test', isUndo: true }, 0, state, state);
    };
    return { journal, add, edit, undo };
  };
  return [open('one'), open('other')] as const;
}

test('a server remembers a number of bytes: the oldest of the sandbox used longest ago goes, and it is said', () => {
  const [one, other] = openJournals();
  one.add(FITTING - 10);
  other.add(5);
  expect(one.journal.size().dropped).toBe(0);
  other.add(25);
  const { dropped, size } = one.journal.size();
  expect(dropped).toBeGreaterThanOrEqual(20);
  expect(dropped + size).toBe(FITTING - 10);
  expect(other.journal.size()).toMatchObject({ dropped: 0, size: 30 });
  expect(one.journal.select({})).toMatchObject({ isComplete: false, dropped });
  expect(one.journal.find(dropped)).toBeUndefined();
  expect(one.journal.find(dropped + 1)?.request.size).toBe(SIZE);
  other.journal.close();
  one.add(30);
  expect(one.journal.size().dropped).toBe(dropped);
});

test.each([
  ['undone', ({ undo }: ReturnType<typeof openJournals>[0]) => undo()],
  ['forgotten', ({ journal }: ReturnType<typeof openJournals>[0]) => journal.forgetStates()],
])('the state before an edit that is %s takes no memory from other sandboxes', (_what, end) => {
  const [one, other] = openJournals();
  one.add(20);
  for (let count = 0; count < 6; count += 1) {
    other.edit(MAX_REMEMBERED_BYTES / 4 / 1024);
    end(other);
  }
  expect(one.journal.size()).toMatchObject({ dropped: 0, size: 20 });
});

test('a deleted sandbox counts for nothing, whatever calls under way still do with it', () => {
  const [one, other] = openJournals();
  const [alone] = openJournals();
  other.add(100);
  other.edit(50_000);
  other.journal.close();
  other.edit(50_000);
  other.edit(50_000);
  other.journal.clear('all');
  other.journal.close();
  for (const { add } of [one, alone]) add(FITTING + 10);
  expect(alone.journal.size().dropped).toBeGreaterThan(0);
  expect(one.journal.size()).toEqual(alone.journal.size());
});

test('states of undo share the budget with exchanges, but the latest edit of a sandbox stays', () => {
  const [one, other] = openJournals();
  one.edit(50_000);
  one.add(1);
  one.edit(50_000);
  one.add(1);
  other.add(FITTING - 100);
  // The first edit went, and made room.
  expect(one.journal.size()).toMatchObject({ dropped: 0, size: 2 });
  other.add(300);
  expect(one.journal.size().size).toBe(0);
  expect(one.journal.edits.last()).toBeDefined();
});

test('what a coded body becomes counts too, and a body that is long only then is not kept', () => {
  const [one, other] = openJournals();
  const replyWith = (length: number) => {
    const content = { body: Buffer.from([31]), mediaType: 'application/json' };
    const reply = { ...createReply(DOCUMENTED, 200, content), decoded: 'x'.repeat(length) };
    return exchangeWith({ reply });
  };
  one.journal.add(replyWith(LIMITS.keptBody + 1), state, state);
  expect(one.journal.find(1)?.reply).toMatchObject({ body: undefined, decoded: undefined });
  for (let made = 0; made < FITTING; made += 1) one.journal.add(replyWith(SIZE), state, state);
  expect(one.journal.size()).toMatchObject({ dropped: 0, size: FITTING + 1 });
  other.add(5);
  expect(one.journal.size().dropped).toBeGreaterThanOrEqual(5);
});

const NAMES = Array.from({ length: SIZE / 64 }, (_, at) => `${at}`);
const RULES = new Map(NAMES.map((name) => [name, 1]));
const RATES = new Map(NAMES.map((name) => [name, { startedAt: 0, count: 1 }]));

test.each<[string, Partial<State['counters']>]>([
  ['rules', { rules: RULES }],
  ['rates', { rates: RATES }],
])('the counters of %s that a call has copied weigh as much as a body', (_of, copied) => {
  const [[copying], [leaving], [sending]] = [openJournals(), openJournals(), openJournals()];
  const after = { ...state, counters: { ...state.counters, ...copied } };
  for (let made = 0; made < FITTING + 10; made += 1) {
    copying.journal.add(exchangeWith(), state, after);
    leaving.journal.add(exchangeWith(), after, { ...after, counters: { ...after.counters } });
  }
  sending.add(FITTING + 10);
  expect(sending.journal.size().dropped).toBeGreaterThan(0);
  expect(copying.journal.size()).toEqual(sending.journal.size());
  expect(leaving.journal.size().dropped).toBe(0);
});
