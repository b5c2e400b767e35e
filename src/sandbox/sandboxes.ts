import { performance } from 'node:perf_hooks';
import { DEFAULTS } from '../defaults.ts';
import { type Start, stagingStart } from '../scenario/sandbox-start.ts';
import { checkKey, type KeyRefusal } from '../service/keyring.ts';
import { worldAt } from './answer.ts';
import { BodyBudget } from './body-budget.ts';
import type { JournalContext } from './journal.ts';
import { Meter } from './meter.ts';
import { Sandbox, type ServerContext } from './sandbox.ts';
import { DEFAULT_SANDBOX, PERMANENT, STAGING_SANDBOX } from './sandbox-names.ts';
import type { SandboxOptions } from './sandbox-options.ts';
import { initialState, restart } from './state.ts';
import { Emitter, type Fleet, type OpenedSandbox, type Storage, StorageError } from './storage.ts';
import { Totals } from './totals.ts';
import type { Upstream } from './upstream.ts';

/** What keeps sandboxes, and what answers in them. */
export interface SandboxParts {
  /** Opens what keeps a sandbox, unless a fleet does. */
  readonly openStorage: (sandbox: OpenedSandbox, context: JournalContext) => Storage;
  readonly fleet?: Fleet | undefined;
  /** The deployment that answers in place of the mock. */
  readonly upstream?: Upstream | undefined;
}

/** Sandboxes of a fleet that a server holds in memory, besides the default one. */
const MAX_IN_MEMORY = 10_000;

/** All sandboxes of a server, each created at its first use. */
export class Sandboxes {
  readonly required: boolean;
  readonly max: number;
  readonly default: Sandbox;
  readonly #context: ServerContext;
  readonly #parts: SandboxParts;
  /** By name, the permanent ones first. */
  readonly #named = new Map<string, Sandbox>();
  /** What this server has shown in a fleet. */
  readonly #served = new Totals();
  #meter: Meter | undefined;
  #start: Start;

  constructor(start: Start, options: SandboxOptions, parts: SandboxParts) {
    this.required = options.sandboxRequired ?? false;
    this.max = options.maxSandboxes ?? DEFAULTS.maxSandboxes;
    this.#context = {
      capacity: options.journal ?? DEFAULTS.journal,
      bodies: new BodyBudget(),
      past: new Totals(),
      events: new Emitter(),
      maxHold: options.maxHold ?? DEFAULTS.maxHold,
      upstream: parts.upstream,
      holding: new Set(),
      isStopping: false,
    };
    this.#start = start;
    this.#parts = parts;
    this.default = this.#open(DEFAULT_SANDBOX);
    this.#named.set(DEFAULT_SANDBOX, this.default);
    this.#named.set(STAGING_SANDBOX, this.#open(STAGING_SANDBOX));
    if (options.metrics) this.meter;
    if (parts.fleet !== undefined) {
      this.events.add(({ kind, sandbox, exchange }) => {
        if (kind === 'exchange') this.#served.add(exchange, sandbox);
      });
    }
  }

  /** Tells of each exchange that this server answers, and again when a held reply has left. */
  get events(): ServerContext['events'] {
    return this.#context.events;
  }

  get #fleet(): Fleet | undefined {
    return this.#parts.fleet;
  }

  #open(name: string, mayCreate = true): Sandbox {
    const opened = this.#describe(name, mayCreate);
    const storage = this.#fleet?.open(opened) ?? this.#parts.openStorage(opened, this.#context);
    return new Sandbox(name, opened.start, storage, this.#context);
  }

  #describe(name: string, mayCreate: boolean): OpenedSandbox {
    const start = this.startOf(name);
    const initial = initialState(start, this.#context.upstream, Date.now());
    return { name, start, initial, mayCreate };
  }

  /**
   * The sandbox of a name, created if it is new. In a fleet, its creation can still fail later.
   *
   * @throws StorageError if the limit of sandboxes is reached
   */
  getOrCreate(name: string): Sandbox {
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    // The sandboxes of a fleet are counted elsewhere.
    const isFull = this.#named.size >= this.max + PERMANENT.length;
    if (isFull && this.#fleet === undefined) throw sandboxLimitReached(this.max, name);
    const sandbox = this.#open(name);
    this.#named.set(name, sandbox);
    if (this.#fleet !== undefined && this.#named.size > MAX_IN_MEMORY) {
      // Drops the one opened first. Its next use reads it again.
      const [, , oldest = name] = this.#named.keys();
      this.#named.delete(oldest);
    }
    return sandbox;
  }

  /**
   * The sandbox of a name for a service request. A request without a valid key creates none, so that
   * it cannot use up the limit.
   *
   * @returns the refusal of the key if there is no such sandbox
   * @throws StorageError if the limit of sandboxes is reached
   */
  admit(name: string, authorization: string | undefined): Sandbox | KeyRefusal {
    const known = this.#named.get(name);
    // Which keys are valid, only the deployment knows.
    if (known !== undefined || this.#context.upstream !== undefined) {
      return known ?? this.getOrCreate(name);
    }
    const { initial } = this.#describe(name, false);
    const check = checkKey(initial.settings.keys, authorization, worldAt(initial, Date.now()));
    if (check.ok) return this.getOrCreate(name);
    return this.#fleet === undefined ? check : this.#open(name, false);
  }

  /** The sandboxes that this server has in memory, the default one and staging first. */
  [Symbol.iterator](): Iterator<Sandbox> {
    return this.#named.values();
  }

  /**
   * Creates a sandbox. Undefined if the name is taken.
   *
   * @throws StorageError
   */
  async create(name: string): Promise<Sandbox | undefined> {
    if (PERMANENT.includes(name)) return undefined;
    const isNew =
      this.#fleet === undefined
        ? !this.#named.has(name)
        : await this.#fleet.create(this.#describe(name, true));
    return isNew ? this.getOrCreate(name) : undefined;
  }

  /**
   * Deletes a sandbox on every server, unless it is the default one or staging. Its next use creates a
   * new one. Its coverage and findings stay with those of the default one.
   *
   * @param unusedFor how long it must not have been used, in milliseconds
   * @returns false if there is none, or if it was used too recently
   * @throws StorageError
   */
  async remove(name: string, unusedFor = 0): Promise<boolean> {
    if (PERMANENT.includes(name)) return false;
    const sandbox = this.#named.get(name);
    if (unusedFor > 0 && sandbox !== undefined && sandbox.unused < unusedFor) return false;
    if (this.#fleet !== undefined) {
      if (!(await this.#fleet.delete(name, unusedFor))) return false;
    } else {
      if (sandbox === undefined) return false;
      this.#context.past.merge(await sandbox.journal.totals());
    }
    this.#named.delete(name);
    await sandbox?.endHolds('deleted');
    sandbox?.close();
    return true;
  }

  /**
   * Milliseconds since each sandbox was used, by name, the default one and staging first.
   *
   * @throws StorageError
   */
  async unused(): Promise<ReadonlyMap<string, number>> {
    if (this.#fleet === undefined) {
      return new Map(Array.from(this, (sandbox) => [sandbox.name, sandbox.unused]));
    }
    const unused = await this.#fleet.unused();
    for (const name of [...this.#named.keys()]) {
      if (!unused.has(name) && !PERMANENT.includes(name)) this.#named.delete(name);
    }
    // These exist before their first use.
    const permanent = PERMANENT.map((name) => [name, performance.now()] as const);
    return new Map([...permanent, ...unused]);
  }

  /** The sandbox of a name, if there is one; reading it does not count as using it. */
  find(name: string): Sandbox | undefined {
    const known = this.#named.get(name);
    return known ?? (this.#fleet === undefined ? undefined : this.#open(name, false));
  }

  /** What all sandboxes were shown, deleted ones and cleared journals included. */
  async totals(): Promise<Totals> {
    return this.#fleet === undefined ? this.served : this.#fleet.totals();
  }

  /** What this server has shown, in all sandboxes. */
  get served(): Totals {
    if (this.#fleet !== undefined) return this.#served;
    const totals = new Totals();
    totals.merge(this.#context.past);
    for (const { journal } of this) {
      const own = journal.totals();
      if (own instanceof Totals) totals.merge(own);
    }
    return totals;
  }

  /** Counts of what this server has answered since its start, or since this was first read. */
  get meter(): Meter {
    if (this.#meter === undefined) {
      const meter = new Meter();
      this.#meter = meter;
      this.events.add(({ kind, exchange }) => {
        if (kind === 'exchange') meter.add(exchange);
      });
    }
    return this.#meter;
  }

  /** Sandboxes in memory. */
  get size(): number {
    return this.#named.size;
  }

  /** Sends every held reply, and ends everything that lasts as long as a sandbox. */
  async end(): Promise<void> {
    this.#context.isStopping = true;
    const held = [...this.#context.holding];
    const ended = Promise.all(held.map((sandbox) => sandbox.endHolds('stopped')));
    for (const sandbox of this) if (!sandbox.isShared) sandbox.close();
    await ended;
  }

  /** Restarts every sandbox after the files of the start changed. */
  async restart(start: Start): Promise<void> {
    this.#start = start;
    for (const sandbox of this) {
      const own = this.startOf(sandbox.name);
      sandbox.start = own;
      // Changes in a `--db` file were acknowledged, so they stay.
      const keep = new Set([
        'own-scenarios' as const,
        ...(sandbox.isDurable ? (['store'] as const) : []),
      ]);
      await sandbox.edit((state, now) => {
        const { upstream } = state.settings;
        return { state: restart(state, own, upstream, now, keep), result: undefined };
      });
    }
  }

  /** What the sandbox of a name starts from: staging has its own keys. */
  startOf(name: string, start: Start = this.#start): Start {
    if (name !== STAGING_SANDBOX) return start;
    let staging = stagingStarts.get(start);
    if (staging === undefined) {
      staging = stagingStart(start);
      stagingStarts.set(start, staging);
    }
    return staging;
  }

  /** The deployment that answers a sandbox after a reset. */
  get upstream(): Upstream | undefined {
    return this.#context.upstream;
  }
}

/** Settings are kept by start, so each has one of staging. */
const stagingStarts = new WeakMap<Start, Start>();

export function sandboxLimitReached(max: number, sandbox: string): StorageError {
  return new StorageError(
    `sandbox limit (${max}) reached; ${sandbox} was not created. Delete sandboxes, or raise --max-sandboxes`,
    { code: 'too_many_sandboxes' },
  );
}
