import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { OperationId } from '../../src/core/contract/operations.ts';
import { type Outcome, outcome } from '../../src/core/sandbox/answer.ts';
import { LATCH, withLatch } from '../../src/core/sandbox/holds.ts';
import type { Persistence } from '../../src/core/sandbox/persistence.ts';
import type { Sandbox } from '../../src/core/sandbox/sandbox.ts';
import { Sandboxes } from '../../src/core/sandbox/sandboxes.ts';
import { createStart } from '../../src/core/sandbox/start.ts';
import {
  activate,
  changeLayers,
  initialState,
  restart,
  type State,
  withEntry,
} from '../../src/core/sandbox/state.ts';
import { readScenario } from '../../src/core/scenario/scenario-shape.ts';
import { advanceClock, steadyNow } from '../../src/core/service/clock.ts';
import { readAs } from '../../src/core/shape/shapes.ts';
import { EMPTY_STORE } from '../../src/core/store/store.ts';
import { storeText } from '../../src/core/store/store-text.ts';
import { openStoreFile } from '../../src/features/disk/file.ts';
import { joinFleet } from '../../src/features/fleet/fleet.ts';
import { changedParts } from '../../src/features/fleet/state-parts.ts';
import { undoLatest } from '../../src/features/time-travel/handlers.ts';
import { loadFixture } from '../../src/server/fixtures.ts';
import { NODE_PLATFORM } from '../../src/server/node-platform.ts';
import { MemoryPersistence } from '../../src/server/open-sandboxes.ts';
import { loadScenarios } from '../../src/server/scenarios.ts';
import { callOf, requestOf } from '../helpers/call.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { describeWithRedis, RedisServer } from '../helpers/redis.ts';

const CAPACITY = 6;
const NOW = { wall: Date.UTC(2030, 0), steady: steadyNow() };

const fixture = await loadFixture('default');
// The clock is frozen, so that the same updates show the same.
const start = createStart({ clock: NOW.wall, frozen: true }, fixture);

const WRITTEN = readScenario(
  {
    state: { orders: { set: [{ id: 9_223_372_036_854_775_807n, status: 'shipped' }] } },
    keys: { valid: ['demo-key', 'other'] },
    assume: { 'rate-limit': '3/m' },
    clock: { now: '2031-01-01T00:00:00Z' },
    rules: [
      { on: 'cancelOrder', where: { orderId: 9_007_199_254_740_993n }, reply: { status: 409 } },
      { on: 'getPet', calls: '2-3', reply: { status: 429, headers: { 'Retry-After': 30 } } },
    ],
  },
  'own',
);
if (!WRITTEN.ok) throw new Error(JSON.stringify(WRITTEN.problems));
const WRITTEN_TEXT = {
  name: 'own',
  description: 'Own.',
  format: 'json',
  text: '{"\u2028":1}',
} as const;
const scenarios = [
  [],
  await loadScenarios(['flaky', 'sold-out']),
  [...(await loadScenarios(['empty-store'])), WRITTEN.value],
];
const latch = readAs(LATCH, { on: 'listOrders', hold: 'orders' });
if (!latch.ok) throw new Error(JSON.stringify(latch.problems));
const [hold, rule] = latch.value;

type Step = (sandbox: Sandbox) => Outcome<unknown>;

function edit(what: string, change: (state: State) => Partial<Outcome<unknown>>): Step {
  const text = { what, by: 'test' };
  return (sandbox) =>
    sandbox.change((state) => ({ ...outcome(state, undefined), ...change(state) }), NOW, text);
}

const BODIES: Readonly<Record<string, Buffer>> = {
  createPet: Buffer.from('{"name":"Rex \u2028\ud83d\ude00","categoryId":-9223372036854775808}'),
  updateInventory: Buffer.from('{"quantity":0,"\xff":1}', 'latin1'),
};

const aCall = fc
  .record({
    operation: fc.constantFrom<OperationId[]>(
      ...(['listPets', 'createPet', 'getPet', 'listInventory', 'updateInventory'] as const),
      ...(['cancelOrder', 'cancelOrder', 'listOrders'] as const),
    ),
    pathId: fc.constantFrom('1', '2', '9007199254740993', '9223372036854775807', '77'),
    key: fc.constantFrom('demo-key', 'demo-key', 'demo-key', 'other', 'undefined'),
  })
  .map(({ operation, pathId, key }): Step => {
    const path = `/v1/${operation}/${pathId}`;
    const authorization = `Bearer ${key}`;
    const base = callOf(operation, BODIES[operation]);
    const call = { ...base, path, pathId, authorization, contentType: 'application/json' };
    return (sandbox) => sandbox.answer(requestOf(call), NOW);
  });

const anEdit = fc.constantFrom<Step[]>(
  ...scenarios.map((active) =>
    edit(`use ${active.length}`, (state) => ({ state: activate(state, active, NOW) })),
  ),
  edit('assume', (state) => ({
    state: changeLayers(state, { byHand: { 'cancel-again': '404' } }),
  })),
  edit('advance', (state) => {
    return { state: { ...state, clock: advanceClock(state.clock, 1e9, NOW.wall) ?? state.clock } };
  }),
  edit('snapshot', (state) => {
    return { state: { ...state, snapshots: withEntry(state.snapshots, 'one', state.store) } };
  }),
  edit('restore', (state) => ({
    state: { ...state, store: state.snapshots.get('one') ?? start.store },
  })),
  edit('save', (state) => {
    return { state: { ...state, scenarios: withEntry(state.scenarios, 'own', WRITTEN_TEXT) } };
  }),
  edit('latch', (state) => ({ state: withLatch(state, hold, rule) })),
  edit('empty', (state) => ({
    state: { ...state, store: { ...state.store, animals: state.store.animals.cleared() } },
  })),
  edit('reset', (state) => ({
    state: restart(state, start, NOW, new Set()),
    clears: 'all',
  })),
  (sandbox) => ({ ...sandbox.read(), result: undefined, clears: 'journal' }),
  (sandbox) => ({ ...sandbox.read(), result: undefined }),
);

const sequences = fc.sample(
  fc.array(fc.oneof({ weight: 4, arbitrary: aCall }, { weight: 1, arbitrary: anEdit }), {
    minLength: 30,
    maxLength: 30,
  }),
  { seed: 1, numRuns: 25 },
);

/** A server with one sandbox. */
interface Server {
  readonly sandbox: Sandbox;
  readonly persistence: Persistence;
}

function serve(open: (sandboxes: Sandboxes) => Persistence, journal = CAPACITY): Server {
  const parts = { isShared: journal === 0, platform: NODE_PLATFORM };
  const sandboxes = new Sandboxes({ ...start, options: { journal } }, parts);
  const { default: sandbox } = sandboxes;
  sandbox.state = initialState(start, NOW.wall);
  return { sandbox, persistence: open(sandboxes) };
}

async function shownJournal({ sandbox, persistence }: Server) {
  const journal = persistence.journal(sandbox);
  const { shown, ...totals } = await journal.totals();
  return {
    size: await journal.size(),
    all: await journal.select({}),
    some: await journal.select({ filter: { operation: 'cancelOrder', after: 2 }, limit: 2 }),
    held: await journal.held(),
    heldOnly: await journal.select({ filter: { held: true } }),
    one: await journal.find(3),
    // Of equal ones, no order is promised.
    totals: {
      ...totals,
      shown: new Map(shown.map(([key, { by, ...it }]) => [key, { ...it, by: by?.toSorted() }])),
    },
  };
}

/** All of a state, as the servers of a fleet write it. */
function shownState(state: State) {
  const nothing = Object.fromEntries(Object.keys(state).map((name) => [name, undefined]));
  const snapshots = Array.from(state.snapshots, ([name, store]) => [name, ...storeText(store)]);
  return [changedParts({ ...state, ...nothing, store: EMPTY_STORE }, state), snapshots];
}

/** Servers of one sandbox do in turn what memory does, and have all that it has. */
async function conforms(steps: readonly Step[], servers: readonly Server[]): Promise<void> {
  const memory = serve((sandboxes) => new MemoryPersistence(sandboxes));
  const run = ({ sandbox, persistence }: Server, step: Step) =>
    persistence.keep(sandbox, () => step(sandbox));
  for (const [turn, step] of steps.entries()) {
    const server = servers[turn % servers.length];
    if (server === undefined) throw new Error('no server');
    const [expected, actual] = [await run(memory, step), await run(server, step)];
    expect(actual).toEqual(expected);
    expect(shownState(server.sandbox.state)).toEqual(shownState(memory.sandbox.state));
    if (turn % 8 === 0) expect(await shownJournal(server)).toEqual(await shownJournal(memory));
  }
  for (const server of servers) {
    expect(await shownJournal(server)).toEqual(await shownJournal(memory));
  }
}

const folder = temporaryFolder();

test('a file has all that memory has', async () => {
  for (const [index, steps] of sequences.entries()) {
    const file = await openStoreFile(join(folder, `${index}.json`), fixture);
    await conforms(steps, [serve(file.open)]);
    await file.close();
  }
});

test('an undo takes back the edit before it, even while a file of it is being written', async () => {
  const file = await openStoreFile(join(folder, 'undone.json'), fixture);
  const { sandbox, persistence } = serve(file.open);
  const add = async (id: bigint) => {
    const step = edit(`add ${id}`, (state) => {
      const animals = state.store.animals.with({ id, name: 'Rex', categoryId: 1n });
      return { state: { ...state, store: { ...state.store, animals } } };
    });
    await persistence.keep(sandbox, () => step(sandbox));
  };
  const undo = () => undoLatest(persistence, sandbox, 'test');
  const ids = [101n, 102n, 103n, 104n];
  await add(101n);
  const undone = Promise.all([add(102n), add(103n), undo(), add(104n), undo(), undo()]);
  const whats = (await undone).flatMap((it) => (it === undefined ? [] : it.what));
  expect(whats).toEqual(['add 104', 'add 103', 'add 102']);
  expect(ids.filter((id) => sandbox.state.store.animals.has(id))).toEqual([101n]);
  await file.close();
});

describeWithRedis('a fleet', () => {
  test('has all that memory has, on every server', async () => {
    const redis = await RedisServer.start();
    onTestFinished(() => redis.end());
    const context = { start, agreed: undefined };
    const join = () => joinFleet(redis.url, { journal: CAPACITY }, context);
    const fleets = [await join(), await join(), await join()];
    onTestFinished(() => {
      for (const fleet of fleets) void fleet.close();
    });
    for (const steps of sequences) {
      await conforms(
        steps,
        fleets.map((fleet) => serve((sandboxes) => fleet.open(sandboxes), 0)),
      );
      await redis.command('FLUSHALL');
    }
  });
});
