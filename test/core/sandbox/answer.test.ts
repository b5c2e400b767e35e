import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isObject, writeJson } from '../../../src/core/json.ts';
import { answer, readServiceState } from '../../../src/core/sandbox/answer.ts';
import { readPrefer } from '../../../src/core/sandbox/preference.ts';
import { createStart } from '../../../src/core/sandbox/start.ts';
import {
  activate,
  changeLayers,
  initialState,
  RESET_PARTS,
  restart,
  type State,
} from '../../../src/core/sandbox/state.ts';
import { resolveScenarios, scenariosByName } from '../../../src/core/scenario/resolve-scenarios.ts';
import { loadBases } from '../../../src/core/scenario/scenario-records.ts';
import { readScenario } from '../../../src/core/scenario/scenario-shape.ts';
import { advanceClock } from '../../../src/core/service/clock.ts';
import { createStore, Records } from '../../../src/core/store/store.ts';
import { loadFixture } from '../../../src/server/fixtures.ts';
import { NODE_PLATFORM } from '../../../src/server/node-platform.ts';
import { callOf, requestOf } from '../../helpers/call.ts';

const NOW = { wall: Date.UTC(2026, 10, 22), steady: 1000 };

const fixture = await loadFixture('default');
const otherStore = createStore({
  animals: [{ id: 2n ** 63n - 1n, name: 'Max', categoryId: 1n }],
  inventory: [],
  orders: [{ id: -(2n ** 63n) }],
});
/** The clock is frozen, so that the same events show the same. */
const origin = createStart({ clock: Date.UTC(2030, 0), frozen: true }, fixture);
const first = initialState(origin, NOW.wall);

const written = readScenario(
  {
    state: { orders: { set: [{ id: 9_223_372_036_854_775_807n, status: 'shipped' }] } },
    keys: { valid: ['demo-key', 'other'] },
    assume: { 'rate-limit': '3/m' },
    rules: [
      { on: 'cancelOrder', where: { orderId: 9_007_199_254_740_993n }, reply: { status: 409 } },
      { on: 'getPet', calls: '2-3', reply: { status: 429, headers: { 'Retry-After': 30 } } },
    ],
  },
  'request',
);
if (!written.ok) throw new Error(JSON.stringify(written.problems));

const shipped = scenariosByName(NODE_PLATFORM);
const scenarioLists = [
  [],
  resolveScenarios(['sold-out', 'flaky'], shipped),
  await loadBases([...resolveScenarios(['int64-ids'], shipped), written.value], NODE_PLATFORM),
];
const preferences = await Promise.all(
  ['scenario=flaky', 'code=409', 'code=x'].map((header) => readPrefer(header, NODE_PLATFORM)),
);

test('an operation has the options of the mock', () => {
  expect(readServiceState(first, NOW.wall).options).toBe(origin.options);
});

/** Something that happens in a sandbox. */
type Event = (state: State) => { readonly state: State; readonly exchange?: object | undefined };

const BODIES: Readonly<Record<string, Buffer>> = {
  createPet: Buffer.from('{"name":"Rex","categoryId":1}'),
  updateInventory: Buffer.from('{"quantity":0}'),
};

const calls: fc.Arbitrary<Event> = fc
  .record({
    operation: fc.constantFrom(
      ...(['listPets', 'getPet', 'listInventory', 'listOrders'] as const),
      ...(['createPet', 'createPet', 'updateInventory', 'cancelOrder', 'cancelOrder'] as const),
    ),
    pathId: fc.constantFrom('1', '2', '9007199254740993', '9223372036854775807', '77'),
    key: fc.constantFrom('demo-key', 'demo-key', 'demo-key', 'other', 'undefined'),
    preferred: fc.option(fc.constantFrom(...preferences), { nil: undefined, freq: 4 }),
  })
  .map(({ operation, pathId, key, preferred }) => {
    const authorization = `Bearer ${key}`;
    const sent = { pathId, authorization, contentType: 'application/json' };
    const request = requestOf({ ...callOf(operation, BODIES[operation]), ...sent });
    return (state: State) => {
      const answered = answer(state, request, NOW, preferred);
      if (/^(?:list|get)/.test(operation)) expect(answered.state.store).toBe(state.store);
      return answered;
    };
  });

/** What the control API does to a state. */
const edits: fc.Arbitrary<(state: State) => State> = fc.oneof(
  fc
    .constantFrom(...scenarioLists)
    .map((scenarios) => (state: State) => activate(state, scenarios, NOW)),
  fc.constantFrom('204', '404', '409').map((option) => (state: State) => {
    const byHand = { 'cancel-again': option, 'rate-limit': '2/s' } as const;
    return changeLayers(state, { byHand });
  }),
  fc.integer({ min: -5000, max: 1e9 }).map((by) => (state: State) => {
    return { ...state, clock: advanceClock(state.clock, by, NOW.wall) ?? state.clock };
  }),
  fc
    .subarray([...RESET_PARTS])
    .map((kept) => (state: State) => restart(state, origin, NOW, new Set(kept))),
  fc.constantFrom(fixture, otherStore).map((store) => (state: State) => ({ ...state, store })),
  fc.constantFrom('a', 'b').map((name) => (state: State) => {
    const { store, snapshots } = state;
    const taken = snapshots.get(name);
    return taken === undefined
      ? { ...state, snapshots: new Map([...snapshots, [name, store]]) }
      : { ...state, store: taken };
  }),
);

const events: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: calls },
    { weight: 1, arbitrary: edits.map((edit) => (state: State) => ({ state: edit(state) })) },
  ),
  { maxLength: 20 },
);

/** Everything in a state but its functions, in a form that can be compared. */
function shown(state: State): string {
  return writeJson(Object(plain(state)));
}

function plain(value: unknown): unknown {
  if (value instanceof Map || Array.isArray(value)) return [...value].map(plain);
  if (value instanceof Records) return [value.highestId, ...value.ascending()].map(plain);
  if (!isObject(value)) return typeof value === 'function' ? undefined : value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
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
  const property = fc.property(events, (history) => {
    let state = first;
    for (const event of history) {
      deepFreeze(state);
      const before = shown(state);
      const [one, two] = [event(state), event(state)];
      expect(shown(state)).toBe(before);
      expect(one.exchange).toEqual(two.exchange);
      expect(shown(one.state)).toBe(shown(two.state));
      state = one.state;
    }
  });
  fc.assert(property, { numRuns: 60 });
});

test('after any history, a restart without anything kept is a new sandbox', () => {
  const property = fc.property(events, (history) => {
    const before = history.reduce((state, event) => event(state).state, first);
    const { snapshots } = first;
    const fresh = restart({ ...before, snapshots }, origin, NOW, new Set());
    expect(shown(fresh)).toBe(shown(first));
  });
  fc.assert(property, { numRuns: 30 });
});

test('a call under a rate limit changes the window of its key alone, and a thousand keys are known', () => {
  const start = createStart({ assume: { 'rate-limit': '2/m' }, keys: { any: true } }, fixture);
  let before = initialState(start, NOW.wall);
  for (let client = 0; client < 1100; client += 1) {
    const call = { ...callOf('getPet'), pathId: '1', authorization: `Bearer key-${client}` };
    const { state, result: exchange } = answer(before, requestOf(call), NOW);
    expect(exchange.status).toBe(200);
    expect(state.store).toBe(before.store);
    before = state;
  }
  expect(before.counters.rates.size).toBe(1000);
  expect([...before.counters.rates.keys()].at(-1)).toBe('key-1099');
});
