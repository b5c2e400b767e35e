import fc from 'fast-check';
import { writeJson } from '../../src/contract/json.ts';
import type { OperationId } from '../../src/contract/operations.ts';
import { COLLECTIONS } from '../../src/contract/records.ts';
import { type Preference, readPrefer } from '../../src/sandbox/preference.ts';
import { activate, changeLayers, KEEPABLE, restart, type State } from '../../src/sandbox/state.ts';
import { loadForRequest } from '../../src/scenario/load-scenario.ts';
import { createStart, loadBases, type Start } from '../../src/scenario/sandbox-start.ts';
import { readScenario } from '../../src/scenario/scenario-shape.ts';
import { advanceClock, type Instant } from '../../src/service/clock.ts';
import type { Call } from '../../src/service/input.ts';
import { loadFixture } from '../../src/store/fixture.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { callOf } from './call.ts';

/** Something that happens in a sandbox. */
export type Event = { readonly name: string } & (
  | { readonly call: Call; readonly preferred: Preference | undefined }
  | { readonly edit: (state: State, now: Instant) => State }
);

const WRITTEN = readScenario(
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
if (!WRITTEN.ok) throw new Error(JSON.stringify(WRITTEN.problems));

const fixture = await loadFixture('default');

/** The clock is frozen, so that the same events show the same. */
export const origin: Start = createStart({ clock: Date.UTC(2030, 0), frozen: true }, fixture);
const scenarioLists = [
  [],
  await loadForRequest(['sold-out', 'flaky']),
  await loadBases(await loadForRequest(['int64-ids'], WRITTEN.value)),
];
const preferences = await Promise.all(
  ['scenario=flaky', 'code=409', 'code=x'].map((it) => readPrefer(it)),
);

const otherStore = createStore({
  animals: [{ id: 2n ** 63n - 1n, name: 'Max', categoryId: 1n }],
  inventory: [],
  orders: [{ id: -(2n ** 63n) }],
});

const BODIES: Readonly<Record<string, Buffer>> = {
  createPet: Buffer.from('{"name":"Rex","categoryId":1}'),
  updateInventory: Buffer.from('{"quantity":0}'),
};

const aCall: fc.Arbitrary<Event> = fc
  .record({
    operation: fc.constantFrom<OperationId[]>(
      'listPets',
      'createPet',
      'createPet',
      'getPet',
      'listInventory',
      'updateInventory',
      'cancelOrder',
      'cancelOrder',
      'listOrders',
    ),
    pathId: fc.constantFrom('1', '2', '9007199254740993', '9223372036854775807', '77'),
    key: fc.constantFrom('demo-key', 'demo-key', 'demo-key', 'other', 'undefined'),
    preferred: fc.option(fc.constantFrom(...preferences), { nil: undefined, freq: 4 }),
  })
  .map(({ operation, pathId, key, preferred }) => ({
    name: `${operation} ${pathId} ${key} ${JSON.stringify(preferred)}`,
    call: {
      ...callOf(operation, BODIES[operation]),
      path: `/v1/${operation}/${pathId}`,
      pathId,
      authorization: `Bearer ${key}`,
      contentType: 'application/json',
    },
    preferred,
  }));

function edit(name: string, change: (state: State, now: Instant) => State): Event {
  return { name, edit: change };
}

const anEdit: fc.Arbitrary<Event> = fc.oneof(
  fc
    .constantFrom(...scenarioLists)
    .map((scenarios) =>
      edit(`use ${scenarios.map(({ name }) => name)}`, (state, now) =>
        activate(state, scenarios, now),
      ),
    ),
  fc.constantFrom('204', '404', '409').map((option) =>
    edit(`assume ${option}`, (state) => {
      const chosen = { 'cancel-again': option, 'rate-limit': '2/s' } as const;
      return changeLayers(state, { byHand: { ...state.settings.byHand, ...chosen } });
    }),
  ),
  fc.integer({ min: -5000, max: 1e9 }).map((by) =>
    edit(`advance ${by}`, (state, { wall }) => ({
      ...state,
      clock: advanceClock(state.clock, by, wall) ?? state.clock,
    })),
  ),
  fc
    .subarray([...KEEPABLE])
    .map((parts) =>
      edit(`reset but ${parts}`, (state, now) =>
        restart(state, origin, undefined, now, new Set(parts)),
      ),
    ),
  fc
    .constantFrom(fixture, otherStore)
    .map((store) => edit('replace the records', (state) => ({ ...state, store }))),
  fc
    .tuple(fc.constantFrom('a', 'b'), fc.constantFrom('take', 'restore', 'delete'))
    .map(([name, what]) =>
      edit(`${what} ${name}`, (state) => {
        const { store, snapshots } = state;
        if (what === 'restore') return { ...state, store: snapshots.get(name) ?? store };
        const others = [...snapshots].filter(([it]) => it !== name);
        const taken = what === 'take' ? [[name, store] as const] : [];
        return { ...state, snapshots: new Map([...others, ...taken]) };
      }),
    ),
  fc
    .tuple(fc.constantFrom('a', 'b'), fc.constantFrom('', 'description: A.', 'rules: []'))
    .map(([name, text]) =>
      edit(`save ${name}: ${text}`, (state) => {
        const scenarios = new Map(state.scenarios);
        if (text === '') scenarios.delete(name);
        else scenarios.set(name, { name, description: '', format: 'yaml', text });
        return { ...state, scenarios };
      }),
    ),
);

/** A call of the service, or a change that the control API makes. */
export const anEvent = fc.oneof({ weight: 2, arbitrary: aCall }, { weight: 1, arbitrary: anEdit });

/** The records of a store and the highest ids, exactly. */
function stateText(store: Store): string {
  return COLLECTIONS.map((name) => {
    const { highestId } = store[name];
    return `${name} to ${highestId}: ${writeJson([...store[name].ascending()])}`;
  }).join('\n');
}

/** Everything in a state, in a form that can be compared. */
export function shownState(state: State): object {
  const { store, settings, clock, counters, snapshots, scenarios, latches } = state;
  const { start, active, byHand, startedAt, choices, upstream } = settings;
  const byName = <T>(map: ReadonlyMap<string, T>) => Object.fromEntries(map);
  return {
    store: stateText(store),
    snapshots: [...snapshots].map(([name, its]: [string, Store]) => [name, stateText(its)]),
    scenarios: active.map(({ name }) => name),
    byHand,
    ownScenarios: byName(scenarios),
    latches: [...latches].map(([name, { json }]) => [name, json]),
    startStore: stateText(start.store),
    ...{ startedAt, choices, upstream },
    now: clock.frozenAt,
    rules: byName(counters.rules),
    // In order, which decides whose window goes first.
    rates: [...counters.rates],
  };
}
