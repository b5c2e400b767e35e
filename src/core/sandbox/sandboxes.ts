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

/** What the server provides to all sandboxes. */
export interface SandboxEnvironment {
  /** Answers calls in place of the operations (`--upstream`). */
  readonly upstream?: Responder | undefined;
  /** Whether servers share the sandboxes, so that an unknown one may exist on another server. */
  readonly isShared?: boolean;
  readonly platform: Platform;
}

const MAX_VIEWED = 100;

/**
 * The sandboxes of a server. `get` finds one that is in use, `peek` also one that only another server
 * may know, `view` one to read. `getOrCreate` and `admit` bring one into use, and `make` only makes it.
 */
export class Sandboxes {
  readonly options: MockOptions;
  readonly default: Sandbox;
  readonly events: SandboxContext['events'] = new Emitter();
  /** Answers calls in place of the operations (`--upstream`). */
  readonly upstream: Responder | undefined;
  /** Decides about calls of any sandbox, before the rules and in place of their `Prefer`. */
  imposePreference: ((call: Call) => Preference | undefined) | undefined;
  /** Identifies this server to clients; undefined if several servers share the sandboxes. */
  readonly server: { readonly id: string; readonly startedAt: string } | undefined;
  readonly #context: SandboxContext;
  readonly #isShared: boolean;
  readonly #named = new Map<string, Sandbox>();
  /** Sandboxes that were read but not used. No limit and no list counts them. */
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
    this.default = this.make(DEFAULT_SANDBOX);
    this.#named.set(DEFAULT_SANDBOX, this.default);
    this.#named.set(STAGING_SANDBOX, this.make(STAGING_SANDBOX, setStaging(start, true)));
  }

  /** Makes a sandbox without registering it. */
  make(name: string, start = this.#start): Sandbox {
    return new Sandbox(name, start, this.#context);
  }

  /** Finds or creates a sandbox. Throws a StorageError if there are too many. */
  getOrCreate(name: string, start?: Start): Sandbox {
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    const { maxSandboxes: max = DEFAULTS.maxSandboxes } = this.options;
    const isFull = this.#named.size >= max + PERMANENT_SANDBOXES.length;
    if (isFull && !this.#isShared) throw createLimitError(max, name);
    const viewed = this.#onlyViewed.get(name);
    this.#onlyViewed.delete(name);
    const sandbox = (start === undefined && viewed) || this.make(name, start);
    this.#named.set(name, sandbox);
    if (viewed !== sandbox) viewed?.emit({ kind: 'deleted' });
    return sandbox;
  }

  /**
   * A request without a valid key does not create a sandbox, since that could use up the limit. But
   * if somebody watches that sandbox, they should see the request.
   */
  admit(name: string, authorization: string | undefined): Sandbox | KeyRefusal {
    const known = this.#onlyViewed.has(name) ? this.getOrCreate(name) : this.#named.get(name);
    // With an upstream, only the deployment knows which keys are valid.
    if (known !== undefined || this.upstream !== undefined) {
      return known ?? this.getOrCreate(name);
    }
    const serviceState = readServiceState(initialState(this.#start, Date.now()), Date.now());
    const check = checkKey(serviceState.keys, authorization, serviceState);
    if (check.ok) return this.getOrCreate(name);
    return this.peek(name) ?? check;
  }

  /** The sandboxes in use. Those that were only read do not count. */
  [Symbol.iterator](): Iterator<Sandbox> {
    return this.#named.values();
  }

  /** All sandboxes, also those that were only read, since they may have listeners. */
  all(): readonly Sandbox[] {
    return [...this, ...this.#onlyViewed.values()];
  }

  get(name: string): Sandbox | undefined {
    return this.#named.get(name);
  }

  /** Removes a sandbox and keeps its totals. Returns it, so that its listeners can be told. */
  remove(name: string): Sandbox | undefined {
    const sandbox = this.#named.get(name);
    if (sandbox === undefined || PERMANENT_SANDBOXES.includes(name)) return undefined;
    this.#context.formerTotals.merge(sandbox.journal.totals());
    this.#named.delete(name);
    return sandbox;
  }

  /** Finds a sandbox without using it. One that only another server may know is not registered. */
  peek(name: string): Sandbox | undefined {
    return this.#named.get(name) ?? (this.#isShared ? this.make(name) : undefined);
  }

  /** Returns a sandbox for reading without creating it. Its listeners see its first call later. */
  view(name: string): Sandbox {
    if (this.#isShared) return this.getOrCreate(name);
    const known = this.#named.get(name) ?? this.#onlyViewed.get(name);
    if (known !== undefined) return known;
    const sandbox = this.make(name);
    this.#onlyViewed.set(name, sandbox);
    if (this.#onlyViewed.size > MAX_VIEWED) {
      const [oldest = name] = this.#onlyViewed.keys();
      this.#onlyViewed.get(oldest)?.emit({ kind: 'deleted' });
      this.#onlyViewed.delete(oldest);
    }
    return sandbox;
  }

  /** Milliseconds since each sandbox was last used, by name. */
  unused(): ReadonlyMap<string, number> {
    return new Map(Array.from(this, ({ name, unused }) => [name, unused]));
  }

  /** The totals of all sandboxes, also of deleted ones and cleared journals. */
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

  /** Sets the start of new sandboxes. Existing ones use it after `POST reset`. */
  setStart(start: Start): void {
    this.#start = start;
    const staging = setStaging(start, true);
    for (const sandbox of this.all()) sandbox.start = sandbox.start.isStaging ? staging : start;
  }
}

/** A request that a responder answers. */
export interface ResponderCall {
  readonly request: ServiceRequest;
  /** The path below `/v1` and the query, as the client sent them. */
  readonly target: string;
  readonly body: RequestBody;
  readonly sandbox: string;
  readonly state: ServiceState;
  /** Calls `act` when the client leaves. Returns a function that cancels this. */
  readonly onDisconnect: (act: () => void) => () => void;
}

/** Answers calls in place of the operations, such as by asking a deployment. */
export interface Responder {
  /** The base URL of the deployment. */
  readonly url: string;
  /** The key to send in place of the client's. */
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
