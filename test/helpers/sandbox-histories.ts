import fc from 'fast-check';
import { expect } from 'vitest';
import { INT64_MAX } from '../../src/contract/int64.ts';
import { exchangeText } from '../../src/control/journal/exchange-text.ts';
import { coverageOf } from '../../src/evidence/coverage.ts';
import type { Seen } from '../../src/evidence/exchange.ts';
import { findingsOf } from '../../src/evidence/findings.ts';
import { putExchange, witnessExchange } from '../../src/evidence/witness.ts';
import type { Change, SandboxLog } from '../../src/sandbox/change.ts';
import { KEEPABLE, Sandbox } from '../../src/sandbox/sandbox.ts';
import { SandboxReplica } from '../../src/sandbox/sandbox-replica.ts';
import { SandboxTexts } from '../../src/sandbox/sandbox-texts.ts';
import { simulate } from '../../src/sandbox/simulate.ts';
import { loadForRequest } from '../../src/scenario/load-scenario.ts';
import { readScenario } from '../../src/scenario/read-scenario.ts';
import { ruleBook } from '../../src/scenario/rules.ts';
import { type Start, starterFrom, touchesStore } from '../../src/scenario/sandbox-start.ts';
import { ReceivedBytes } from '../../src/service/received-body.ts';
import { turnTime } from '../../src/service/turn-time.ts';
import { loadFixture } from '../../src/store/fixture/load-fixture.ts';
import { RecordedStore } from '../../src/store/log/recorded-store.ts';
import { createStore, forkStore, restoreStore, storeBaseOf } from '../../src/store/store.ts';
import { stateText } from './state-text.ts';

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
export const starter = starterFrom({}, () => forkStore(fixture));
const origin = await starter([]);
const starts: readonly Start[] = await Promise.all([
  starter([]),
  starter(await loadForRequest(['sold-out', 'flaky'])),
  starter(await loadForRequest(['int64-ids'], WRITTEN.value)),
]);
const preferred = ruleBook((await loadForRequest(['flaky'])).flatMap(({ rules }) => rules));

export const texts = new SandboxTexts({
  origin,
  starter,
  openUpstream: async (url, key) => ({
    url: url.href,
    key,
    compare: () => ({ expected: undefined, drift: [] }),
    send: () => Promise.reject(new Error('no deployment')),
    close: () => {},
  }),
});

const other = createStore(
  storeBaseOf({
    animals: [{ id: INT64_MAX, name: 'Max', categoryId: 1n }],
    inventory: [],
    orders: [{ id: -(2n ** 63n) }],
  }),
);

/** A server's copy of a sandbox. */
export interface Copy {
  readonly sandbox: Sandbox;
  readonly replica: SandboxReplica;
}

const CAPACITY = 5;

export function copyOfSandbox(): Copy {
  const unused = (): never => expect.fail('no log is used');
  const log: SandboxLog['log'] = {
    isShared: true,
    append: unused,
    read: unused,
    isFoldDue: false,
    fold: unused,
    close: unused,
  };
  const store = new RecordedStore(forkStore(origin.store), origin.store);
  const kept = { store, log, position: 0 };
  const share = {
    journal: CAPACITY,
    observers: new Set<never>(),
    onFinding: undefined,
    forgotten: () => {},
    upstream: undefined,
  };
  const sandbox = new Sandbox('default', origin, share, kept);
  return { sandbox, replica: new SandboxReplica(sandbox, kept) };
}

/** A step of a history: work on a sandbox, and the request that it answers, if it does. */
interface Step {
  readonly name: string;
  readonly run: (sandbox: Sandbox) => Seen | undefined;
}

const control = (name: string, work: (sandbox: Sandbox) => void): Step => ({
  name,
  run: (sandbox) => {
    work(sandbox);
    return undefined;
  },
});

const anId = fc.constantFrom('1', '2', '9007199254740993', '9223372036854775807', '77');

const aCall: fc.Arbitrary<Step> = fc
  .record({
    operation: fc.constantFrom(
      'listPets',
      'createPet',
      'getPet',
      'getPet',
      'updateInventory',
      'cancelOrder',
      'cancelOrder',
      'listOrders',
    ),
    pathId: anId,
    key: fc.constantFrom('demo-key', 'demo-key', 'other', 'undefined'),
    prefers: fc.boolean(),
  })
  .map(({ operation, pathId, key, prefers }) => ({
    name: `${operation} ${pathId} ${key} ${prefers}`,
    run: (sandbox) => {
      const bodies = {
        createPet: '{"name":"Rex","categoryId":1}',
        updateInventory: '{"quantity":0}',
      };
      const body = operation in bodies ? Reflect.get(bodies, operation) : undefined;
      const authorization = `Bearer ${key}`;
      const call = {
        operation,
        path: `/v1/${pathId}`,
        pathId,
        query: [],
        headers: {},
        authorization,
        contentType: 'application/json',
        contentEncoding: undefined,
        body: body === undefined ? { kind: 'none' as const } : new ReceivedBytes(Buffer.from(body)),
      };
      const seen = {
        method: 'GET',
        target: call.path,
        authorization,
        headers: [],
        call,
        connection: {},
        receivedAt: turnTime().steady,
      };
      const asks = prefers ? { scenario: 'flaky', book: preferred } : undefined;
      const outcome = simulate(sandbox, call, asks);
      sandbox.added = { exchange: witnessExchange(sandbox, seen, outcome) };
      return seen;
    },
  }));

const aSetting: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom(...starts).map((start) =>
    control(`use ${start.scenarios.map(({ name }) => name)}`, (sandbox) => {
      const changed = [...sandbox.start.scenarios, ...start.scenarios].some(touchesStore);
      if (changed) restoreStore(sandbox.world.store, start.store);
      sandbox.use(changed ? start : { ...start, store: sandbox.start.store });
    }),
  ),
  fc
    .constantFrom('204', '404', '409')
    .map((option) =>
      control(`assume ${option}`, (sandbox) =>
        sandbox.assume({ ...sandbox.world.choices, 'cancel-again': option, 'rate-limit': '2/s' }),
      ),
    ),
  fc
    .integer({ min: -5000, max: 1e9 })
    .map((by) => control(`advance ${by}`, ({ clock }) => clock.advance(by))),
  fc.boolean().map((frozen) => control(`freeze ${frozen}`, ({ clock }) => clock.set({ frozen }))),
  fc
    .subarray([...KEEPABLE])
    .map((keep) => control(`reset but ${keep}`, (sandbox) => sandbox.reset(new Set(keep)))),
  fc.constant(control('clear the journal', (sandbox) => sandbox.clearJournal())),
  fc
    .constantFrom(...starts.map(({ store }) => store), other)
    .map((store) =>
      control('replace the records', (sandbox) => restoreStore(sandbox.world.store, store)),
    ),
);

const aSnapshot: fc.Arbitrary<Step> = fc
  .tuple(fc.constantFrom('a', 'b'), fc.constantFrom('take', 'restore', 'delete'))
  .map(([name, what]) =>
    control(`${what} ${name}`, (sandbox) => {
      const { snapshots, world } = sandbox;
      const store = snapshots.get(name);
      if (what === 'take') sandbox.snapshots = new Map(snapshots).set(name, forkStore(world.store));
      if (what === 'restore' && store !== undefined) restoreStore(world.store, store);
      if (what === 'delete') {
        sandbox.snapshots = new Map([...snapshots].filter(([it]) => it !== name));
      }
    }),
  );

const history = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: aCall },
    { weight: 3, arbitrary: aSetting },
    { weight: 1, arbitrary: aSnapshot },
  ),
  { maxLength: 25 },
);

/** Everything that a sandbox has, in a comparable form. */
export function shown({ sandbox, replica }: Copy): object {
  const { store, state } = replica.snapshot();
  if (state === undefined) throw new Error('there is no state');
  const { settings, counts, snapshots, evidence, past } = state;
  const { start, ...others } = settings;
  const byText = <T>(all: readonly T[]): T[] =>
    all.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return {
    store: stateText(store),
    snapshots: [...snapshots].map(([name, its]) => [name, stateText(its)]),
    start: start === 'origin' ? start : start.scenarios.map(({ name }) => name),
    others,
    keys: sandbox.world.keys,
    rules: [...sandbox.rules.book].map(([id, bound]) => [id, bound.map(({ rule }) => rule)]),
    startStore: stateText(sandbox.start.store),
    counts: { rules: byText(counts.rules), rates: byText(counts.rates) },
    // What a later call repeats is known by the versions of one server.
    evidence: { ...evidence, findings: { ...evidence.findings, attempts: [] } },
    past,
    exchanges: [...sandbox.journal.select()].map(exchangeText),
    coverage: coverageOf([sandbox.coverage]),
    findings: findingsOf([sandbox.findings]),
  };
}

/** Runs a step and keeps its change, as a log does. */
function runKept({ sandbox, replica }: Copy, step: Step): Change | undefined {
  let seen: Seen | undefined;
  const { change } = replica.record(() => {
    seen = step.run(sandbox);
  });
  if (change?.exchange !== undefined) putExchange(sandbox, change.exchange, seen);
  sandbox.settle(change ?? {});
  return change;
}

/**
 * Expects that the changes of random histories, applied to another copy, give an equal sandbox; and
 * that undoing each gives the sandbox before it.
 */
export async function expectEqualCopies(numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const [here, there, late] = [copyOfSandbox(), copyOfSandbox(), copyOfSandbox()];
      there.replica.restore(
        await texts.readSnapshot(await texts.writeSnapshot(here.replica.snapshot())),
        [],
      );
      const changes: Change[] = [];
      for (const step of steps) {
        const before = shown(here);
        here.replica.record(() => step.run(here.sandbox)).undo();
        expect(shown(here)).toEqual(before);
        const change = runKept(here, step);
        if (change === undefined) continue;
        const received = await texts.readEntry(texts.writeEntry(change));
        changes.push(received);
        there.replica.apply(received);
      }
      const expected = shown(here);
      expect(shown(there)).toEqual(expected);
      const snapshot = await texts.writeSnapshot(here.replica.snapshot());
      late.replica.restore(await texts.readSnapshot(snapshot), changes);
      expect(shown(late)).toEqual(expected);
    }),
    { numRuns },
  );
}
