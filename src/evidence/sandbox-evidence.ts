import { thisInstant } from '../service/clock.ts';
import type { Exchange } from './exchange.ts';
import { findingsOfHold, type HoldEvent, Holds } from './holds.ts';
import { Journal, type JournalState } from './journal.ts';
import type { Finding } from './report-shapes.ts';
import { findingsOfRetry, type Retries, retriesAfter } from './retries.ts';
import { Totals, type TotalsState } from './totals.ts';

/** What one request did to the evidence: an exchange of the service, or something else. */
export interface EvidenceEntry {
  readonly exchange?: Exchange | undefined;
  /** The evidence that was cleared. */
  readonly clears?: 'journal' | 'all' | undefined;
  /** The totals of a sandbox that was deleted; the default one gathers them. */
  readonly past?: TotalsState | undefined;
  /** What happened to replies that rules hold back. */
  readonly holds?: HoldEvent | undefined;
}

export interface EvidenceChange {
  /** The exchange that was added, or those whose replies were let go, in this order. */
  readonly exchanges: readonly Exchange[];
  /** Those that are new to a report. */
  readonly findings: readonly Finding[];
}

export interface EvidenceState {
  readonly journal: JournalState;
  readonly totals: TotalsState;
  readonly retries: Retries;
  /** Exchanges whose replies are held back. */
  readonly held: readonly Exchange[];
  readonly past?: TotalsState | undefined;
}

export interface EvidenceLimits {
  readonly journal: number;
  /** How long a server holds a reply back, in milliseconds. */
  readonly maxHold: number;
}

const NONE: readonly never[] = [];

/**
 * What a sandbox has shown its clients, and what they did: a fold over its acknowledged entries, in
 * order, the same wherever its state is kept.
 */
export class Evidence {
  readonly journal: Journal;
  /** Since the last reset. */
  totals: Totals;
  /** The totals of what was cleared, here and in sandboxes that were deleted. */
  past: Totals | undefined;
  readonly #sandbox: string;
  readonly #limits: EvidenceLimits;
  #usedAt = thisInstant().steady;
  // Created when needed: there can be many sandboxes.
  #holds: Holds | undefined;
  #retries: Retries;

  constructor(sandbox: string, limits: EvidenceLimits, state?: EvidenceState) {
    this.#sandbox = sandbox;
    this.#limits = limits;
    this.journal = new Journal(limits.journal, state?.journal);
    this.totals = new Totals(state?.totals);
    this.past = state?.past && new Totals(state.past);
    this.#retries = state?.retries ?? NONE;
    for (const held of state?.held ?? NONE) this.holds.add(this.journal.at(held.number) ?? held);
  }

  get holds(): Holds {
    this.#holds ??= new Holds(this.#limits.maxHold);
    return this.#holds;
  }

  /** Whether a client waits for a reply that is held back. */
  get isHolding(): boolean {
    return this.#holds?.isEmpty === false;
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
    return this.#retries.length > 0;
  }

  take({ exchange, clears, past, holds }: EvidenceEntry): EvidenceChange {
    this.#usedAt = thisInstant().steady;
    if (exchange !== undefined) return { exchanges: [exchange], findings: this.#add(exchange) };
    this.#retries = retriesAfter(this.#retries);
    const exchanges = holds === undefined ? NONE : this.holds.take(holds);
    const findings = exchanges.flatMap((it) => {
      const found = findingsOfHold(it);
      it.findings = it.findings.concat(found);
      return this.totals.add({ ...it, shows: NONE, findings: found }, this.#sandbox);
    });
    if (past !== undefined) this.addPast(past);
    if (clears !== undefined) this.#clear(clears);
    return { exchanges, findings };
  }

  /** Takes the next exchange, and gives it its number. */
  #add(exchange: Exchange): readonly Finding[] {
    this.journal.add(exchange);
    if (exchange.operation === undefined) return NONE;
    if (exchange.hold !== undefined) this.holds.add(exchange);
    const { attempt } = exchange;
    if (attempt !== undefined || this.mayRetry) {
      const found = attempt && findingsOfRetry(attempt, this.#retries);
      if (found?.length) exchange.findings = exchange.findings.concat(found);
      this.#retries = retriesAfter(this.#retries, attempt);
    }
    return this.totals.add(exchange, this.#sandbox);
  }

  addPast(totals: TotalsState): void {
    this.past ??= new Totals();
    this.past.merge(totals);
  }

  /** Clears the journal, or everything; the totals go to the past. */
  #clear(what: 'journal' | 'all'): void {
    this.journal.clear();
    if (what === 'journal') return;
    this.addPast(this.totals);
    this.totals = new Totals();
    this.#retries = NONE;
  }

  get state(): EvidenceState {
    return {
      journal: this.journal.state,
      totals: this.totals.toJSON(),
      retries: this.#retries,
      held: this.#holds?.open ?? NONE,
      past: this.past?.toJSON(),
    };
  }
}

/** The totals of sandboxes, with those of their past. */
export function totalsOf(all: Iterable<{ readonly evidence: Evidence }>): Totals {
  const evidence = Array.from(all, (sandbox) => sandbox.evidence);
  const totals = new Totals();
  for (const { past } of evidence) if (past !== undefined) totals.merge(past);
  for (const { totals: present } of evidence) totals.merge(present);
  return totals;
}
