import { thisInstant } from '../service/clock.ts';
import { CoverageCounter, type CoverageState, SLOTS, together } from './coverage.ts';
import type { Exchange } from './exchange.ts';
import {
  FindingCollector,
  type FindingCount,
  type FindingsState,
  findingOf,
  MOST_TOGETHER,
} from './findings.ts';
import { findingsOfRetry } from './findings-checks.ts';
import { type HeldExchange, type HoldEvent, Holds, unreleased } from './holds.ts';
import { Journal, type JournalState } from './journal.ts';
import type { Finding, ShownCount } from './report-shapes.ts';
import { NO_RETRIES, type Retries, remembered, withoutLatest } from './retries.ts';

/** The coverage and findings of a sandbox, or of several. */
export interface EvidenceTotals {
  readonly coverage: Pick<CoverageCounter, 'at'>;
  readonly findings: Pick<FindingCollector, 'kept' | 'counts'>;
}

/** The totals of sandboxes that were reset or deleted, as JSON. */
export interface PastState extends FindingsState {
  readonly coverage: readonly (ShownCount & { readonly slot: number })[];
}

const NOTHING: PastState = { coverage: [], counts: [], findings: [] };

/** The totals of sandboxes that were reset or deleted, gathered as if of one sandbox. */
export class PastEvidence implements EvidenceTotals {
  readonly kept: Finding[];
  readonly counts: FindingCount[];
  readonly #shown: ShownCount[] = [];

  constructor({ coverage, counts, findings }: PastState = NOTHING) {
    for (const { slot, ...shown } of coverage) this.#shown[slot] = shown;
    this.counts = counts.map((it) => ({ ...it }));
    this.kept = findings.map(findingOf);
  }

  add({ coverage, findings }: EvidenceTotals): void {
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const shown = coverage.at(slot);
      if (shown.count > 0) this.#shown[slot] = together([this.at(slot), shown]);
    }
    for (const { code, count } of findings.counts) {
      const known = this.counts.find((it) => it.code === code);
      if (known === undefined) this.counts.push({ code, count });
      else known.count += count;
    }
    this.kept.push(...findings.kept.slice(0, Math.max(0, MOST_TOGETHER - this.kept.length)));
  }

  at(slot: number): ShownCount {
    return this.#shown[slot] ?? { count: 0 };
  }

  get coverage(): EvidenceTotals['coverage'] {
    return this;
  }

  get findings(): EvidenceTotals['findings'] {
    return this;
  }

  get state(): PastState {
    return {
      coverage: this.#shown.flatMap((shown, slot) => ({ slot, ...shown })),
      counts: this.counts.map((it) => ({ ...it })),
      findings: this.kept.map(({ advice: _, ...finding }) => finding),
    };
  }
}

/** The evidence of a sandbox as JSON. */
export interface EvidenceState {
  readonly journal: JournalState;
  readonly coverage: CoverageState;
  readonly findings: FindingsState;
  readonly retries: Retries;
  /** Exchanges whose replies are held back. */
  readonly held?: readonly Exchange[] | undefined;
  readonly past?: PastState | undefined;
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
export class Evidence implements EvidenceTotals {
  readonly journal: Journal;
  readonly coverage: CoverageCounter;
  readonly findings: FindingCollector;
  #usedAt = thisInstant().steady;
  readonly #limits: EvidenceLimits;
  // Created when needed: there can be many sandboxes.
  #holds: Holds | undefined;
  #retries: Retries;
  #past: PastEvidence | undefined;

  constructor(sandbox: string, limits: EvidenceLimits, state?: EvidenceState) {
    this.#limits = limits;
    this.journal = new Journal(limits.journal, state?.journal);
    this.coverage = new CoverageCounter(sandbox, state?.coverage);
    this.findings = new FindingCollector(sandbox, state?.findings);
    this.#retries = state?.retries ?? NO_RETRIES;
    this.#past = state?.past && new PastEvidence(state.past);
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
    this.coverage.add(exchange);
    if (exchange.hold !== undefined) this.holds.add(exchange);
    const { attempt } = exchange;
    if (attempt !== undefined || this.mayRetry) {
      const found = attempt === undefined ? NONE : findingsOfRetry(attempt, this.#retries);
      if (found.length > 0) exchange.findings = exchange.findings.concat(found);
      this.#retries = remembered(this.#retries, attempt);
    }
    return this.findings.add(exchange);
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
      return this.findings.add({ ...exchange, findings: noted });
    });
    return { changed, findings };
  }

  /** Notes that the sandbox was changed, after which the same call can get another reply. */
  noteChange(): void {
    this.#usedAt = thisInstant().steady;
    this.#retries = withoutLatest(this.#retries);
  }

  /** What was cleared, here and in sandboxes that were deleted. */
  get past(): PastEvidence | undefined {
    return this.#past;
  }

  /** Gathers the totals of another sandbox, which is deleted. */
  addPast(totals: EvidenceTotals): void {
    this.#past ??= new PastEvidence();
    this.#past.add(totals);
  }

  /** The coverage and findings of its whole past. */
  get totals(): PastState {
    const totals = new PastEvidence(this.#past?.state);
    totals.add(this);
    return totals.state;
  }

  /** Clears the journal, or everything; the totals go to the past. */
  clear(what: 'journal' | 'all'): void {
    this.journal.clear();
    if (what === 'journal') return;
    this.addPast(this);
    this.coverage.clear();
    this.findings.clear();
    this.#retries = NO_RETRIES;
  }

  get state(): EvidenceState {
    return {
      journal: this.journal.state,
      coverage: this.coverage.state,
      findings: this.findings.state,
      retries: this.#retries,
      held: this.#holds?.state,
      past: this.#past?.state,
    };
  }
}

const NONE: readonly never[] = [];

/** The totals of sandboxes, with what each of them keeps of the past. */
export function totalsOf(
  all: Iterable<{ readonly evidence: Evidence }>,
): readonly EvidenceTotals[] {
  const evidence = Array.from(all, (sandbox) => sandbox.evidence);
  return [...evidence.flatMap(({ past }) => past ?? []), ...evidence];
}
