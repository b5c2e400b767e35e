import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answer } from '../../src/sandbox/answer.ts';
import { initialState, restart, type State } from '../../src/sandbox/state.ts';
import { createStart } from '../../src/scenario/sandbox-start.ts';
import { callOf, requestOf } from '../helpers/call.ts';
import { anEvent, type Event, origin, shownState } from '../helpers/histories.ts';

const NOW = { wall: Date.UTC(2026, 10, 22), steady: 1000 };

function apply(state: State, event: Event) {
  if ('edit' in event) return { state: event.edit(state, NOW), exchange: undefined };
  return answer(state, requestOf(event.call), NOW, event.preferred);
}

/** Freezes a value and all plain objects and lists in it. */
function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  const isPlain = [Object.prototype, Array.prototype, null].includes(Object.getPrototypeOf(value));
  if (isPlain) Object.freeze(value);
  const parts = value instanceof Map ? value.values() : isPlain ? Object.values(value) : [];
  for (const part of parts) deepFreeze(part);
}

test('an answer leaves its state alone and is the same twice, and a read returns the state it was given', () => {
  const property = fc.property(fc.array(anEvent, { maxLength: 20 }), (events) => {
    let state = initialState(origin, undefined, NOW.wall);
    for (const event of events) {
      deepFreeze(state);
      const before = shownState(state);
      const [one, two] = [apply(state, event), apply(state, event)];
      expect(shownState(state)).toEqual(before);
      expect(one.exchange).toEqual(two.exchange);
      expect(shownState(one.state)).toEqual(shownState(two.state));
      const isRead = 'call' in event && /^(?:list|get)/.test(event.call.operation);
      if (isRead) expect(one.state.store).toBe(state.store);
      state = one.state;
    }
  });
  fc.assert(property, { numRuns: 60 });
});

test('a call under a rate limit changes the window of its key alone, and a thousand keys are known', () => {
  const start = createStart({ assume: { 'rate-limit': '2/m' }, keys: { any: true } }, origin.store);
  let before = initialState(start, undefined, NOW.wall);
  const get = (client: number): void => {
    const authorization = `Bearer key-${client}`;
    const call = { ...callOf('getPet'), pathId: '1', authorization };
    const { state, exchange } = answer(before, requestOf(call), NOW);
    expect(exchange.status).toBe(200);
    expect(state.store).toBe(before.store);
    before = state;
  };
  for (let client = 0; client < 1100; client += 1) get(client);
  expect(before.counters.rates.size).toBe(1000);
  expect([...before.counters.rates.keys()].at(-1)).toBe('key-1099');
});

test('after any history, a restart without anything kept is a new sandbox', () => {
  const first = initialState(origin, undefined, NOW.wall);
  const property = fc.property(fc.array(anEvent, { maxLength: 20 }), (events) => {
    const before = events.reduce((state, event) => apply(state, event).state, first);
    const { snapshots } = first;
    const fresh = restart({ ...before, snapshots }, origin, undefined, NOW, new Set());
    expect(shownState(fresh)).toEqual(shownState(first));
  });
  fc.assert(property, { numRuns: 30 });
});
