import type { ErrorCode, StatusOf } from '../contract/error-codes.ts';
import {
  DEFAULT_SANDBOX,
  DEFAULTS,
  NAME_FORM,
  PERMANENT_SANDBOXES,
  STAGING_SANDBOX,
} from '../limits.ts';
import type { Platform } from '../platform.ts';
import type { Call, RequestBody } from '../service/input.ts';
import { checkKey, type KeyRefusal } from '../service/keyring.ts';
import type { MockOptions } from '../service/mock-options.ts';
import type { ServiceState } from '../service/operation.ts';
import { AssumptionTrace, errorReply, type Reply } from '../service/reply.ts';
import { describe } from '../words.ts';
import { readServiceState } from './answer.ts';
import { Totals } from './coverage.ts';
import type { ServiceRequest } from './exchange.ts';
import { MemoryBudget } from './journal.ts';
import type { Preference } from './preference.ts';
import { Emitter, Sandbox, type SandboxContext } from './sandbox.ts';
import { type Start, setStaging } from './start.ts';
import { initialState } from './state.ts';
import { createLimitError } from './storage-error.ts';

/** What sandboxes get from outside. */
export interface SandboxEnvironment {
  /** Answers in place of the mock. */
  readonly upstream?: Responder | undefined;
  /** Whether other servers have these sandboxes too: one that is unknown here may be known there. */
  readonly isShared?: boolean;
  readonly platform: Platform;
}

const MAX_VIEWED = 100;

export class Sandboxes {
  readonly options: MockOptions;
  readonly default: Sandbox;
  readonly events: SandboxContext['events'] = new Emitter();
  /** Answers in place of the mock. */
  readonly upstream: Responder | undefined;
  /** Decides about a call of any sandbox before its rules, and in place of what it asks for itself. */
  imposePreference: ((call: Call) => Preference | undefined) | undefined;
  /** The server that has them, and when it started; undefined if several share them. */
  readonly server: { readonly id: string; readonly startedAt: string } | undefined;
  readonly #context: SandboxContext;
  readonly #isShared: boolean;
  readonly #named = new Map<string, Sandbox>();
  /** Sandboxes that somebody looks at and nobody has used. No limit and no list counts them. */
  readonly #onlyViewed = new Map<string, Sandbox>();
  #start: Start;

  constructor(start: Start, environment: SandboxEnvironment) {
    this.options = start.options;
    this.#isShared = environment.isShared ?? false;
    this.#context = {
      options: start.options,
      capacity: this.#isShared ? 0 : (start.options.journal ?? DEFAULTS.journal),
      memory: new MemoryBudget(),
      formerTotals: new Totals(),
      events: this.events,
      isStopping: false,
      platform: environment.platform,
    };
    this.upstream = environment.upstream;
    this.#start = start;
    const startedAt = new Date().toISOString();
    this.server = this.#isShared ? undefined : { id: crypto.randomUUID(), startedAt };
    this.default = this.open(DEFAULT_SANDBOX);
    this.#named.set(DEFAULT_SANDBOX, this.default);
    this.#named.set(STAGING_SANDBOX, this.open(STAGING_SANDBOX, setStaging(start, true)));
  }

  /** Makes a sandbox, without keeping it among those that have a name. */
  open(name: string, start = this.#start): Sandbox {
    return new Sandbox(name, start, this.#context);
  }

  /** Throws a StorageError at the limit. */
  getOrCreate(name: string, start?: Start): Sandbox {
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    const { maxSandboxes: max = DEFAULTS.maxSandboxes } = this.options;
    const isFull = this.#named.size >= max + PERMANENT_SANDBOXES.length;
    if (isFull && !this.#isShared) throw createLimitError(max, name);
    const viewed = this.#onlyViewed.get(name);
    this.#onlyViewed.delete(name);
    const sandbox = (start === undefined && viewed) || this.open(name, start);
    this.#named.set(name, sandbox);
    if (viewed !== sandbox) viewed?.emit({ kind: 'deleted' });
    return sandbox;
  }

  /**
   * A request without a valid key creates no sandbox, so that it cannot use up the limit; but who looks
   * at one sees it.
   */
  admit(name: string, authorization: string | undefined): Sandbox | KeyRefusal {
    const known = this.#onlyViewed.has(name) ? this.getOrCreate(name) : this.#named.get(name);
    // Only the deployment knows the valid keys.
    if (known !== undefined || this.upstream !== undefined) {
      return known ?? this.getOrCreate(name);
    }
    const serviceState = readServiceState(initialState(this.#start, Date.now()), Date.now());
    const check = checkKey(serviceState.keys, authorization, serviceState);
    if (check.ok) return this.getOrCreate(name);
    return this.find(name) ?? check;
  }

  /** Without those that are only looked at, which count for nothing. */
  [Symbol.iterator](): Iterator<Sandbox> {
    return this.#named.values();
  }

  /** Includes those that are only looked at, since somebody may follow them. */
  all(): readonly Sandbox[] {
    return [...this, ...this.#onlyViewed.values()];
  }

  get(name: string): Sandbox | undefined {
    return this.#named.get(name);
  }

  /** Keeps coverage and findings. Returns it, for its listeners to be told. */
  remove(name: string): Sandbox | undefined {
    const sandbox = this.#named.get(name);
    if (sandbox === undefined || PERMANENT_SANDBOXES.includes(name)) return undefined;
    this.#context.formerTotals.merge(sandbox.journal.totals());
    this.#named.delete(name);
    return sandbox;
  }

  /** Does not count as using it. One that only other servers may know is not kept. */
  find(name: string): Sandbox | undefined {
    return this.#named.get(name) ?? (this.#isShared ? this.open(name) : undefined);
  }

  /** Looking creates no sandbox. Who follows one that does not exist yet sees its first call. */
  look(name: string): Sandbox {
    if (this.#isShared) return this.getOrCreate(name);
    const known = this.#named.get(name) ?? this.#onlyViewed.get(name);
    if (known !== undefined) return known;
    const sandbox = this.open(name);
    this.#onlyViewed.set(name, sandbox);
    if (this.#onlyViewed.size > MAX_VIEWED) {
      const [oldest = name] = this.#onlyViewed.keys();
      this.#onlyViewed.get(oldest)?.emit({ kind: 'deleted' });
      this.#onlyViewed.delete(oldest);
    }
    return sandbox;
  }

  /** The milliseconds since each was last used, by its name. */
  unused(): ReadonlyMap<string, number> {
    return new Map(Array.from(this, ({ name, unused }) => [name, unused]));
  }

  /** Sums up all sandboxes, deleted ones and cleared journals too. */
  totals(): Totals {
    const totals = new Totals();
    totals.merge(this.#context.formerTotals);
    for (const { journal } of this) totals.merge(journal.totals());
    return totals;
  }

  end(): void {
    this.#context.isStopping = true;
    for (const sandbox of this.all()) {
      sandbox.emit({ kind: 'release', why: 'stopped' });
      sandbox.emit({ kind: 'deleted' });
    }
  }

  /** Lets sandboxes start anew from there: `POST reset` does, and those that are still to be created. */
  setStart(start: Start): void {
    this.#start = start;
    const staging = setStaging(start, true);
    for (const sandbox of this.all()) sandbox.start = sandbox.start.isStaging ? staging : start;
  }
}

/** A request to a sandbox that a responder answers. */
export interface ResponderCall {
  readonly request: ServiceRequest;
  /** The path below the service's base path, and the query, as the client wrote them. */
  readonly target: string;
  readonly body: RequestBody;
  /** The name of the sandbox. */
  readonly sandbox: string;
  readonly state: ServiceState;
  /** Calls back once the client has left. Returns how to cancel. */
  readonly onDisconnect: (act: () => void) => () => void;
}

/** Answers a sandbox's calls in place of the service, such as a deployment. */
export interface Responder {
  /** The base URL of the deployment. */
  readonly url: string;
  /** Sent in place of the client's. */
  readonly key: string | undefined;
  readonly respond: (call: ResponderCall) => Promise<Reply>;
}

export function refuseName(sandboxes: Sandboxes, name: string): Reply {
  const message = `sandbox name: expected ${NAME_FORM}, found ${describe(name)}`;
  return refuseRequest(sandboxes, 'sandbox_name_invalid', 400, message);
}

export function refuseRequest<C extends ErrorCode>(
  { default: sandbox }: Sandboxes,
  code: C,
  status: StatusOf<C>,
  message: string,
): Reply {
  return errorReply(new AssumptionTrace(sandbox.state.settings.choices), code, status, message);
}
