import type { Choices } from '../contract/assumption-table.ts';
import { Coverage } from '../evidence/coverage.ts';
import type { ExchangeEvidence } from '../evidence/evidence-shapes.ts';
import type { Seen } from '../evidence/exchange.ts';
import { Findings } from '../evidence/findings.ts';
import { Journal } from '../evidence/journal.ts';
import { putExchange, recordExchange, witnessExchange } from '../evidence/witness.ts';
import type { Outcome } from '../scenario/outcome.ts';
import { type RuleBook, Rules } from '../scenario/rules.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import { MovableClock } from '../service/clock.ts';
import { type CountNote, Counts } from '../service/counts.ts';
import { type World, withChoices } from '../service/world.ts';
import { forkStore, restoreStore, type Store } from '../store/store.ts';
import type { Added, Change, SandboxLog, SandboxSnapshot } from './change.ts';
import { Commits, type Job } from './commits.ts';
import { Past } from './past.ts';
import { SandboxReplica } from './sandbox-replica.ts';
import type { SandboxShare } from './sandbox-share.ts';
import { firstSetup, type Setup, setupFrom } from './setup.ts';
import type { Upstream } from './upstream.ts';

/** What a reset can keep. */
export const KEEPABLE = ['store', 'scenario', 'assumptions', 'clock', 'journal'] as const;

export type Kept = (typeof KEEPABLE)[number];

const KEEP_NOTHING: ReadonlySet<Kept> = new Set();

const NOTHING_ADDED: Added = {};

/** One isolated universe: a world, the rules around it, and the evidence of its exchanges. */
export class Sandbox {
  readonly name: string;
  readonly clock: MovableClock;
  readonly journal: Journal;
  readonly coverage: Coverage;
  readonly findings: Findings;
  readonly #share: SandboxShare;
  readonly #passing: boolean;
  readonly #kept: SandboxLog | undefined;
  /** Undefined if the changes are kept in memory only. */
  readonly #commits: Commits<Change, SandboxSnapshot> | undefined;
  /** All settings but the clock. */
  setup: Setup;
  // Created on first use: there can be many sandboxes, and most have none.
  #endings: Set<() => void> | undefined;
  /** Notes what rules and rates count; undefined if nobody wants to know. */
  notes: CountNote[] | undefined;
  /** In a fleet, the evidence of this sandbox before resets, and of deleted ones in the default one. */
  past: Past | undefined;
  /** What the work that runs now adds to its change. */
  added = NOTHING_ADDED;

  /**
   * @param kept where changes are kept, before they are acknowledged
   * @param passing answers one request and is dropped; its evidence is kept as if it were deleted
   */
  constructor(name: string, start: Start, share: SandboxShare, kept?: SandboxLog, passing = false) {
    this.name = name;
    this.#passing = passing;
    this.clock = new MovableClock(start.clock);
    this.journal = new Journal(name, share.journal, share.observers);
    this.coverage = new Coverage(name);
    this.findings = new Findings(name, this.journal, share.onFinding);
    this.#share = share;
    const store = kept?.store ?? forkStore(start.store);
    this.setup = firstSetup(start, { store, upstream: share.upstream }, this.clock, this);
    this.#kept = kept;
    this.past = kept?.log.isShared ? new Past() : undefined;
    this.#commits =
      kept && new Commits(kept.log, new SandboxReplica(this, kept), kept.position, share.logMeter);
  }

  /** Whether changes outlast the server. */
  get isKept(): boolean {
    return this.#commits !== undefined;
  }

  /** What operations see. Replaced when the assumptions or the scenarios change. */
  get world(): World {
    return this.setup.world;
  }

  get rules(): Rules {
    return this.setup.rules;
  }

  /** The rules of a scenario that a single request asks for. Counts calls in this sandbox. */
  preferredRules({ scenario, book }: { scenario: string; book: RuleBook }): Rules {
    return new Rules(book, this.start.seed, this.preferredCounts(scenario));
  }

  /** The calls that the rules of such a scenario have counted. */
  preferredCounts(scenario: string): Counts<number> {
    const { preferred } = this.setup;
    const known = preferred.get(scenario);
    if (known !== undefined) return known;
    const counts = new Counts<number>(this);
    this.setup = { ...this.setup, preferred: new Map(preferred).set(scenario, counts) };
    return counts;
  }

  /** Saved stores, by name. */
  get snapshots(): ReadonlyMap<string, Store> {
    return this.setup.snapshots;
  }

  set snapshots(snapshots) {
    this.setup = { ...this.setup, snapshots };
  }

  get upstream(): Upstream | undefined {
    return this.setup.upstream;
  }

  set upstream(upstream) {
    this.setup = { ...this.setup, upstream };
  }

  get start(): Start {
    return this.setup.start;
  }

  /** What a reset returns to. */
  get origin(): Start {
    return this.setup.origin;
  }

  /** Records an exchange. Its value is the one that other servers record. */
  #take(seen: Seen, outcome: Outcome, value: ExchangeEvidence | undefined): void {
    this.#share.meter?.take(seen, outcome);
    if (value === undefined) recordExchange(this, seen, outcome);
    else putExchange(this, value, seen);
    if (this.#passing) this.#share.forgotten(this);
  }

  /**
   * Changes the sandbox. The only way to do so, except for `answer`.
   *
   * @param work changes it at once. May run again, from a state that other changes have led to.
   * @returns what `work` returned, once the change is kept
   * @throws NotSavedError if it cannot be kept; it is then undone
   */
  change<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      let result: T;
      let added = NOTHING_ADDED;
      const job: Job = {
        run: () => {
          this.added = NOTHING_ADDED;
          result = work();
          ({ added } = this);
        },
        kept: () => {
          this.settle(added);
          resolve(result);
        },
        failed: reject,
      };
      if (this.#commits !== undefined) this.#commits.add(job);
      else {
        job.run();
        job.kept();
      }
    });
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
    refuse: (asked: Asked, error: unknown) => Outcome,
  ): void {
    if (this.#commits === undefined) {
      const outcome = perform();
      this.#take(asked, outcome, undefined);
      send(asked, outcome);
      return;
    }
    const isShared = this.#kept?.log.isShared === true;
    let outcome: Outcome;
    let value: ExchangeEvidence | undefined;
    this.#commits.add({
      run: () => {
        outcome = perform();
        if (!isShared) return;
        value = witnessExchange(this, asked, outcome);
        this.added = { exchange: value };
      },
      kept: () => {
        this.#take(asked, outcome, value);
        send(asked, outcome);
      },
      failed: (error) => {
        const refusal = refuse(asked, error);
        // A journal that servers share has only what its log has.
        if (!isShared) this.#take(asked, refusal, undefined);
        send(asked, refusal);
      },
    });
  }

  /**
   * Resolves when memory holds exactly what is kept. Code that reads the sandbox outside of
   * `change` and `answer` waits for this first. Undefined without a log.
   *
   * @throws NotSavedError if the log cannot be read
   */
  current(): Promise<void> | undefined {
    return this.#commits?.current();
  }

  /** Changes the options of assumptions. */
  assume(choices: Choices): void {
    this.setup = { ...this.setup, world: withChoices(this.world, choices) };
  }

  /** Resets everything except what `keep` names. */
  reset(keep: ReadonlySet<Kept> = KEEP_NOTHING): void {
    const start = keep.has('scenario') ? this.start : this.origin;
    const { choices, store } = this.world;
    if (!keep.has('store')) restoreStore(store, start.store);
    this.use(start, keep.has('clock'));
    this.upstream = this.#share.upstream;
    if (keep.has('assumptions')) this.assume(choices);
    if (!keep.has('journal')) this.added = { cleared: 'evidence' };
  }

  /** Removes every exchange from the journal. */
  clearJournal(): void {
    this.added = { cleared: 'journal' };
  }

  /** Applies a kept change to the evidence, except for its exchange. */
  settle({ cleared, past }: Added): void {
    if (past !== undefined) this.past?.add(new Past(past));
    if (cleared === undefined) return;
    this.journal.clear();
    if (cleared === 'journal') return;
    if (this.past === undefined) this.#share.forgotten(this);
    else this.past.add(this);
    this.coverage.clear();
    this.findings.clear();
  }

  /** Restarts from another start, which is also what a reset returns to. */
  restart(start: Start, keepStore = false): void {
    if (!keepStore) restoreStore(this.world.store, start.store);
    this.setup = { ...this.setup, origin: start };
    this.use(start);
  }

  /** Continues from another start until a reset. Leaves the records to the caller. */
  use(start: Start, keepClock = false): void {
    if (!keepClock) this.clock.reset(start.clock);
    this.setup = setupFrom(this.setup, start, this.clock, this);
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
}
