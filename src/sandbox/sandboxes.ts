import { setImmediate } from 'node:timers/promises';
import { DEFAULTS } from '../defaults.ts';
import { coverageOf } from '../evidence/coverage.ts';
import { type FindingsReport, findingsOf } from '../evidence/findings.ts';
import type { ExchangeListener } from '../evidence/journal.ts';
import { LogMeter, Meter } from '../evidence/meter.ts';
import type { CoverageReport } from '../evidence/report-shapes.ts';
import { totalsOf } from '../evidence/sandbox-evidence.ts';
import { type Start, stagingOf } from '../scenario/sandbox-start.ts';
import { thisInstant } from '../service/clock.ts';
import { checkKey, type Keyring } from '../service/keyring.ts';
import { type Fleet, KeeperError, NotSavedError, type Opening, saved } from './keeper.ts';
import type { SandboxShare } from './recorder.ts';
import { Sandbox } from './sandbox.ts';
import type { SandboxLimits, SandboxParts } from './sandbox-limits.ts';
import { DEFAULT_SANDBOX, STAGING_SANDBOX } from './sandbox-names.ts';
import { initialState, restarted } from './state.ts';
import { worldOf } from './step.ts';

/** Sandboxes of a fleet that a server holds in memory, besides the default one. */
const MOST_HELD = 10_000;

/** All sandboxes of a server, each created at its first use. */
export class Sandboxes {
  readonly required: boolean;
  readonly most: number;
  readonly default: Sandbox;
  /** Called after each exchange in any sandbox. */
  readonly observers = new Set<ExchangeListener>();
  readonly logMeter = new LogMeter();
  readonly #share: SandboxShare;
  readonly #named = new Map<string, Sandbox>();
  readonly #fleet: Fleet | undefined;
  #start: Start;

  constructor(
    start: Start,
    {
      journal = DEFAULTS.journal,
      maxSandboxes = DEFAULTS.maxSandboxes,
      sandboxRequired = false,
      metrics = false,
      maxHold = DEFAULTS.maxHold,
      onFinding,
    }: SandboxLimits = {},
    { keeper, fleet, upstream }: SandboxParts = {},
  ) {
    this.required = sandboxRequired;
    this.most = maxSandboxes;
    this.#share = {
      journal,
      maxHold,
      held: new Set(),
      isStopping: false,
      observers: this.observers,
      onFinding,
      upstream,
      meter: metrics ? new Meter() : undefined,
      logMeter: this.logMeter,
    };
    this.#start = start;
    this.#fleet = fleet;
    this.default =
      keeper === undefined
        ? this.#open(DEFAULT_SANDBOX)
        : new Sandbox(DEFAULT_SANDBOX, start, this.#share, keeper);
  }

  /** @param mayCreate whether the first use creates the sandbox, if the fleet has none of this name */
  #open(name: string, mayCreate = true): Sandbox {
    const opening = this.#opening(name);
    const keeper = this.#fleet?.keep(opening, mayCreate, () => sandbox.end());
    const sandbox: Sandbox = new Sandbox(name, opening.origin, this.#share, keeper);
    return sandbox;
  }

  #opening(name: string): Opening {
    const origin = this.startOf(name);
    return {
      name,
      origin,
      startOf: (other) => this.startOf(name, other),
      initial: () => {
        const { state, evidence } = new Sandbox(name, origin, this.#share);
        return { state, evidence: evidence.state };
      },
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
    const world = worldOf(initialState(start, undefined, thisInstant().wall));
    // Which keys are valid, only the deployment knows.
    const isUpstream = this.#share.upstream !== undefined;
    if (isUpstream || checkKey(start.keys, authorization, world).ok) return this.find(name);
    if (this.#fleet !== undefined) return this.#open(name, false);
    const forget = (): void => this.default.evidence.addPast(temporary.evidence.totals);
    const observers = new Set([...this.observers, forget]);
    const temporary = new Sandbox(name, start, { ...this.#share, observers });
    return temporary;
  }

  /** Every sandbox, the default one and staging first. */
  *[Symbol.iterator](): Generator<Sandbox> {
    yield this.default;
    const staging = this.#look(STAGING_SANDBOX);
    yield staging;
    for (const sandbox of this.#named.values()) if (sandbox !== staging) yield sandbox;
  }

  /** A sandbox for somebody who looks at it, which is no use of it. */
  #look(name: string): Sandbox {
    if (name === DEFAULT_SANDBOX) return this.default;
    return this.#named.get(name) ?? this.#open(name, false);
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
    return saved(this.#fleet.create(this.#opening(name)));
  }

  /**
   * Deletes a sandbox on every server, unless it is the default one or staging. Its next use creates a
   * new one. Its coverage and findings stay with those of the default one.
   *
   * @param unusedFor how long it must not have been used, in milliseconds
   * @returns false if there is none, or if it was used too lately
   * @throws NotSavedError
   */
  async remove(name: string, unusedFor = 0): Promise<boolean> {
    if (this.#fleet === undefined) {
      const { unused = 0 } = this.#named.get(name)?.evidence ?? {};
      const sandbox = unused < unusedFor ? undefined : this.#forget(name);
      if (sandbox === undefined) return false;
      await this.#keepTotals(sandbox);
      // It may be one of many: requests go on between them.
      await setImmediate();
      return true;
    }
    // Not the one in memory, which would be created again.
    const sandbox = this.#open(name, false);
    await sandbox.current();
    if (unusedFor > 0 && sandbox.evidence.isHolding) return false;
    const isFirst = await saved(this.#fleet.delete(name, () => sandbox.current(), unusedFor));
    if (isFirst || unusedFor === 0) this.#forget(name);
    if (!isFirst) return false;
    await this.#keepTotals(sandbox).catch((cause) => {
      const message = 'the sandbox is deleted, but its coverage and findings could not be kept';
      throw new NotSavedError(new KeeperError(message, { cause, isMaybeDone: true }));
    });
    return true;
  }

  /** Adds the totals of a sandbox that is gone to those of the default one. */
  #keepTotals(sandbox: Sandbox): Promise<void> {
    const past = totalsOf([sandbox]).toJSON();
    return this.default.change((state) => ({ state, result: undefined, past }));
  }

  #forget(name: string): Sandbox | undefined {
    const sandbox = name === STAGING_SANDBOX ? undefined : this.#named.get(name);
    if (sandbox === undefined) return undefined;
    this.#named.delete(name);
    sandbox.end();
    return sandbox;
  }

  /**
   * Milliseconds since each sandbox was used, by name, the default one and staging first.
   *
   * @throws NotSavedError
   */
  async unused(): Promise<ReadonlyMap<string, number>> {
    const unused =
      this.#fleet === undefined
        ? new Map(
            [this.default, ...this.#named.values()].map((it) => [it.name, it.evidence.unused]),
          )
        : await saved(this.#fleet.unused());
    for (const name of [...this.#named.keys()]) if (!unused.has(name)) this.#forget(name);
    const names = new Set([DEFAULT_SANDBOX, STAGING_SANDBOX, ...unused.keys()]);
    // Staging exists before its first use.
    return new Map(Array.from(names, (name) => [name, unused.get(name) ?? performance.now()]));
  }

  /** Sandboxes as they are now, without those that are gone. */
  async load(names: Iterable<string>): Promise<readonly Sandbox[]> {
    const isGone = (name: string) => this.#fleet === undefined && !this.has(name);
    const sandboxes = [...names].flatMap((name) => (isGone(name) ? [] : this.#look(name)));
    await Promise.all(sandboxes.map((sandbox) => sandbox.current()));
    return sandboxes;
  }

  /** Every sandbox as it is now, the default one and staging first. */
  async all(): Promise<Iterable<Sandbox>> {
    return this.#fleet === undefined ? this : this.load((await this.unused()).keys());
  }

  /** What clients were shown in all sandboxes, including deleted and reset ones. */
  coverage(all: Iterable<Sandbox> = this): CoverageReport {
    return coverageOf(totalsOf(all));
  }

  /** What clients did in all sandboxes, including deleted and reset ones. */
  findings(all: Iterable<Sandbox> = this): FindingsReport {
    return findingsOf(totalsOf(all));
  }

  /** Counts of what this server has answered since its start, or since this was first read. */
  get meter(): Meter {
    this.#share.meter ??= new Meter();
    return this.#share.meter;
  }

  /** Sandboxes in memory. */
  get size(): number {
    return 1 + this.#named.size;
  }

  /** Ends everything that lasts as long as a sandbox, so that a server can close. */
  async end(): Promise<void> {
    this.#share.isStopping = true;
    const ended = Promise.all([...this.#share.held].map((held) => held.end('stopped')));
    for (const sandbox of [this.default, ...this.#named.values()]) sandbox.end();
    await ended;
  }

  /** Restarts every sandbox after the files of the start changed. */
  async restart(start: Start): Promise<void> {
    this.#start = start;
    for (const sandbox of this) {
      const origin = this.startOf(sandbox.name);
      sandbox.origin = origin;
      // Changes in a `--db` file were acknowledged, so they stay.
      const keep = new Set(sandbox.hasKeeper ? (['store'] as const) : []);
      await sandbox.change((state, { wall }) => ({
        state: restarted(state, origin, wall, keep),
        result: undefined,
      }));
    }
  }

  /** What the sandbox of a name starts from: staging has its own keys. */
  startOf(name: string, start: Start = this.#start): Start {
    return name === STAGING_SANDBOX ? stagingOf(start) : start;
  }

  /** The keys of the sandbox of a name, which need not exist yet. */
  keysOf(name: string): Keyring {
    const sandbox = this.has(name) ? this.find(name) : undefined;
    return (sandbox?.state.settings.start ?? this.#start).keys;
  }
}
