import { warn } from '../error-code.ts';
import type { Exchange } from '../evidence/exchange.ts';
import type { HeldExchange } from '../evidence/holds.ts';
import type { ExchangeListener } from '../evidence/journal.ts';
import type { LogMeter, Meter } from '../evidence/meter.ts';
import type { Finding } from '../evidence/report-shapes.ts';
import { Evidence, type EvidenceLimits, type EvidenceState } from '../evidence/sandbox-evidence.ts';
import type { OnFinding } from '../evidence/totals.ts';
import { type ArrivalListener, Arrivals } from './arrivals.ts';
import type { HeldReplies, Holder } from './held-replies.ts';
import type { Effects } from './keeper.ts';
import type { Upstream } from './upstream.ts';

/** What all sandboxes of a server share. */
export interface SandboxShare extends EvidenceLimits {
  readonly held: HeldReplies;
  readonly observers: ReadonlySet<ExchangeListener>;
  readonly onFinding: OnFinding | undefined;
  /** The deployment that answers in each sandbox at first; undefined if the mock does. */
  readonly upstream: Upstream | undefined;
  /** Counts exchanges; undefined until somebody wants to know. */
  meter?: Meter | undefined;
  readonly logMeter?: LogMeter;
}

/** Takes what is acknowledged into the evidence of a sandbox, and tells those who observe or wait. */
export class Recorder {
  readonly #name: string;
  readonly #share: SandboxShare;
  readonly #holder: Holder;
  #evidence: Evidence;
  // Created on first use: there can be many sandboxes, and most have none.
  #arrivals: Arrivals | undefined;

  constructor(name: string, share: SandboxShare, holder: Holder) {
    this.#name = name;
    this.#share = share;
    this.#holder = holder;
    this.#evidence = new Evidence(name, share);
  }

  get evidence(): Evidence {
    return this.#evidence;
  }

  /** Whether somebody gets exchanges as they happen, or metrics of them. */
  get isObserved(): boolean {
    return this.#share.observers.size > 0 || this.#share.meter !== undefined;
  }

  /** Takes an exchange that this server has answered. */
  add(exchange: Exchange): void {
    const findings = this.#evidence.add(exchange);
    this.#share.meter?.add(exchange);
    this.#report(exchange, findings);
    this.#arrivals?.tell(exchange);
  }

  /** Takes an exchange that another server has answered. */
  follow(exchange: Exchange): void {
    this.#evidence.add(exchange);
    this.#arrivals?.tell(exchange);
  }

  /** Continues from evidence of other servers. */
  restore(state: EvidenceState): void {
    this.#evidence = new Evidence(this.#name, this.#share, state);
    this.#share.held.release(this.#holder, this.#evidence.holds.open);
    this.#arrivals?.tell();
  }

  /**
   * @param isOwn whether this server has made them
   * @returns the exchanges that they changed
   */
  take({ clears, past, holds }: Effects, isOwn: boolean): readonly HeldExchange[] {
    const { changed, findings } = holds === undefined ? NONE : this.#evidence.takeHolds(holds);
    if (past !== undefined) this.#evidence.addPast(past);
    if (clears !== undefined) this.#evidence.clear(clears);
    this.#share.held.release(this.#holder, changed);
    if (isOwn && holds !== undefined && 'over' in holds) {
      for (const exchange of changed) {
        const found = findings.filter((it) => it.exchange === exchange.number);
        this.#report(exchange, found);
      }
    }
    this.#arrivals?.tell();
    return changed;
  }

  /** @param catchUp reads what other servers did; undefined if there are none */
  onArrival(listener: ArrivalListener, catchUp: (() => Promise<void>) | undefined): () => void {
    this.#arrivals ??= new Arrivals(catchUp);
    return this.#arrivals.on(listener);
  }

  #report(exchange: Exchange, findings: readonly Finding[]): void {
    const { observers, onFinding } = this.#share;
    for (const observe of observers) guarded(() => observe(this.#name, exchange));
    if (onFinding !== undefined) for (const finding of findings) guarded(() => onFinding(finding));
  }
}

const NONE = { changed: [], findings: [] };

/** Calls an observer. What it throws becomes a warning, and the client has its reply all the same. */
function guarded(tell: () => void): void {
  try {
    tell();
  } catch (error) {
    warn(error);
  }
}
