import { DEFAULTS } from '../defaults.ts';
import { type CoverageReport, coverageOf } from '../evidence/coverage.ts';
import { type FindingsReport, findingsOf, type OnFinding } from '../evidence/findings.ts';
import type { Observer } from '../evidence/journal.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import { MovableClock } from '../service/clock.ts';
import { checkKey, type Keyring, keyring, STAGING_KEY } from '../service/keyring.ts';
import { forkStore } from '../store/store.ts';
import type { SandboxLog } from './change.ts';
import { Past } from './past.ts';
import { Sandbox, type SandboxShare } from './sandbox.ts';
import { DEFAULT_SANDBOX, STAGING_SANDBOX } from './sandbox-names.ts';
import type { Upstream } from './upstream.ts';

export interface SandboxLimits {
  /** How many exchanges each sandbox keeps; 1,000 by default, 0 keeps none. */
  readonly journal?: number | undefined;
  /** How many sandboxes there may be besides the default one and staging; 10,000 by default. */
  readonly maxSandboxes?: number | undefined;
  /** Whether a request must name a sandbox. */
  readonly sandboxRequired?: boolean | undefined;
  /** Called for each finding when it is made. */
  readonly onFinding?: OnFinding | undefined;
}

/** All sandboxes of a server, each created at its first use. */
export class Sandboxes {
  readonly required: boolean;
  readonly most: number;
  readonly default: Sandbox;
  /** Called after each exchange in any sandbox. */
  readonly observers = new Set<Observer>();
  readonly #past = new Past();
  readonly #share: SandboxShare;
  readonly #named = new Map<string, Sandbox>();
  #start: Start;

  /**
   * @param kept where the default sandbox's changes are kept, with its first records
   * @param upstream the deployment that answers in place of the mock
   */
  constructor(
    start: Start,
    {
      journal = DEFAULTS.journal,
      maxSandboxes = DEFAULTS.maxSandboxes,
      sandboxRequired = false,
      onFinding,
    }: SandboxLimits = {},
    kept?: SandboxLog,
    upstream?: Upstream,
  ) {
    this.required = sandboxRequired;
    this.most = maxSandboxes;
    this.#share = {
      journal,
      observers: this.observers,
      onFinding,
      upstream,
      forgotten: (sandbox) => this.#past.add(sandbox),
    };
    this.#start = kept === undefined ? start : { ...start, store: forkStore(kept.store) };
    this.default = new Sandbox(DEFAULT_SANDBOX, this.#start, this.#share, kept);
  }

  /**
   * The sandbox of a name, created if it is new.
   *
   * @returns undefined if the limit of sandboxes is reached
   */
  find(name: string): Sandbox | undefined {
    if (name === DEFAULT_SANDBOX) return this.default;
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    // Staging always exists, used or not.
    const others = this.#named.size - (this.#named.has(STAGING_SANDBOX) ? 1 : 0);
    if (name !== STAGING_SANDBOX && others >= this.most) return undefined;
    const sandbox = new Sandbox(name, this.startOf(name), this.#share);
    this.#named.set(name, sandbox);
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
    return isIn ? this.find(name) : new Sandbox(name, start, this.#share, undefined, true);
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

  /** Deletes a sandbox, unless it is the default one or staging. Its next use creates a new one. */
  delete(name: string): boolean {
    const sandbox = name === STAGING_SANDBOX ? undefined : this.#named.get(name);
    if (sandbox === undefined) return false;
    this.#named.delete(name);
    this.#past.add(sandbox);
    sandbox.end();
    return true;
  }

  /** What clients were shown in all sandboxes, including deleted and reset ones. */
  coverage(): CoverageReport {
    return coverageOf([this.#past, ...[...this].map((it) => it.coverage)]);
  }

  /** What clients did in all sandboxes, including deleted and reset ones. */
  findings(): FindingsReport {
    return findingsOf([this.#past, ...[...this].map((it) => it.findings)]);
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

function stagingOf(start: Start): Start {
  const keyLists = { ...start.keyLists, valid: [STAGING_KEY], readOnly: [] };
  return { ...start, keyLists, keys: keyring(keyLists) };
}
