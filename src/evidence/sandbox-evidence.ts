import { thisInstant } from '../service/clock.ts';
import type { Exchange } from './exchange.ts';
import { type HeldExchange, type HoldEvent, Holds, unreleased } from './holds.ts';
import { Journal, type JournalState } from './journal.ts';
import type { Finding } from './report-shapes.ts';
import { findingsOfRetry, NO_RETRIES, type Retries, remembered, withoutLatest } from './retries.ts';
import { Totals, type TotalsState } from './totals.ts';

/** The evidence of a sandbox as JSON. */
export interface EvidenceState {
  readonly journal: JournalState;
  readonly totals: TotalsState;
  readonly retries: Retries;
  /** Exchanges whose replies are held back. */
  readonly held?: readonly Exchange[] | undefined;
  /** The totals of what was cleared, here and in sandboxes that were deleted. */
  readonly past?: TotalsState | undefined;
}

export interface EvidenceLimits {
  /** How many exchanges to keep. */
  readonly journal: number;
  /** How long a server holds a reply back, in milliseconds. */
  readonly maxHold: number;
}

/**
 * What a sandbox has shown its clients, and what they did: a fold over its acknowledged exchanges, in
 * order, the same wherever its state is kept.
 */
export class Evidence {
  readonly journal: Journal;
  /** Since the last reset. */
  totals: Totals;
  readonly #sandbox: string;
  #usedAt = thisInstant().steady;
  readonly #limits: EvidenceLimits;
  // Created when needed: there can be many sandboxes.
  #holds: Holds | undefined;
  #retries: Retries;
  #past: Totals | undefined;

  constructor(sandbox: string, limits: EvidenceLimits, state?: EvidenceState) {
    this.#sandbox = sandbox;
    this.#limits = limits;
    this.journal = new Journal(limits.journal, state?.journal);
    this.totals = new Totals(state?.totals);
    this.#retries = state?.retries ?? NO_RETRIES;
    this.#past = state?.past && new Totals(state.past);
    for (const held of state?.held ?? []) this.holds.add(this.journal.at(held.number) ?? held);
  }

  /** Whether a client waits for a reply that is held back. */
  get isHolding(): boolean {
    return this.#holds !== undefined && this.#holds.waiting(Date.now()).length > 0;
  }

  /**
   * Milliseconds since its sandbox was created, answered a request, or was changed. Held replies use it
   * as long as they wait.
   */
  get unused(): number {
    return this.isHolding ? 0 : thisInstant().steady - this.#usedAt;
  }

  /** Whether a call may be a retry of one before it. */
  get mayRetry(): boolean {
    const { latest, pauses } = this.#retries;
    return latest !== undefined || pauses.length > 0;
  }

  /**
   * Takes the next exchange, and gives it its number.
   *
   * @returns the findings that are new to a report
   */
  add(exchange: Exchange): readonly Finding[] {
    this.#usedAt = thisInstant().steady;
    this.journal.add(exchange);
    if (exchange.operation === undefined) return NONE;
    if (exchange.hold !== undefined) this.holds.add(exchange);
    const { attempt } = exchange;
    if (attempt !== undefined || this.mayRetry) {
      const found = attempt && findingsOfRetry(attempt, this.#retries);
      if (found?.length) exchange.findings = exchange.findings.concat(found);
      this.#retries = remembered(this.#retries, attempt);
    }
    return this.totals.add(exchange, this.#sandbox);
  }

  /** The replies that are held back. */
  get holds(): Holds {
    this.#holds ??= new Holds(this.#limits.maxHold);
    return this.#holds;
  }

  /**
   * Takes what happened to replies that were held back.
   *
   * @returns their exchanges, and the findings that are new to a report
   */
  takeHolds(event: HoldEvent): {
    readonly changed: readonly HeldExchange[];
    readonly findings: readonly Finding[];
  } {
    const changed = this.holds.take(event);
    const findings = changed.flatMap((exchange) => {
      const noted = unreleased(exchange);
      exchange.findings = exchange.findings.concat(noted);
      return this.totals.addFindings(noted, exchange, this.#sandbox);
    });
    return { changed, findings };
  }

  /** Notes that the sandbox was changed, after which the same call can get another reply. */
  noteChange(): void {
    this.#usedAt = thisInstant().steady;
    this.#retries = withoutLatest(this.#retries);
  }

  /** The totals of what was cleared, here and in sandboxes that were deleted. */
  get past(): Totals | undefined {
    return this.#past;
  }

  addPast(totals: TotalsState): void {
    this.#past ??= new Totals();
    this.#past.merge(totals);
  }

  /** Clears the journal, or everything; the totals go to the past. */
  clear(what: 'journal' | 'all'): void {
    this.journal.clear();
    if (what === 'journal') return;
    this.addPast(this.totals);
    this.totals = new Totals();
    this.#retries = NO_RETRIES;
  }

  get state(): EvidenceState {
    return {
      journal: this.journal.state,
      totals: this.totals.toJSON(),
      retries: this.#retries,
      held: this.#holds?.state,
      past: this.#past?.toJSON(),
    };
  }
}

const NONE: readonly never[] = [];

/** The totals of sandboxes, with those of their past. */
export function totalsOf(all: Iterable<{ readonly evidence: Evidence }>): Totals {
  const evidence = Array.from(all, (sandbox) => sandbox.evidence);
  const totals = new Totals();
  for (const { past } of evidence) if (past !== undefined) totals.merge(past);
  for (const { totals: present } of evidence) totals.merge(present);
  return totals;
}
