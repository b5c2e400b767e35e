import type { Exchange } from '../evidence/exchange.ts';
import type { ExchangeListener } from '../evidence/journal.ts';
import type { LogMeter, Meter } from '../evidence/meter.ts';
import {
  Evidence,
  type EvidenceChange,
  type EvidenceEntry,
  type EvidenceLimits,
  type EvidenceState,
} from '../evidence/sandbox-evidence.ts';
import type { OnFinding } from '../evidence/totals.ts';
import { warn } from '../node-errors.ts';
import { thisInstant } from '../service/clock.ts';
import type { HeldShare } from './held-replies.ts';
import type { Upstream } from './upstream.ts';

/** What all sandboxes of a server share. */
export interface SandboxShare extends EvidenceLimits, HeldShare {
  readonly observers: ReadonlySet<ExchangeListener>;
  readonly onFinding: OnFinding | undefined;
  /** The deployment that answers in each sandbox at first; undefined if the mock does. */
  readonly upstream: Upstream | undefined;
  /** Counts exchanges; undefined until somebody wants to know. */
  meter?: Meter | undefined;
  readonly logMeter: LogMeter;
}

/** Called after an exchange, and without one after anything else. */
export type ArrivalListener = (exchange?: Exchange) => void;

/** Milliseconds between two looks at what other servers did. */
const FOLLOW = 100;

/** Takes what is acknowledged into the evidence of a sandbox, and tells those who observe or wait. */
export class Recorder {
  readonly #name: string;
  readonly #share: SandboxShare;
  readonly #onDue: (exchanges: readonly Exchange[]) => void;
  #evidence: Evidence;
  // Created on first use: there can be many sandboxes, and most have none.
  #listeners: Set<ArrivalListener> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param onDue called with exchanges whose replies may be due, in this order */
  constructor(name: string, share: SandboxShare, onDue: (exchanges: readonly Exchange[]) => void) {
    this.#name = name;
    this.#share = share;
    this.#onDue = onDue;
    this.#evidence = new Evidence(name, share);
  }

  get evidence(): Evidence {
    return this.#evidence;
  }

  /** Whether somebody gets exchanges as they happen, or metrics of them. */
  get isObserved(): boolean {
    return this.#share.observers.size > 0 || this.#share.meter !== undefined;
  }

  /** Takes what a request to another server did. */
  follow(entry: EvidenceEntry): EvidenceChange {
    const change = this.#evidence.take(entry);
    if (entry.holds !== undefined) this.#onDue(change.exchanges);
    this.#callListeners(entry.exchange);
    return change;
  }

  /**
   * Takes what a request to this server did.
   *
   * @param receivedAt by `performance.now()`, if the duration is to be exact
   */
  take(entry: EvidenceEntry, receivedAt?: number): void {
    const { exchange, holds } = entry;
    if (exchange?.attempt !== undefined) {
      const { attempt, delay } = exchange;
      attempt.leftAt = performance.timeOrigin + thisInstant().steady + delay;
    }
    if (exchange !== undefined && receivedAt !== undefined) {
      exchange.duration = performance.now() - receivedAt + exchange.delay;
    }
    const { exchanges, findings } = this.follow(entry);
    if (exchange !== undefined) this.#share.meter?.add(exchange);
    if (holds === undefined || 'over' in holds) {
      const { observers, onFinding } = this.#share;
      for (const it of exchanges) {
        for (const observe of observers) notify(() => observe(this.#name, it));
      }
      if (onFinding) for (const finding of findings) notify(() => onFinding(finding));
    }
  }

  /** Continues from evidence of other servers. */
  restore(state: EvidenceState): void {
    this.#evidence = new Evidence(this.#name, this.#share, state);
    this.#onDue(this.#evidence.holds.open);
    this.#callListeners();
  }

  /**
   * Calls back after each exchange, and after anything else that happens in the sandbox.
   *
   * @param catchUp reads what other servers did; undefined if there are none
   * @returns cancels the callback
   */
  onArrival(listener: ArrivalListener, catchUp: (() => Promise<void>) | undefined): () => void {
    this.#listeners ??= new Set();
    const listeners = this.#listeners.add(listener);
    if (catchUp) this.#timer ??= setInterval(() => catchUp().catch(() => {}), FOLLOW).unref();
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #callListeners(exchange?: Exchange): void {
    if (this.#listeners) for (const listener of this.#listeners) listener(exchange);
  }
}

/** Calls an observer. What it throws becomes a warning, and the client has its reply all the same. */
function notify(call: () => void): void {
  try {
    call();
  } catch (error) {
    warn(error);
  }
}
