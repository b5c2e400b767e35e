import { recordExchange } from '../core/control/journal/recorded-exchange.ts';
import type { Platform } from '../core/platform.ts';
import type { Outcome } from '../core/sandbox/answer.ts';
import { describeFinding, isOfOperation, type Totals } from '../core/sandbox/coverage.ts';
import { findHoldFindings, type HoldEnd } from '../core/sandbox/exchange.ts';
import type { Release, Released } from '../core/sandbox/holds.ts';
import type { JournalReader, Persistence } from '../core/sandbox/persistence.ts';
import type { OnFinding } from '../core/sandbox/report-shapes.ts';
import type { ExchangeEvent, Sandbox, SandboxListener } from '../core/sandbox/sandbox.ts';
import { type SandboxEnvironment, Sandboxes } from '../core/sandbox/sandboxes.ts';
import type { Start } from '../core/sandbox/start.ts';
import type { State } from '../core/sandbox/state.ts';
import type { Store } from '../core/store/store.ts';
import type { Observers } from './observers.ts';

/** What a server needs from its persistence in addition to what the control API needs. */
export interface ServerPersistence extends Persistence {
  /** Like `keep`, but a promise only if it has to wait. May throw a StorageError at once. */
  keepAtOnce<T>(sandbox: Sandbox, compute: () => Outcome<T>): T | Promise<T>;
  /** Has the sandbox take the outcome of a call that could not be kept, as far as it can. */
  keepFailed<T>(sandbox: Sandbox, compute: () => Outcome<T>): T | Promise<T>;
  /** Whether the sandbox's records survive a restart. */
  isDurable(sandbox: Sandbox): boolean;
  /** The totals of calls that this server has answered, for its report at exit. */
  served(): Totals;
}

/** Stores own scenarios of the default sandbox. */
export interface ScenarioStorage {
  /** Reads the stored scenarios. Throws a ScenarioError. */
  readonly load: () => Promise<Start['saved']>;
  /** Stores changed scenarios. Throws a StorageError at the first that fails; earlier ones stay. */
  readonly save: (before: State['scenarios'], after: State['scenarios']) => void;
}

/** The default persistence: sandboxes are lost when the process ends. */
export class MemoryPersistence implements ServerPersistence {
  readonly problem = undefined;
  readonly whyNoUndo = undefined;
  readonly #sandboxes: Sandboxes;
  readonly #scenarios: ScenarioStorage | undefined;

  constructor(sandboxes: Sandboxes, scenarios?: ScenarioStorage) {
    this.#sandboxes = sandboxes;
    this.#scenarios = scenarios;
  }

  async keep<T>(sandbox: Sandbox, compute: () => Outcome<T>): Promise<T> {
    return this.keepAtOnce(sandbox, compute);
  }

  keepAtOnce<T>(sandbox: Sandbox, compute: () => Outcome<T>): T | Promise<T> {
    const outcome = compute();
    this.saveScenarios(sandbox, outcome.before, outcome.state);
    return sandbox.take(outcome);
  }

  protected saveScenarios(
    sandbox: Sandbox,
    { scenarios: before }: State,
    { scenarios: after }: State,
  ): void {
    if (before === after || sandbox !== this.#sandboxes.default || !this.#scenarios) return;
    this.#scenarios.save(before, after);
    // Saved scenarios survive a reset.
    sandbox.start = { ...sandbox.start, saved: after };
  }

  keepFailed<T>(sandbox: Sandbox, compute: () => Outcome<T>): T | Promise<T> {
    return this.keepAtOnce(sandbox, compute);
  }

  journal(sandbox: Sandbox): JournalReader {
    const { journal } = sandbox;
    return {
      size: async () => journal.size(),
      select: async (query) => journal.select(query, sandbox.held()),
      find: async (number) =>
        journal.find(number) ?? sandbox.held().find((held) => held.number === number),
      totals: async () => journal.totals(),
      held: async () => sandbox.held(),
    };
  }

  async release(sandbox: Sandbox, which: Release, why: HoldEnd): Promise<Released> {
    return sandbox.holds.release(which, why);
  }

  subscribe(sandbox: Sandbox, listener: SandboxListener): () => void {
    return sandbox.subscribe(listener);
  }

  async create(name: string, start?: Start): Promise<boolean> {
    if (this.#sandboxes.get(name) !== undefined) return false;
    this.#sandboxes.getOrCreate(name, start);
    return true;
  }

  async remove(name: string, unusedFor = 0): Promise<boolean> {
    const known = this.#sandboxes.get(name);
    if (known === undefined || (unusedFor > 0 && known.unused < unusedFor)) return false;
    const removed = this.#sandboxes.remove(name);
    removed?.emit({ kind: 'deleted' });
    return removed !== undefined;
  }

  async unused(): Promise<ReadonlyMap<string, number>> {
    return this.#sandboxes.unused();
  }

  async totals(): Promise<Totals> {
    return this.served();
  }

  served(): Totals {
    return this.#sandboxes.totals();
  }

  isDurable(_sandbox: Sandbox): boolean {
    return false;
  }
}

/** A storage for sandboxes other than memory, which a feature opens. */
export interface Storage {
  /** The stored records of the default sandbox, which win over those of scenarios. */
  readonly store?: Store;
  readonly open: (sandboxes: Sandboxes, scenarios?: ScenarioStorage) => ServerPersistence;
  /** Whether several servers use it, so that it limits sandboxes and keeps their journals. */
  readonly isShared?: boolean;
  /** The control API token that all servers have in common. */
  readonly controlToken?: string;
  /** Lets load balancers notice, before the server closes, that it is stopping. */
  readonly drain?: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** How to create the sandboxes of a mock, and where to store them. */
export interface SandboxSetup extends Pick<SandboxEnvironment, 'upstream' | 'platform'> {
  readonly start: Start;
  readonly storage?: Storage | undefined;
  readonly scenarioStorage?: ScenarioStorage | undefined;
}

/** Creates the sandboxes of a mock, opens their persistence, and connects the observers. */
export function openSandboxes(setup: SandboxSetup, told: Observers) {
  const { observe, onFinding, onNotice } = told;
  const { start, storage, scenarioStorage, upstream, platform } = setup;
  const { sandboxIdle } = start.options;
  const isShared = storage?.isShared ?? false;
  const sandboxes = new Sandboxes(start, { upstream, isShared, platform });
  const persistence =
    storage?.open(sandboxes, scenarioStorage) ?? new MemoryPersistence(sandboxes, scenarioStorage);
  if (observe !== undefined) {
    sandboxes.events.add(({ sandbox, exchange }) =>
      observe(sandbox.name, recordExchange(exchange)),
    );
  }
  if (onFinding !== undefined) sandboxes.events.add(reportFindings(onFinding));
  const stopRemoving =
    sandboxIdle === undefined
      ? undefined
      : removeIdle(persistence, platform, sandboxIdle, (name) =>
          onNotice?.(`removed sandbox ${name}: idle for longer than --sandbox-idle`),
        );
  return { sandboxes, persistence, stopRemoving };
}

const MAX_IDLE_PAUSE_MS = 3_600_000;

/** Removes idle sandboxes from time to time. Returns a function that stops this. */
function removeIdle(
  persistence: Persistence,
  platform: Platform,
  idle: number,
  onRemoved: (name: string) => void,
): () => void {
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    // The storage may be unavailable for now; the next round tries again.
    const all = await persistence.unused().catch(() => new Map<string, number>());
    try {
      for (const [name, unused] of all) {
        if (unused < idle) continue;
        if (await persistence.remove(name, idle).catch(() => false)) onRemoved(name);
      }
    } finally {
      isLooking = false;
    }
  };
  return platform.every(Math.min(idle / 4, MAX_IDLE_PAUSE_MS), () => void look());
}

function reportFindings(onFinding: OnFinding): (event: ExchangeEvent) => void {
  const reported = new Set<string>();
  return ({ kind, sandbox: { name: sandbox }, exchange }) => {
    for (const found of kind === 'hold' ? findHoldFindings(exchange) : exchange.findings) {
      const name = `${sandbox} ${found.code}`;
      if (isOfOperation(found) && reported.has(name)) continue;
      reported.add(name);
      onFinding(describeFinding(found, exchange, sandbox));
    }
  };
}
