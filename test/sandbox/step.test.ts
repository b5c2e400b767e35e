import fc from 'fast-check';
import { expect, test } from 'vitest';
import { apply, diff } from '../../src/sandbox/change.ts';
import { initialState, restartState, type State } from '../../src/sandbox/state.ts';
import { type Step, step } from '../../src/sandbox/answer.ts';
import { starterFrom } from '../../src/scenario/sandbox-start.ts';
import { callOf } from '../helpers/call.ts';
import { anEvent, type Event, origin, shownState } from '../helpers/histories.ts';

const NOW = { wall: Date.UTC(2026, 10, 22), steady: 1000 };

function after(state: State, event: Event): Partial<Step> & Pick<Step, 'state'> {
  if ('edit' in event) return { state: event.edit(state, NOW).state };
  return step(state, event.call, NOW, event.preferred);
}

/** Freezes a value and all plain objects and lists in it. */
function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  const isPlain = [Object.prototype, Array.prototype, null].includes(Object.getPrototypeOf(value));
  if (isPlain) Object.freeze(value);
  const parts = value instanceof Map ? value.values() : isPlain ? Object.values(value) : [];
  for (const part of parts) deepFreeze(part);
}

const aHistory = fc.array(anEvent, { maxLength: 20 });

test('a step leaves its state alone and gives the same twice, and its change gives the next state', () => {
  const property = fc.property(aHistory, (events) => {
    const first = initialState(origin, undefined, NOW.wall);
    let state = first;
    for (const event of events) {
      deepFreeze(state);
      const before = shownState(state);
      const [one, two] = [after(state, event), after(state, event)];
      expect(shownState(state)).toEqual(before);
      expect(one.outcome).toEqual(two.outcome);
      expect(shownState(one.state)).toEqual(shownState(two.state));
      const change = diff(state, one.state);
      const applied = change === undefined ? state : apply(state, change);
      expect(shownState(applied)).toEqual(shownState(one.state));
      if (change !== undefined) expect(diff(applied, one.state)?.store).toBeUndefined();
      state = one.state;
    }
    const whole = diff(first, state);
    expect(shownState(whole === undefined ? first : apply(first, whole))).toEqual(
      shownState(state),
    );
  });
  fc.assert(property, { numRuns: 60 });
});

test('a call under a rate limit changes the window of its key alone, and a thousand keys are known', async () => {
  const options = { assume: { 'rate-limit': '2/m' }, keys: { any: true } } as const;
  const start = await starterFrom(options, () => origin.store)([]);
  let before = initialState(start, undefined, NOW.wall);
  const get = (client: number): void => {
    const authorization = `Bearer key-${client}`;
    const call = { ...callOf('getPet'), pathId: '1', authorization };
    const { state, outcome } = step(before, call, NOW);
    expect(outcome.reply?.status).toBe(200);
    expect(JSON.stringify(diff(before, state)).length).toBeLessThan(300);
    before = state;
  };
  for (let client = 0; client < 1200; client += 1) get(client);
  get(1199);
  expect(before.counters.rates.size).toBe(1000);
});

test('after any history, a restart is a new state and a restored snapshot the one before', () => {
  const property = fc.property(aHistory, aHistory, (events, later) => {
    const states = (from: State, all: readonly Event[]): State =>
      all.reduce((state, event) => after(state, event).state, from);
    const first = initialState(origin, undefined, NOW.wall);
    const before = states(first, events);
    const shown = shownState(before);
    states(before, later);
    expect(shownState(before)).toEqual(shown);
    const fresh = restartState(before, origin, NOW.wall);
    expect(
      shownState({ ...fresh, snapshots: first.snapshots, scenarios: first.scenarios }),
    ).toEqual(shownState(first));
  });
  fc.assert(property, { numRuns: 30 });
});
