import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import { DEFAULT_SANDBOX, DEFAULTS, PERMANENT_SANDBOXES, STAGING_SANDBOX } from '../limits.ts';
import { type Start, stagingStart } from '../scenario/sandbox-start.ts';
import { checkKey, type KeyRefusal } from '../service/keyring.ts';
import { readServiceState } from './answer.ts';
import { Totals } from './coverage.ts';
import { Sandbox, type ServerContext } from './sandbox.ts';
import { initialState, type ResetPart, restart, type Upstream } from './state.ts';
import {
  BodyBudget,
  createLimitError,
  Emitter,
  type Fleet,
  type JournalContext,
  type OpenedSandbox,
  type Storage,
} from './storage.ts';

/** What all sandboxes of a server have in common, apart from what they start from. */
export interface SandboxOptions {
  /** How many exchanges each sandbox keeps; 1,000 by default, 0 keeps none. */
  readonly journal?: number | undefined;
  /** How many sandboxes there may be besides the default one and staging; 10,000 by default. */
  readonly maxSandboxes?: number | undefined;
  /** Whether a request must name a sandbox. */
  readonly sandboxRequired?: boolean | undefined;
  /** Milliseconds after which a sandbox that nobody uses is removed; by default never. */
  readonly sandboxIdle?: number | undefined;
  /** Milliseconds after which a held reply goes out although nobody released it; 5 minutes by default. */
  readonly maxHold?: number | undefined;
}

export interface SandboxParts {
  /** Not called in a fleet. */
  readonly openStorage: (sandbox: OpenedSandbox, context: JournalContext) => Storage;
  readonly fleet?: Fleet | undefined;
  /** Answers in place of the mock. */
  readonly upstream?: Upstream | undefined;
}

/** A fleet's sandboxes in memory, besides the default one. */
const MAX_IN_MEMORY = 10_000;

const MAX_IDLE_PAUSE_MS = 3_600_000;

export class Sandboxes {
  readonly required: boolean;
  readonly max: number;
  readonly default: Sandbox;
  readonly events: ServerContext['events'] = new Emitter();
  readonly upstream: Upstream | undefined;
  readonly #context: ServerContext;
  readonly #parts: SandboxParts;
  readonly #named = new Map<string, Sandbox>();
  /** In a fleet: by this server. */
  readonly #served = new Totals();
  #start: Start;

  constructor(start: Start, options: SandboxOptions, parts: SandboxParts) {
    this.required = options.sandboxRequired ?? false;
    this.max = options.maxSandboxes ?? DEFAULTS.maxSandboxes;
    this.#context = {
      capacity: options.journal ?? DEFAULTS.journal,
      bodies: new BodyBudget(),
      past: new Totals(),
      events: this.events,
      maxHold: options.maxHold ?? DEFAULTS.maxHold,
      holding: new Set(),
      isStopping: false,
    };
    this.upstream = parts.upstream;
    this.#start = start;
    this.#parts = parts;
    this.default = this.#open(DEFAULT_SANDBOX);
    this.#named.set(DEFAULT_SANDBOX, this.default);
    this.#named.set(STAGING_SANDBOX, this.#open(STAGING_SANDBOX));
    if (parts.fleet !== undefined) {
      this.events.add(({ kind, sandbox, exchange }) => {
        if (kind === 'exchange') this.#served.add(exchange, sandbox);
      });
    }
  }

  #open(name: string, mayCreate = true, start = this.findStart(name)): Sandbox {
    const opened = this.#prepare(name, mayCreate, start);
    const storage =
      this.#parts.fleet?.open(opened) ?? this.#parts.openStorage(opened, this.#context);
    return new Sandbox(name, opened.start, storage, this.#context);
  }

  #prepare(name: string, mayCreate: boolean, start = this.findStart(name)): OpenedSandbox {
    const initial = initialState(start, this.upstream, Date.now());
    return { name, start, initial, mayCreate };
  }

  /** In a fleet, creation can still fail later. Throws a StorageError at the limit. */
  getOrCreate(name: string, start?: Start): Sandbox {
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    // A fleet counts its own.
    const isFull = this.#named.size >= this.max + PERMANENT_SANDBOXES.length;
    if (isFull && this.#parts.fleet === undefined) throw createLimitError(this.max, name);
    const sandbox = this.#open(name, true, start);
    this.#named.set(name, sandbox);
    if (this.#parts.fleet !== undefined && this.#named.size > MAX_IN_MEMORY) {
      // Drops the one opened first; its next use reads it again.
      const [, , oldest = name] = this.#named.keys();
      this.#named.delete(oldest);
    }
    return sandbox;
  }

  /** A request without a valid key creates no sandbox, so that it cannot use up the limit. */
  admit(name: string, authorization: string | undefined): Sandbox | KeyRefusal {
    const known = this.#named.get(name);
    // Only the deployment knows the valid keys.
    if (known !== undefined || this.upstream !== undefined) {
      return known ?? this.getOrCreate(name);
    }
    const { initial } = this.#prepare(name, false);
    const serviceState = readServiceState(initial, Date.now());
    const check = checkKey(serviceState.keys, authorization, serviceState);
    if (check.ok) return this.getOrCreate(name);
    return this.#parts.fleet === undefined ? check : this.#open(name, false);
  }

  [Symbol.iterator](): Iterator<Sandbox> {
    return this.#named.values();
  }

  /** Undefined if the name is taken. Throws a StorageError. */
  async create(name: string, start?: Start): Promise<Sandbox | undefined> {
    if (PERMANENT_SANDBOXES.includes(name)) return undefined;
    const opened = this.#prepare(name, true, start);
    const isNew = (await this.#parts.fleet?.create(opened)) ?? !this.#named.has(name);
    return isNew ? this.getOrCreate(name, start) : undefined;
  }

  /** Keeps coverage and findings. False if used within `unusedFor` milliseconds. */
  async remove(name: string, unusedFor = 0): Promise<boolean> {
    if (PERMANENT_SANDBOXES.includes(name)) return false;
    const sandbox = this.#named.get(name);
    if (unusedFor > 0 && sandbox !== undefined && sandbox.unused < unusedFor) return false;
    if (this.#parts.fleet !== undefined) {
      if (!(await this.#parts.fleet.delete(name, unusedFor))) return false;
    } else {
      if (sandbox === undefined) return false;
      this.#context.past.merge(await sandbox.journal.totals());
    }
    this.#named.delete(name);
    await sandbox?.holds.end('deleted');
    sandbox?.close();
    return true;
  }

  /** In milliseconds, by name. Throws a StorageError. */
  async unused(): Promise<ReadonlyMap<string, number>> {
    const unused = await this.#parts.fleet?.unused();
    if (unused === undefined)
      return new Map(Array.from(this, ({ name, unused }) => [name, unused]));
    for (const name of [...this.#named.keys()]) {
      if (!unused.has(name) && !PERMANENT_SANDBOXES.includes(name)) this.#named.delete(name);
    }
    // These exist before their first use.
    const permanent = PERMANENT_SANDBOXES.map((name) => [name, performance.now()] as const);
    return new Map([...permanent, ...unused]);
  }

  /** Does not count as using it. */
  find(name: string): Sandbox | undefined {
    return this.#named.get(name) ?? (this.#parts.fleet && this.#open(name, false));
  }

  /** With deleted sandboxes and cleared journals. */
  async totals(): Promise<Totals> {
    return this.#parts.fleet?.totals() ?? this.served;
  }

  /** By this server. */
  get served(): Totals {
    if (this.#parts.fleet !== undefined) return this.#served;
    const totals = new Totals();
    totals.merge(this.#context.past);
    for (const { journal } of this) {
      const own = journal.totals();
      if (own instanceof Totals) totals.merge(own);
    }
    return totals;
  }

  async end(): Promise<void> {
    this.#context.isStopping = true;
    const ended = Promise.all(Array.from(this.#context.holding, (holds) => holds.end('stopped')));
    for (const sandbox of this) if (!sandbox.isShared) sandbox.close();
    await ended;
  }

  /** Calls back on the server that removed it. Returns how to stop. */
  removeIdle(idle: number, onRemoved: (name: string) => void): () => void {
    let isLooking = false;
    const look = async (): Promise<void> => {
      if (isLooking) return;
      isLooking = true;
      // Redis may be away; the next look tries again.
      const all = await this.unused().catch(() => new Map<string, number>());
      for (const [name, unused] of all) {
        if (unused < idle) continue;
        if (await this.remove(name, idle).catch(() => false)) onRemoved(name);
      }
      isLooking = false;
    };
    const timer = setInterval(() => void look(), Math.min(idle / 4, MAX_IDLE_PAUSE_MS)).unref();
    return () => clearInterval(timer);
  }

  /** After a change of files, which an undo or a rewind must not take back. */
  async restart(start: Start): Promise<void> {
    this.#start = start;
    for (const sandbox of this) {
      const own = this.findStart(sandbox.name);
      sandbox.start = own;
      // A `--db` file keeps acknowledged changes.
      const keep = new Set<ResetPart>(['own-scenarios']);
      if (sandbox.isDurable) keep.add('store');
      await sandbox.edit(
        (state, now) => {
          const { upstream } = state.settings;
          const restarted = restart(state, own, upstream, now, keep);
          return { state: restarted, result: undefined, forgets: true };
        },
        { what: 'restarted after a change of files', by: '--watch' },
      );
    }
  }

  findStart(name: string, start: Start = this.#start): Start {
    if (name !== STAGING_SANDBOX) return start;
    const staging = stagingStarts.get(start) ?? stagingStart(start);
    stagingStarts.set(start, staging);
    return staging;
  }
}

/** Cached, since settings are cached by start. */
const stagingStarts = new WeakMap<Start, Start>();
