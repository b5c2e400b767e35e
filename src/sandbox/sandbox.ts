import type { Choices } from '../contract/assumption-table.ts';
import { Coverage } from '../evidence/coverage.ts';
import type { Seen } from '../evidence/exchange.ts';
import { Findings, type OnFinding } from '../evidence/findings.ts';
import { Journal, type Observer } from '../evidence/journal.ts';
import { isDelivered, isShown, type Outcome } from '../scenario/outcome.ts';
import { type RuleBook, Rules } from '../scenario/rules.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import { MovableClock } from '../service/clock.ts';
import { createWorld, type World, withChoices } from '../service/world.ts';
import { indexByStatus } from '../store/animals-by-status.ts';
import { forkStore, restoreStore, type Store, versionOf } from '../store/store.ts';
import type { Upstream } from './upstream.ts';

/** What all sandboxes of a server share. */
export interface SandboxShare {
  /** How many exchanges each journal keeps. */
  readonly journal: number;
  readonly observers: ReadonlySet<Observer>;
  readonly onFinding: OnFinding | undefined;
  /** The deployment that answers in each sandbox at first; undefined if the mock does. */
  readonly upstream: Upstream | undefined;
  /** Called before a sandbox forgets its evidence. */
  readonly forgotten: (sandbox: Sandbox) => void;
}

/** Keeps a store in a file. */
export interface SandboxFile {
  readonly store: Store;
  /** Resolves when the file has every change of the store. Before it rejects, the store is restored. */
  saved(): Promise<void>;
}

/** A change that could not be saved and was undone. */
export class NotSavedError extends Error {
  override readonly name = 'NotSavedError';

  constructor(cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`the change was not made: ${why}`, { cause });
  }
}

/** What a reset can keep. */
export const KEEPABLE = ['store', 'scenario', 'assumptions', 'clock', 'journal'] as const;

export type Kept = (typeof KEEPABLE)[number];

const KEEP_NOTHING: ReadonlySet<Kept> = new Set();

/** One isolated universe: a world, the rules around it, and the evidence of its exchanges. */
export class Sandbox {
  readonly name: string;
  readonly clock: MovableClock;
  readonly journal: Journal;
  readonly coverage: Coverage;
  readonly findings: Findings;
  /** The file that keeps every change before it is acknowledged, if there is one. */
  readonly file: SandboxFile | undefined;
  /** The deployment that answers; undefined if the mock does. */
  upstream: Upstream | undefined;
  readonly #share: SandboxShare;
  readonly #passing: boolean;
  #origin: Start;
  #start: Start;
  #world: World;
  #rules: Rules;
  // Created on first use: there can be many sandboxes, and most have none of these.
  #snapshots: Map<string, Store> | undefined;
  /** Rules of scenarios that single requests asked for. */
  #preferred: Map<string, Rules> | undefined;
  #endings: Set<() => void> | undefined;
  /** The version of the store that was saved last. */
  #savedVersion: number | undefined;
  /** What the change that is made now does to the evidence, once it is kept. */
  #whenKept: (() => void)[] = [];

  /**
   * @param passing answers one request and is dropped; its evidence is kept as if it were deleted
   */
  constructor(
    name: string,
    start: Start,
    share: SandboxShare,
    file?: SandboxFile,
    passing = false,
  ) {
    this.name = name;
    this.file = file;
    this.upstream = share.upstream;
    this.#passing = passing;
    this.#origin = start;
    this.clock = new MovableClock(start.clock);
    this.journal = new Journal(name, share.journal, share.observers);
    this.coverage = new Coverage(name);
    this.findings = new Findings(name, this.journal, share.onFinding);
    this.#share = share;
    this.#start = start;
    this.#world = this.#worldFrom(start, file?.store ?? forkStore(start.store));
    this.#rules = new Rules(start.rules, start.seed);
  }

  /** What operations see. Replaced when the assumptions or the scenarios change. */
  get world(): World {
    return this.#world;
  }

  get rules(): Rules {
    return this.#rules;
  }

  /** The rules of a scenario that single requests ask for. Counts calls in this sandbox. */
  preferredRules(scenario: string, book: RuleBook): Rules {
    this.#preferred ??= new Map();
    let rules = this.#preferred.get(scenario);
    if (rules === undefined) {
      rules = new Rules(book, this.#start.seed);
      this.#preferred.set(scenario, rules);
    }
    return rules;
  }

  /** Saved stores, by name. */
  get snapshots(): Map<string, Store> {
    this.#snapshots ??= new Map();
    return this.#snapshots;
  }

  get start(): Start {
    return this.#start;
  }

  /** What a reset returns to. */
  get origin(): Start {
    return this.#origin;
  }

  /** Records an exchange: in the journal, and as evidence of what the client was shown and did. */
  #take(seen: Seen, outcome: Outcome): void {
    const world = this.#world;
    const at = this.clock.now();
    this.journal.record(at, seen, outcome, this.clock.frozen);
    const { call, method } = seen;
    const exchange = this.journal.number;
    const { delay } = outcome;
    if (call !== undefined) {
      const reply = isShown(outcome) ? outcome.reply : undefined;
      // The document knows no HEAD, and a spoilt reply is not the documented one.
      if (reply !== undefined && isDelivered(outcome) && method !== 'HEAD') {
        this.coverage.record(exchange, call, reply, world);
      }
      this.findings.record({ exchange, at, seen, call, reply, delay, world });
    }
    if (this.#passing) this.#share.forgotten(this);
  }

  /**
   * Changes the sandbox. The only way to do so, except for `answer`.
   *
   * @param work changes it at once. May run again, from a state that other changes have led to.
   * @returns what `work` returned, once the change is kept
   * @throws NotSavedError if it cannot be kept; it is then undone
   */
  async change<T>(work: () => T): Promise<T> {
    const version = versionOf(this.#world.store);
    const undo = this.#undo();
    this.#whenKept = [];
    const result = work();
    const effects = this.#whenKept;
    try {
      await this.#saved(version);
    } catch (error) {
      undo();
      throw error;
    }
    for (const effect of effects) effect();
    return result;
  }

  /**
   * Answers a request: performs it, and sends its outcome once what it changed is kept. Records the
   * exchange before. Without a log, all of that happens at once.
   *
   * @param perform may run again, from a state that other changes have led to
   * @param refuse makes the outcome for the error if the change cannot be kept; it is then undone
   */
  answer<Asked extends Seen>(
    asked: Asked,
    perform: () => Outcome,
    send: (asked: Asked, outcome: Outcome) => void,
    refuse: (asked: Asked, error: NotSavedError) => Outcome,
  ): void {
    if (this.file === undefined) {
      const outcome = perform();
      this.#take(asked, outcome);
      send(asked, outcome);
      return;
    }
    const version = versionOf(this.#world.store);
    const finish = (outcome: Outcome): void => {
      this.#take(asked, outcome);
      send(asked, outcome);
    };
    const outcome = perform();
    this.#saved(version).then(
      () => finish(outcome),
      (error: NotSavedError) => finish(refuse(asked, error)),
    );
  }

  /**
   * Resolves when memory holds what is kept, and all of it. Undefined if it does now. Whoever reads the
   * sandbox outside of `change` and `answer` waits for this before.
   */
  current(): Promise<void> | undefined {
    return undefined;
  }

  async #saved(version: number): Promise<void> {
    const changed = versionOf(this.#world.store);
    if (changed === version || changed === this.#savedVersion) return;
    try {
      await this.file?.saved();
    } catch (error) {
      throw new NotSavedError(error);
    }
    this.#savedVersion = changed;
  }

  /** Returns what undoes the changes of settings from now on. */
  #undo(): () => void {
    const { state } = this.clock;
    const [world, rules, start, origin] = [this.#world, this.#rules, this.#start, this.#origin];
    const [preferred, snapshots] = [this.#preferred, this.#snapshots && new Map(this.#snapshots)];
    return () => {
      this.clock.restore(state);
      [this.#world, this.#rules, this.#start, this.#origin] = [world, rules, start, origin];
      [this.#preferred, this.#snapshots] = [preferred, snapshots];
    };
  }

  /** Changes the options of assumptions. */
  assume(choices: Choices): void {
    this.#world = withChoices(this.#world, choices);
  }

  /** Resets everything except what `keep` names. */
  reset(keep: ReadonlySet<Kept> = KEEP_NOTHING): void {
    const start = keep.has('scenario') ? this.#start : this.#origin;
    const { choices, store } = this.#world;
    if (!keep.has('store')) restoreStore(store, start.store);
    this.use(start, keep.has('clock'));
    this.upstream = this.#share.upstream;
    if (keep.has('assumptions')) this.assume(choices);
    if (!keep.has('journal')) this.#whenKept.push(() => this.#forget());
  }

  /** Removes every exchange from the journal. */
  clearJournal(): void {
    this.#whenKept.push(() => this.journal.clear());
  }

  #forget(): void {
    this.journal.clear();
    this.#share.forgotten(this);
    this.coverage.clear();
    this.findings.clear();
  }

  /** Restarts from another start, which is also what a reset returns to. */
  restart(start: Start, keepStore = false): void {
    if (!keepStore) restoreStore(this.#world.store, start.store);
    this.#origin = start;
    this.use(start);
  }

  /** Continues from another start until a reset. Leaves the records to the caller. */
  use(start: Start, keepClock = false): void {
    if (!keepClock) this.clock.reset(start.clock);
    this.#start = start;
    this.#world = this.#worldFrom(start, this.#world.store);
    this.#rules = new Rules(start.rules, start.seed);
    this.#preferred = undefined;
  }

  /**
   * Calls back when the sandbox is deleted or its server closes.
   *
   * @returns cancels the callback
   */
  onEnd(ending: () => void): () => void {
    this.#endings ??= new Set();
    this.#endings.add(ending);
    return () => this.#endings?.delete(ending);
  }

  end(): void {
    for (const ending of this.#endings ?? []) ending();
    this.#endings = undefined;
  }

  #worldFrom({ choices, keys, seed }: Start, store: Store): World {
    // In the background, so that a large store starts at once.
    void indexByStatus(store.animals.base);
    return createWorld({ store, clock: this.clock, choices, keys, seed });
  }
}
