import { evidenceState, putExchange, restoreEvidence, type Witness } from '../evidence/witness.ts';
import type { CountNote, Counts } from '../service/counts.ts';
import { withChoices } from '../service/world.ts';
import type { RecordedStore } from '../store/log/recorded-store.ts';
import { forkStore, type Store } from '../store/store.ts';
import type {
  Added,
  Change,
  CountsChange,
  SandboxLog,
  SandboxSnapshot,
  SandboxState,
  SettingsChange,
} from './change.ts';
import type { Made, Replica } from './commits.ts';
import { Past } from './past.ts';
import { type Setup, setupFrom } from './setup.ts';
import {
  allCounts,
  allSettings,
  countsChange,
  type Moment,
  settingsChange,
} from './setup-changes.ts';

/** A sandbox as its log changes it. */
export interface Replicated extends Witness {
  setup: Setup;
  notes: CountNote[] | undefined;
  added: Added;
  preferredCounts(scenario: string): Counts<number>;
  /** The evidence before resets; undefined if its server keeps that. */
  past: Past | undefined;
  settle(added: Added): void;
}

/** The state of a sandbox, as its log sees it. */
export class SandboxReplica implements Replica<Change, SandboxSnapshot> {
  readonly #sandbox: Replicated;
  readonly #store: RecordedStore;
  readonly #isShared: boolean;

  constructor(sandbox: Replicated, { store, log }: Pick<SandboxLog, 'store' | 'log'>) {
    this.#sandbox = sandbox;
    this.#store = store;
    this.#isShared = log.isShared === true;
  }

  record(work: () => void): Made<Change> {
    const sandbox = this.#sandbox;
    const before = momentOf(sandbox);
    const notes: CountNote[] = [];
    const undo = (store: ReturnType<RecordedStore['take']>): void => {
      if (store !== undefined) this.#store.apply(store.inverse);
      for (const note of notes.toReversed()) note.undo();
      sandbox.setup = before.setup;
      sandbox.clock.restore(before.clock);
    };
    sandbox.notes = notes;
    sandbox.added = {};
    try {
      work();
    } catch (error) {
      undo(this.#store.take());
      throw error;
    } finally {
      sandbox.notes = undefined;
    }
    if (this.#isShared) this.#store.start = sandbox.setup.start.store;
    const store = this.#store.take();
    const change = this.#isShared
      ? wholeChange({
          store: store?.change,
          settings: settingsChange(before, momentOf(sandbox)),
          counts: countsChange(sandbox.setup, notes),
          ...sandbox.added,
        })
      : store && { store: store.change };
    return { change, undo: () => undo(store) };
  }

  apply({ store, settings, counts, exchange, ...added }: Change): void {
    const sandbox = this.#sandbox;
    if (settings !== undefined) applySettings(sandbox, settings);
    this.#store.start = sandbox.setup.start.store;
    if (store !== undefined) this.#store.apply(store);
    if (settings?.snapshots !== undefined) this.#changeSnapshots(settings.snapshots);
    if (counts !== undefined) applyCounts(sandbox, counts);
    if (exchange !== undefined) putExchange(sandbox, exchange);
    sandbox.settle(added);
  }

  snapshot(): SandboxSnapshot {
    const store = forkStore(this.#store);
    return this.#isShared ? { store, state: stateOf(this.#sandbox) } : { store };
  }

  restore({ store, state }: SandboxSnapshot, earlier: readonly Change[]): void {
    const { animals, inventory, orders } = store;
    this.#store.apply({
      animals: { from: animals },
      inventory: { from: inventory },
      orders: { from: orders },
    });
    if (state === undefined) return;
    const sandbox = this.#sandbox;
    applySettings(sandbox, state.settings);
    sandbox.setup = { ...sandbox.setup, snapshots: state.snapshots };
    applyCounts(sandbox, state.counts);
    const latest = earlier.flatMap(({ exchange }) => exchange ?? []);
    restoreEvidence(sandbox, state.evidence, latest);
    sandbox.past = new Past(state.past);
  }

  #changeSnapshots(changes: NonNullable<SettingsChange['snapshots']>): void {
    const snapshots = new Map<string, Store>(this.#sandbox.setup.snapshots);
    for (const { name, taken } of changes) {
      if (taken) snapshots.set(name, forkStore(this.#store));
      else snapshots.delete(name);
    }
    this.#sandbox.setup = { ...this.#sandbox.setup, snapshots };
  }
}

/** A sandbox without its records, as a value that another server can restore. */
export function stateOf(sandbox: Replicated): SandboxState {
  return {
    settings: allSettings(momentOf(sandbox)),
    counts: allCounts(sandbox.setup),
    snapshots: sandbox.setup.snapshots,
    evidence: evidenceState(sandbox),
    past: (sandbox.past ?? new Past()).state,
  };
}

function momentOf({ setup, clock }: Replicated): Moment {
  return { setup, clock: clock.state };
}

/** Undefined if nothing changed. */
function wholeChange(change: Change): Change | undefined {
  return Object.values(change).some((it) => it !== undefined) ? change : undefined;
}

/** Makes all changes of settings except for those of snapshots. */
function applySettings(
  sandbox: Replicated,
  { start, startedAt, choices, clock, upstream }: SettingsChange,
): void {
  let { setup } = sandbox;
  if (clock !== undefined) sandbox.clock.restore(clock);
  if (start !== undefined) {
    setup = setupFrom(setup, start === 'origin' ? setup.origin : start, sandbox.clock, sandbox);
  }
  if (startedAt !== undefined) setup = { ...setup, world: { ...setup.world, startedAt } };
  if (choices !== undefined) setup = { ...setup, world: withChoices(setup.world, choices) };
  if (upstream !== undefined) setup = { ...setup, upstream: upstream.is };
  sandbox.setup = setup;
}

function applyCounts(sandbox: Replicated, { rules, rates }: CountsChange): void {
  const { setup } = sandbox;
  for (const { scenario, index, count } of rules) {
    const counts = scenario === undefined ? setup.rules.counts : sandbox.preferredCounts(scenario);
    counts.set(index, count);
  }
  const { windows } = setup.world.rates;
  for (const { key, window } of rates) {
    // A new window goes behind all others.
    if (windows.get(key)?.startedAt !== window?.startedAt) windows.set(key, undefined);
    windows.set(key, window);
  }
}
