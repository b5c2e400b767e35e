import type { Outcome } from '../core/sandbox/answer.ts';
import type { Totals } from '../core/sandbox/coverage.ts';
import type { KeptSandbox, Persistence } from '../core/sandbox/persistence.ts';
import type { Sandbox } from '../core/sandbox/sandbox.ts';
import type { Sandboxes } from '../core/sandbox/sandboxes.ts';
import type { State } from '../core/sandbox/state.ts';
import type { Start } from '../core/scenario/sandbox-start.ts';

/** Keeps the effect of a call before its reply leaves. */
export interface ServerPersistence extends Persistence {
  /** Throws or rejects with a StorageError. `call` is pure: it can run again on a newer state. */
  run<T>(sandbox: Sandbox, call: () => Outcome<T>): T | Promise<T>;
  /** Takes the outcome of a call that could not be kept, as far as it can. */
  runFailed<T>(sandbox: Sandbox, call: () => Outcome<T>): T | Promise<T>;
  /** Whether a restart keeps its records. */
  isDurable(sandbox: Sandbox): boolean;
  /** What this server alone has answered, for its reports at exit. */
  served(): Totals;
}

/** Keeps the own scenarios of the default sandbox. Throws a StorageError, and then nothing has changed. */
export type SaveScenarios = (before: State['scenarios'], after: State['scenarios']) => void;

/** The default: sandboxes live as long as the process. */
export class MemoryPersistence implements ServerPersistence {
  readonly problem = undefined;
  readonly whyNoPast = undefined;
  readonly #sandboxes: Sandboxes;
  readonly #saveScenarios: SaveScenarios | undefined;

  constructor(sandboxes: Sandboxes, saveScenarios?: SaveScenarios) {
    this.#sandboxes = sandboxes;
    this.#saveScenarios = saveScenarios;
  }

  run<T>(sandbox: Sandbox, call: () => Outcome<T>): T | Promise<T> {
    const outcome = call();
    this.saveScenarios(sandbox, outcome.before, outcome.state);
    return sandbox.take(outcome);
  }

  protected saveScenarios(
    sandbox: Sandbox,
    { scenarios: before }: State,
    { scenarios: after }: State,
  ): void {
    if (before !== after && sandbox === this.#sandboxes.default) {
      this.#saveScenarios?.(before, after);
    }
  }

  runFailed<T>(sandbox: Sandbox, call: () => Outcome<T>): T | Promise<T> {
    return this.run(sandbox, call);
  }

  of(sandbox: Sandbox): KeptSandbox {
    const { journal } = sandbox;
    return {
      journal: {
        size: async () => journal.size(),
        select: async (query) => journal.select(query, sandbox.held()),
        find: async (number) =>
          journal.find(number) ?? sandbox.held().find((held) => held.number === number),
        totals: async () => journal.totals(),
        held: async () => sandbox.held(),
      },
      run: async (call) => this.run(sandbox, call),
      release: async (which, why) => sandbox.holds.release(which, why),
      subscribe: (listener) => sandbox.subscribe(listener),
    };
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
