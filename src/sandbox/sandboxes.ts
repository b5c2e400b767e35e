import { setImmediate } from 'node:timers/promises';
import { DEFAULTS } from '../defaults.ts';
import type { ExchangeListener } from '../evidence/journal.ts';
import { LogMeter, Meter } from '../evidence/meter.ts';
import { totalsOf } from '../evidence/sandbox-evidence.ts';
import { type Start, stagingOf } from '../scenario/sandbox-start.ts';
import { thisInstant } from '../service/clock.ts';
import { checkKey, type Keyring } from '../service/keyring.ts';
import { type Fleet, type Keeper, KeeperError, type Opening } from './keeper.ts';
import type { SandboxShare } from './recorder.ts';
import { Sandbox } from './sandbox.ts';
import { DEFAULT_SANDBOX, PERMANENT, STAGING_SANDBOX } from './sandbox-names.ts';
import type { SandboxOptions } from './sandbox-options.ts';
import { initialState, restartState, type State } from './state.ts';
import { worldOf } from './step.ts';
import type { Upstream } from './upstream.ts';

/** What keeps sandboxes, and what answers in them. */
export interface SandboxParts {
  /** Keeps the default sandbox. */
  readonly keeper?: Keeper | undefined;
  /** Keeps all sandboxes. */
  readonly fleet?: Fleet | undefined;
  /** The deployment that answers in place of the mock. */
  readonly upstream?: Upstream | undefined;
}

/** Sandboxes of a fleet that a server holds in memory, besides the default one. */
const MOST_IN_MEMORY = 10_000;

/** All sandboxes of a server, each created at its first use. */
export class Sandboxes {
  readonly required: boolean;
  readonly most: number;
  readonly default: Sandbox;
  /** Called after each exchange in any sandbox. */
  readonly observers = new Set<ExchangeListener>();
  readonly logMeter = new LogMeter();
  readonly #share: SandboxShare;
  /** By name, the permanent ones first. */
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
    }: SandboxOptions = {},
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
    this.#named.set(DEFAULT_SANDBOX, this.default);
    this.#named.set(STAGING_SANDBOX, this.#open(STAGING_SANDBOX));
  }

  /** @param mayCreate whether the first use creates the sandbox, if the fleet has none of this name */
  #open(name: string, mayCreate = true): Sandbox {
    const opening = this.#opening(name);
    const keeper = this.#fleet?.keep(opening, mayCreate, () => sandbox.end());
    const sandbox: Sandbox = new Sandbox(name, opening.origin, this.#share, keeper);
    return sandbox;
  }

  #opening(name: string): Opening {
    const origin = this.startOfSandbox(name);
    return {
      name,
      origin,
      ownStart: (other) => this.startOfSandbox(name, other),
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
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    // The sandboxes of a fleet are counted elsewhere.
    const isFull = this.#named.size >= this.most + PERMANENT.length;
    if (isFull && this.#fleet === undefined) return undefined;
    const sandbox = this.#open(name);
    this.#named.set(name, sandbox);
    if (this.#fleet !== undefined && this.#named.size > MOST_IN_MEMORY) {
      // Drops the one opened first. Its next use reads it again.
      const [, , oldest = name] = this.#named.keys();
      this.#named.delete(oldest);
    }
    return sandbox;
  }

  /**
   * The sandbox of a name for a service request. A request without a valid key creates none, so that
   * it cannot use up the limit: it is answered from the state that a new one would have.
   *
   * @returns undefined if the limit of sandboxes is reached
   */
  enter(name: string, authorization: string | undefined): Sandbox | State | undefined {
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    const state = initialState(this.startOfSandbox(name), undefined, thisInstant().wall);
    const { keys } = state.settings.start;
    // Which keys are valid, only the deployment knows.
    const isUpstream = this.#share.upstream !== undefined;
    if (isUpstream || checkKey(keys, authorization, worldOf(state)).ok) return this.find(name);
    return this.#fleet === undefined ? state : this.#open(name, false);
  }

  /** Every sandbox, the default one and staging first. */
  [Symbol.iterator](): Iterator<Sandbox> {
    return this.#named.values();
  }

  /**
   * Checks that a name is free, so that `find` creates its sandbox. In a fleet, creates the
   * sandbox, since another server could be faster.
   *
   * @throws KeeperError
   */
  async reserve(name: string): Promise<boolean> {
    if (this.#fleet === undefined || PERMANENT.includes(name)) return !this.#named.has(name);
    return this.#fleet.create(this.#opening(name));
  }

  /**
   * Deletes a sandbox on every server, unless it is the default one or staging. Its next use creates a
   * new one. Its coverage and findings stay with those of the default one.
   *
   * @param unusedFor how long it must not have been used, in milliseconds
   * @returns false if there is none, or if it was used too recently
   * @throws KeeperError
   */
  async remove(name: string, unusedFor = 0): Promise<boolean> {
    if (PERMANENT.includes(name)) return false;
    const fleet = this.#fleet;
    // Of a fleet, not the one in memory, which would be created again.
    const sandbox = fleet === undefined ? this.#named.get(name) : this.#open(name, false);
    if (sandbox === undefined) return false;
    await sandbox.current();
    const { isHolding, unused } = sandbox.evidence;
    // How long a fleet has not used it, only Redis knows.
    const isUsed = isHolding || (fleet === undefined && unused < unusedFor);
    if (unusedFor > 0 && isUsed) return false;
    const isFirst =
      fleet === undefined
        ? this.#named.get(name) === sandbox
        : await fleet.delete(name, () => sandbox.current(), unusedFor);
    if (isFirst || unusedFor === 0) this.#forget(name);
    if (!isFirst) return false;
    const past = totalsOf([sandbox]).toJSON();
    const change = this.default.change((state) => ({ state, result: undefined, past }));
    await change.catch((cause) => {
      const message = 'the sandbox is deleted, but its coverage and findings could not be kept';
      throw new KeeperError(message, { cause, isOutcomeUnknown: true });
    });
    // It may be one of many: requests go on between them.
    await setImmediate();
    return true;
  }

  #forget(name: string): void {
    if (PERMANENT.includes(name)) return;
    this.#named.get(name)?.end();
    this.#named.delete(name);
  }

  /**
   * Milliseconds since each sandbox was used, by name, the default one and staging first.
   *
   * @throws KeeperError
   */
  async unused(): Promise<ReadonlyMap<string, number>> {
    if (this.#fleet === undefined) {
      return new Map(Array.from(this, ({ name, evidence }) => [name, evidence.unused]));
    }
    const unused = await this.#fleet.unused();
    for (const name of [...this.#named.keys()]) if (!unused.has(name)) this.#forget(name);
    // These exist before their first use.
    const permanent = PERMANENT.map((name) => [name, performance.now()] as const);
    return new Map([...permanent, ...unused]);
  }

  /** Sandboxes as they are now, all by default, without those that are gone. */
  async load(names?: Iterable<string>): Promise<readonly Sandbox[]> {
    const sandboxes = [...(names ?? (await this.unused()).keys())].flatMap((name) => {
      // To look at a sandbox is no use of it.
      const other = this.#fleet === undefined ? [] : this.#open(name, false);
      return this.#named.get(name) ?? other;
    });
    await Promise.all(sandboxes.map((sandbox) => sandbox.current()));
    return sandboxes;
  }

  /** Counts of what this server has answered since its start, or since this was first read. */
  get meter(): Meter {
    this.#share.meter ??= new Meter();
    return this.#share.meter;
  }

  /** Sandboxes in memory. */
  get size(): number {
    return this.#named.size;
  }

  /** Ends everything that lasts as long as a sandbox, so that a server can close. */
  async end(): Promise<void> {
    this.#share.isStopping = true;
    const ended = Promise.all([...this.#share.held].map((held) => held.end('stopped')));
    for (const sandbox of this) sandbox.end();
    await ended;
  }

  /** Restarts every sandbox after the files of the start changed. */
  async restart(start: Start): Promise<void> {
    this.#start = start;
    for (const sandbox of this) {
      const origin = this.startOfSandbox(sandbox.name);
      sandbox.origin = origin;
      // Changes in a `--db` file were acknowledged, so they stay.
      const keep = new Set(sandbox.hasKeeper ? (['store'] as const) : []);
      await sandbox.change((state, { wall }) => ({
        state: restartState(state, origin, wall, keep),
        result: undefined,
      }));
    }
  }

  /** What the sandbox of a name starts from: staging has its own keys. */
  startOfSandbox(name: string, start: Start = this.#start): Start {
    return name === STAGING_SANDBOX ? stagingOf(start) : start;
  }

  /** The keys of the sandbox of a name, which need not exist yet. */
  keysOf(name: string): Keyring {
    return (this.#named.get(name)?.state.settings.start ?? this.#start).keys;
  }
}
