import { DEFAULTS } from '../defaults.ts';
import { coverageOf } from '../evidence/coverage.ts';
import type { PastState } from '../evidence/evidence-shapes.ts';
import { type FindingsReport, findingsOf, type OnFinding } from '../evidence/findings.ts';
import type { Observer } from '../evidence/journal.ts';
import { LogMeter, Meter } from '../evidence/meter.ts';
import type { CoverageReport } from '../evidence/report-shapes.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import { MovableClock } from '../service/clock.ts';
import { checkKey, type Keyring, keyring, STAGING_KEY } from '../service/keyring.ts';
import { LogError } from '../store/log/change-log.ts';
import { forkStore } from '../store/store.ts';
import type { SandboxLog } from './change.ts';
import { NotSavedError } from './commits.ts';
import type { Fleet, Opening } from './fleet.ts';
import { Past } from './past.ts';
import { Sandbox } from './sandbox.ts';
import { DEFAULT_SANDBOX, STAGING_SANDBOX } from './sandbox-names.ts';
import { stateOf } from './sandbox-replica.ts';
import type { SandboxShare } from './sandbox-share.ts';
import type { Upstream } from './upstream.ts';

export interface SandboxLimits {
  /** How many exchanges each sandbox keeps; 1,000 by default, 0 keeps none. */
  readonly journal?: number | undefined;
  /** How many sandboxes there may be besides the default one and staging; 10,000 by default. */
  readonly maxSandboxes?: number | undefined;
  /** Whether exchanges are counted for the metrics from the start, not only once they were read. */
  readonly metrics?: boolean | undefined;
  /** Whether a request must name a sandbox. */
  readonly sandboxRequired?: boolean | undefined;
  /** Called for each new finding. */
  readonly onFinding?: OnFinding | undefined;
}

/** Sandboxes of a fleet that a server holds in memory, besides the default one. */
const MOST_HELD = 10_000;

/** All sandboxes of a server, each created at its first use. */
export class Sandboxes {
  readonly required: boolean;
  readonly most: number;
  readonly default: Sandbox;
  /** Called after each exchange in any sandbox. */
  readonly observers = new Set<Observer>();
  readonly #past = new Past();
  readonly logMeter = new LogMeter();
  readonly #share: SandboxShare;
  readonly #named = new Map<string, Sandbox>();
  readonly #fleet: Fleet | undefined;
  #start: Start;

  /**
   * @param kept where the default sandbox's changes are kept, with its first records
   * @param upstream the deployment that answers in place of the mock
   * @param fleet where the changes of all sandboxes are kept
   */
  constructor(
    start: Start,
    {
      journal = DEFAULTS.journal,
      maxSandboxes = DEFAULTS.maxSandboxes,
      sandboxRequired = false,
      metrics = false,
      onFinding,
    }: SandboxLimits = {},
    kept?: SandboxLog,
    upstream?: Upstream,
    fleet?: Fleet,
  ) {
    this.required = sandboxRequired;
    this.most = maxSandboxes;
    this.#share = {
      journal,
      observers: this.observers,
      onFinding,
      upstream,
      meter: metrics ? new Meter() : undefined,
      logMeter: this.logMeter,
      forgotten: (sandbox) => this.#past.add(sandbox),
    };
    this.#start = kept === undefined ? start : { ...start, store: forkStore(kept.store) };
    this.#fleet = fleet;
    this.default = kept
      ? new Sandbox(DEFAULT_SANDBOX, this.#start, this.#share, kept)
      : this.#open(DEFAULT_SANDBOX);
  }

  /** @param mayCreate whether the first use creates the sandbox, if the fleet has none of this name */
  #open(name: string, mayCreate = true): Sandbox {
    const opening = this.#opening(name);
    const kept = this.#fleet?.open(opening, mayCreate, () => sandbox.end());
    const sandbox: Sandbox = new Sandbox(name, opening.start, this.#share, kept);
    return sandbox;
  }

  #opening(name: string): Opening {
    const start = this.startOf(name);
    return {
      name,
      start,
      startOf: (other) => this.startOf(name, other),
      initial: () => ({
        store: start.store,
        state: stateOf(new Sandbox(name, start, this.#share)),
      }),
    };
  }

  /**
   * The sandbox of a name, created if it is new. In a fleet, its creation can still fail later.
   *
   * @returns undefined if the limit of sandboxes is reached
   */
  find(name: string): Sandbox | undefined {
    if (name === DEFAULT_SANDBOX) return this.default;
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    // Staging always exists, used or not. The sandboxes of a fleet are counted elsewhere.
    const others = this.#named.size - (this.#named.has(STAGING_SANDBOX) ? 1 : 0);
    const isFull = this.#fleet === undefined && others >= this.most;
    if (name !== STAGING_SANDBOX && isFull) return undefined;
    const sandbox = this.#open(name);
    this.#named.set(name, sandbox);
    if (this.#fleet !== undefined && this.#named.size > MOST_HELD) {
      // Drops the one opened first. Its next use reads it again.
      const [oldest = name] = this.#named.keys();
      this.#named.delete(oldest);
    }
    return sandbox;
  }

  /**
   * The sandbox of a name for a service request. A request without a valid key creates none, so that
   * it cannot use up the limit: a temporary sandbox answers it.
   *
   * @returns undefined if the limit of sandboxes is reached
   */
  enter(name: string, authorization: string | undefined): Sandbox | undefined {
    if (this.has(name)) return this.find(name);
    const start = this.startOf(name);
    const clock = new MovableClock(start.clock);
    const check = checkKey(start.keys, authorization, { clock, startedAt: clock.now() });
    // Which keys are valid, only the deployment knows.
    const isIn = check.ok || this.#share.upstream !== undefined;
    if (isIn) return this.find(name);
    return this.#fleet === undefined
      ? new Sandbox(name, start, this.#share, undefined, true)
      : this.#open(name, false);
  }

  /** Every sandbox, the default one and staging first. */
  *[Symbol.iterator](): Generator<Sandbox> {
    yield this.default;
    const staging = this.find(STAGING_SANDBOX);
    if (staging !== undefined) yield staging;
    for (const sandbox of this.#named.values()) if (sandbox !== staging) yield sandbox;
  }

  has(name: string): boolean {
    return name === DEFAULT_SANDBOX || name === STAGING_SANDBOX || this.#named.has(name);
  }

  /**
   * Checks that a name is free, so that `find` creates its sandbox. In a fleet, creates the
   * sandbox, since another server could be faster.
   *
   * @throws NotSavedError
   */
  async reserve(name: string): Promise<boolean> {
    if (this.#fleet === undefined || name === DEFAULT_SANDBOX || name === STAGING_SANDBOX) {
      return !this.has(name);
    }
    return kept(this.#fleet.create(this.#opening(name)));
  }

  /** Deletes a sandbox wherever it is, as `delete` does. */
  async remove(name: string): Promise<boolean> {
    if (this.#fleet === undefined) return this.delete(name);
    const past = await this.#pastOf(name);
    const isFirst = await kept(this.#fleet.delete(name));
    this.delete(name);
    if (!isFirst) return false;
    const noted = this.default.change(() => {
      this.default.added = { past };
    });
    await noted.catch((cause) => {
      const message = 'the sandbox is deleted, but its coverage and findings could not be kept';
      throw new NotSavedError(new LogError(message, { cause, maybeDone: true }));
    });
    return true;
  }

  /** What a sandbox of the fleet leaves behind if it is deleted now. */
  async #pastOf(name: string): Promise<PastState> {
    // Not the one in memory, which would be created again.
    const sandbox = this.#open(name, false);
    await sandbox.current();
    const past = new Past(sandbox.past?.state);
    past.add(sandbox);
    return past.state;
  }

  /** Every sandbox as it is now, the default one and staging first. */
  async all(): Promise<Iterable<Sandbox>> {
    if (this.#fleet === undefined) return this;
    const names = await kept(this.#fleet.names());
    for (const [name, sandbox] of this.#named) {
      if (names.has(name) || name === STAGING_SANDBOX) continue;
      this.#named.delete(name);
      sandbox.end();
    }
    const [first, second] = [DEFAULT_SANDBOX, STAGING_SANDBOX];
    const sandboxes = [...new Set([first, second, ...[...names].sort()])].map((name) =>
      this.has(name) ? (this.find(name) ?? this.default) : this.#open(name, false),
    );
    await Promise.all(sandboxes.map((sandbox) => sandbox.current()));
    return sandboxes;
  }

  /** Deletes a sandbox, unless it is the default one or staging. Its next use creates a new one. */
  delete(name: string): boolean {
    const sandbox = name === STAGING_SANDBOX ? undefined : this.#named.get(name);
    if (sandbox === undefined) return false;
    this.#named.delete(name);
    if (this.#fleet === undefined) this.#past.add(sandbox);
    sandbox.end();
    return true;
  }

  #evidenceOf(all: Iterable<Sandbox>): readonly (Past | Sandbox)[] {
    const sandboxes = [...all];
    return [this.#past, ...sandboxes.flatMap(({ past }) => past ?? []), ...sandboxes];
  }

  /** What clients were shown in all sandboxes, including deleted and reset ones. */
  coverage(all: Iterable<Sandbox> = this): CoverageReport {
    return coverageOf(this.#evidenceOf(all).map((it) => it.coverage));
  }

  /** What clients did in all sandboxes, including deleted and reset ones. */
  findings(all: Iterable<Sandbox> = this): FindingsReport {
    return findingsOf(this.#evidenceOf(all).map((it) => it.findings));
  }

  /** Counts of what this server has answered since its start, or since this was first read. */
  get meter(): Meter {
    this.#share.meter ??= new Meter();
    return this.#share.meter;
  }

  /** The sandboxes in memory. */
  get size(): number {
    return 1 + this.#named.size;
  }

  /** Ends everything that lasts as long as a sandbox, so that a server can close. */
  end(): void {
    this.default.end();
    for (const sandbox of this.#named.values()) sandbox.end();
  }

  /** Restarts every sandbox after the files of the start changed. */
  async restart(start: Start): Promise<void> {
    this.#start = start;
    for (const sandbox of this) {
      // Changes in a `--db` file were acknowledged, so they stay.
      await sandbox.change(() => sandbox.restart(this.startOf(sandbox.name), sandbox.isKept));
    }
  }

  /** What the sandbox of a name starts from: staging has its own keys. */
  startOf(name: string, start: Start = this.#start): Start {
    return name === STAGING_SANDBOX ? stagingOf(start) : start;
  }

  /** The keys of the sandbox of a name, which need not exist yet. */
  keysOf(name: string): Keyring {
    return this.has(name) ? (this.find(name) ?? this.default).world.keys : this.#start.keys;
  }
}

/** What a fleet does, or a NotSavedError. */
async function kept<T>(done: Promise<T>): Promise<T> {
  try {
    return await done;
  } catch (error) {
    throw new NotSavedError(error);
  }
}

function stagingOf(start: Start): Start {
  const keyLists = { ...start.keyLists, valid: [STAGING_KEY], readOnly: [] };
  return { ...start, keyLists, keys: keyring(keyLists) };
}
