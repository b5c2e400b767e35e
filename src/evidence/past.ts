import { type Coverage, SLOTS, together } from './coverage.ts';
import {
  type FindingCount,
  type Findings,
  type FindingsState,
  findingOf,
  MOST_TOGETHER,
} from './findings.ts';
import type { Finding, Shown } from './report-shapes.ts';

/** The coverage and findings of a sandbox, or of several. */
export interface EvidenceTotals {
  readonly coverage: Pick<Coverage, 'at'>;
  readonly findings: Pick<Findings, 'kept' | 'counts'>;
}

/** The totals of sandboxes that were reset or deleted, as JSON. */
export interface PastState extends FindingsState {
  readonly coverage: readonly (Shown & { readonly slot: number })[];
}

const NOTHING: PastState = { coverage: [], counts: [], findings: [] };

/** The totals of sandboxes that were reset or deleted, gathered as if of one sandbox. */
export class PastEvidence implements EvidenceTotals {
  readonly kept: Finding[];
  readonly counts: FindingCount[];
  readonly #shown: Shown[] = [];

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

  at(slot: number): Shown {
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
