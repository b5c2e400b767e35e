import { expect, test } from 'vitest';
import { type Step, StoreHistory } from './store-history.ts';

const NEVER = Number.POSITIVE_INFINITY;

/** Operations on one order, entry or animal: step, sent, replied. */
type Planned = readonly [step: Step, sent: number, replied: number];

const write = (quantity: number): Step => ({ kind: 'write', quantity });
const read = (quantity: number): Step => ({ kind: 'read', quantity });
const cancel = (status?: number): Step => ({ kind: 'cancel', status });

function entryProblems(...planned: readonly Planned[]): number {
  const history = new StoreHistory(new Map([[1, 0]]));
  for (const [step, sent, replied] of planned) history.entry(1, step, sent, replied);
  return history.problems().length;
}

function orderProblems(...planned: readonly Planned[]): number {
  const history = new StoreHistory(new Map());
  for (const [step, sent, replied] of planned) history.order(1, step, sent, replied);
  return history.problems().length;
}

test('a read may see a write that is under way or not, but none of the past', () => {
  expect(entryProblems([write(1), 1, 4], [read(0), 2, 3], [read(1), 5, 6])).toBe(0);
  expect(entryProblems([write(1), 1, 6], [read(1), 2, 3], [read(1), 4, 5])).toBe(0);
  // Stale: the write was acknowledged, or another client had seen it.
  expect(entryProblems([write(1), 1, 2], [read(0), 3, 4])).toBe(1);
  expect(entryProblems([write(1), 1, 6], [read(1), 2, 3], [read(0), 4, 5])).toBe(1);
  expect(entryProblems([write(1), 1, 3], [write(2), 2, 4], [read(1), 5, 6], [read(2), 7, 8])).toBe(
    1,
  );
  expect(entryProblems([read(7), 1, 2])).toBe(1);
});

test('a write of unknown outcome happens at some time or never, and only once', () => {
  expect(entryProblems([write(1), 1, NEVER], [read(0), 2, 3], [read(0), 4, 5])).toBe(0);
  expect(entryProblems([write(1), 1, NEVER], [read(0), 2, 3], [read(1), 4, 5])).toBe(0);
  expect(
    entryProblems(
      ...[[write(1), 1, NEVER] as const, [read(1), 2, 3] as const],
      ...[[write(2), 4, 5] as const, [read(1), 6, 7] as const],
    ),
  ).toBe(1);
});

test('an order is cancelled once for each time that it is pending', () => {
  expect(orderProblems([cancel(204), 1, 3], [cancel(409), 2, 4])).toBe(0);
  expect(orderProblems([cancel(204), 1, 3], [cancel(204), 2, 4])).toBe(1);
  expect(orderProblems([cancel(409), 1, 2], [cancel(204), 3, 4])).toBe(1);
  expect(orderProblems([cancel(), 1, NEVER], [cancel(409), 2, 3])).toBe(0);
  expect(orderProblems([{ kind: 'rearm' }, 1, 4], [cancel(204), 2, 3], [cancel(204), 5, 6])).toBe(
    0,
  );
  expect(orderProblems([cancel(204), 1, 2], [{ kind: 'rearm' }, 3, 6], [cancel(204), 4, 5])).toBe(
    0,
  );
});

test('an id is assigned once, and its animal is there from then on', () => {
  const history = new StoreHistory(new Map());
  const get = (id: number, status: number) =>
    history.animal(id, { kind: 'get', status }, history.tick());
  history.unknownCreation(history.tick());
  get(1, 200);
  history.animal(2, { kind: 'create' }, history.tick());
  get(2, 200);
  expect(history.problems()).toEqual([]);
  get(2, 404);
  history.animal(3, { kind: 'create' }, history.tick());
  history.animal(3, { kind: 'create' }, history.tick());
  // Nobody created it: the one creation of unknown outcome made the animal 1.
  get(4, 200);
  expect(history.problems().map((problem) => problem.slice(0, 8))).toEqual([
    'animal 2',
    'animal 3',
    'animal 4',
  ]);
});

test('a long history of many clients is checked at once', () => {
  const history = new StoreHistory(new Map([[1, 0]]));
  for (let round = 0; round < 200; round += 1) {
    const sent = Array.from({ length: 12 }, () => history.tick());
    sent.forEach((at, client) => {
      history.entry(1, client % 3 === 0 ? write(round * 12 + client) : read(round * 12), at);
    });
  }
  expect(history.size).toBe(2400);
  expect(history.problems()).toEqual([]);
});

test('many operations of unknown outcome on one order are checked at once', () => {
  const lost = Array.from({ length: 60 }, (_, index): Planned => {
    return [index % 2 === 0 ? cancel() : { kind: 'rearm' }, 2 * index, NEVER];
  });
  const known = Array.from({ length: 60 }, (_, index): Planned => {
    return [cancel(index % 3 === 0 ? 204 : 409), 200 + 2 * index, 201 + 2 * index];
  });
  expect(orderProblems(...lost, ...known)).toBe(0);
  // Each 204 needs another order that was set back to pending.
  const cancelled = known.map(([, sent, replied]): Planned => [cancel(204), sent, replied]);
  expect(orderProblems(...lost, ...cancelled)).toBe(1);
});
