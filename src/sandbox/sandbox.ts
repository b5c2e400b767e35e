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

/** What all sandboxes of a server share. */
export interface SandboxShare {
  /** How many exchanges each journal keeps. */
  readonly journal: number;
  readonly observers: ReadonlySet<Observer>;
  readonly onFinding: OnFinding | undefined;
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

type Keep = ReadonlySet<Kept>;

const KEEP_NOTHING: Keep = new Set();

/** One isolated universe: a world, the rules around it, and the evidence of its exchanges. */
export class Sandbox {
  readonly name: string;
  readonly clock: MovableClock;
  readonly journal: Journal;
  readonly coverage: Coverage;
  readonly findings: Findings;
  /** The file that keeps every change before it is acknowledged, if there is one. */
  readonly file: SandboxFile | undefined;
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
  #saved: number | undefined;

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
  take(seen: Seen, outcome: Outcome): void {
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

  /** Identifies the current content of the store, for `saved`. */
  get version(): number {
    return this.file === undefined ? 0 : versionOf(this.#world.store);
  }

  /**
   * Saves the changes made to the store since `version`. A change must be saved before it is
   * acknowledged.
   *
   * @returns undefined if there is nothing to save; rejects with a NotSavedError if saving fails,
   *   after the store was restored
   */
  saved(version: number): Promise<void> | undefined {
    const changed = this.version;
    if (changed === version || changed === this.#saved) return undefined;
    return this.file?.saved().then(
      () => {
        this.#saved = changed;
      },
      (error: unknown) => {
        throw new NotSavedError(error);
      },
    );
  }

  /** Changes the options of assumptions. */
  assume(choices: Choices): void {
    this.#world = withChoices(this.#world, choices);
  }

  /**
   * Restores the records that the sandbox started with. Call `reset` after that is saved.
   *
   * @param keep what the reset does not change
   */
  resetStore(keep: Keep = KEEP_NOTHING): void {
    if (!keep.has('store')) restoreStore(this.#world.store, this.#startFor(keep).store);
  }

  /** Resets everything except the records. */
  reset(keep: Keep = KEEP_NOTHING): void {
    const { choices } = this.#world;
    this.use(this.#startFor(keep), keep.has('clock'));
    if (keep.has('assumptions')) this.assume(choices);
    if (keep.has('journal')) return;
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

  #startFor(keep: Keep): Start {
    return keep.has('scenario') ? this.#start : this.#origin;
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
