import type { Choices } from '../contract/assumption-table.ts';
import { Coverage } from '../evidence/coverage.ts';
import type { Seen } from '../evidence/exchange.ts';
import { Findings, type OnFinding } from '../evidence/findings.ts';
import { Journal, type Observer } from '../evidence/journal.ts';
import { isDelivered, isShown, type Outcome } from '../scenario/outcome.ts';
import { type RuleBook, Rules } from '../scenario/rules.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import { MovableClock } from '../service/clock.ts';
import type { Call } from '../service/input.ts';
import { createWorld, type World, withChoices } from '../service/world.ts';
import { indexByStatus } from '../store/animals-by-status.ts';
import { forkStore, restoreStore, type Store, versionOf } from '../store/store.ts';

/** What all sandboxes of a server share. */
export interface SandboxShare {
  /** How many exchanges each journal keeps. */
  readonly journal: number;
  readonly observers: ReadonlySet<Observer>;
  readonly onFinding: OnFinding | undefined;
  /** Keeps what sandboxes have seen before they forget it. */
  readonly forgotten: (sandbox: Sandbox) => void;
}

/** Keeps a store in a file. */
export interface SandboxFile {
  readonly store: Store;
  /** Resolves when every change made to the store is in the file; else the store is put back. */
  saved(): Promise<void>;
}

/** A change that could not be saved, and was not made. */
export class NotSavedError extends Error {
  override readonly name = 'NotSavedError';

  constructor(cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`the change was not made: ${why}`, { cause });
  }
}

/** What a reset can leave as it is. */
export const KEEPABLE = ['store', 'scenario', 'assumptions', 'clock', 'journal'] as const;

export type Kept = (typeof KEEPABLE)[number];

type Keep = ReadonlySet<Kept>;

const KEEP_NOTHING: Keep = new Set();

interface SandboxOptions {
  readonly file?: SandboxFile | undefined;
  /** Answers one request and is dropped: what it saw is kept as that of a deleted sandbox. */
  readonly passing?: boolean;
}

/** One isolated universe: a world, the rules around it, and what it has seen. */
export class Sandbox {
  readonly name: string;
  readonly clock: MovableClock;
  readonly journal: Journal;
  readonly coverage: Coverage;
  readonly findings: Findings;
  /** Where every change is kept before it is acknowledged, if anywhere. */
  readonly file: SandboxFile | undefined;
  readonly #share: SandboxShare;
  readonly #passing: boolean;
  #origin: Start;
  #start: Start;
  #world: World;
  #rules: Rules;
  // Made when they are wanted: most sandboxes have neither, and there can be many sandboxes.
  #snapshots: Map<string, Store> | undefined;
  /** Rules of scenarios that single requests asked for. */
  #preferred: Map<string, Rules> | undefined;
  #endings: Set<() => void> | undefined;
  /** The version of the store that was saved last. */
  #saved: number | undefined;

  constructor(
    name: string,
    start: Start,
    share: SandboxShare,
    { file, passing = false }: SandboxOptions = {},
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

  /** What operations see. It is another one after the assumptions or the scenario have changed. */
  get world(): World {
    return this.#world;
  }

  get rules(): Rules {
    return this.#rules;
  }

  /** The rules of a scenario for requests that ask for it by name; their calls are counted here. */
  preferredRules(scenario: string, book: RuleBook): Rules {
    this.#preferred ??= new Map();
    let rules = this.#preferred.get(scenario);
    if (rules === undefined) {
      rules = new Rules(book, this.#start.seed);
      this.#preferred.set(scenario, rules);
    }
    return rules;
  }

  /** Stores kept under a name, to be brought back. */
  get snapshots(): Map<string, Store> {
    this.#snapshots ??= new Map();
    return this.#snapshots;
  }

  get start(): Start {
    return this.#start;
  }

  /** What a reset goes back to. */
  get origin(): Start {
    return this.#origin;
  }

  /** Takes an exchange in: in the journal, and what it shows of the client. */
  take(seen: Seen, outcome: Outcome): void {
    this.journal.record(this.clock.now(), seen, outcome);
    const { call } = seen;
    if (call !== undefined) this.#takeCall(seen, call, outcome);
    if (this.#passing) this.#share.forgotten(this);
  }

  #takeCall(seen: Seen, call: Call, outcome: Outcome): void {
    const world = this.#world;
    const exchange = this.journal.number;
    const { delay } = outcome;
    const reply = isShown(outcome) ? outcome.reply : undefined;
    // The document knows no HEAD, and a reply that is spoilt on its way is not the documented one.
    if (reply !== undefined && isDelivered(outcome) && seen.method !== 'HEAD') {
      this.coverage.record(exchange, call, reply, world);
    }
    this.findings.record({ exchange, seen, call, reply, delay, world });
  }

  /** Identifies what the store holds now, for `saved`. */
  get version(): number {
    return this.file === undefined ? 0 : versionOf(this.#world.store);
  }

  /**
   * Saves the changes made to the store since `version`. A change must be saved before it is
   * acknowledged.
   *
   * @returns undefined if there is nothing to save; rejects with a NotSavedError, the store put back,
   *   if saving fails
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

  /** Chooses other options from now on. */
  assume(choices: Choices): void {
    this.#world = withChoices(this.#world, choices);
  }

  /**
   * Puts the records back to how the sandbox started. Call `reset` once that is saved.
   *
   * @param keep what stays as it is
   */
  resetStore(keep: Keep = KEEP_NOTHING): void {
    if (!keep.has('store')) restoreStore(this.#world.store, this.#startFor(keep).store);
  }

  /** Puts everything but the records back to how the sandbox started. */
  reset(keep: Keep = KEEP_NOTHING): void {
    const { choices } = this.#world;
    this.#enter(this.#startFor(keep), keep.has('clock'));
    if (keep.has('assumptions')) this.assume(choices);
    if (keep.has('journal')) return;
    this.journal.clear();
    this.#share.forgotten(this);
    this.coverage.clear();
    this.findings.clear();
  }

  /** Restarts from another start, which is also what a reset goes back to. */
  restart(start: Start, keepStore = false): void {
    if (!keepStore) restoreStore(this.#world.store, start.store);
    this.#origin = start;
    this.#enter(start);
  }

  /** Continues with other scenarios. The records are left to the caller, a reset undoes it. */
  use(start: Start): void {
    this.#enter(start);
  }

  #startFor(keep: Keep): Start {
    return keep.has('scenario') ? this.#start : this.#origin;
  }

  #enter(start: Start, keepClock = false): void {
    if (!keepClock) this.clock.reset(start.clock);
    this.#start = start;
    this.#world = this.#worldFrom(start, this.#world.store);
    this.#rules = new Rules(start.rules, start.seed);
    this.#preferred = undefined;
  }

  /**
   * Calls back when the sandbox is no more: deleted, or its server closed.
   *
   * @returns takes it back
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
