import { type Coverage, SLOTS, together } from '../evidence/coverage.ts';
import type { PastState } from '../evidence/evidence-shapes.ts';
import {
  type FindingCount,
  type Findings,
  findingOf,
  MOST_TOGETHER,
} from '../evidence/findings.ts';
import type { Finding, Shown } from '../evidence/report-shapes.ts';

/** The coverage and findings of a sandbox, or of several. */
export interface Evidence {
  readonly coverage: Pick<Coverage, 'at'>;
  readonly findings: Pick<Findings, 'kept' | 'counts'>;
}

/** The evidence of sandboxes that were reset or deleted, gathered as if from one sandbox. */
export class Past implements Evidence {
  readonly kept: Finding[];
  readonly counts: FindingCount[];
  readonly #shown: Shown[] = [];

  /** @param state of another past, which this one continues */
  constructor({ coverage, counts, findings }: PastState = NOTHING) {
    for (const { slot, ...shown } of coverage) this.#shown[slot] = shown;
    this.counts = counts.map((it) => ({ ...it }));
    this.kept = findings.map(findingOf);
  }

  add({ coverage, findings }: Evidence): void {
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const shown = coverage.at(slot);
      if (shown.count > 0) this.#shown[slot] = together([this.at(slot), shown]);
    }
    for (const { code, count } of findings.counts) {
      const known = this.counts.find((it) => it.code === code);
      if (known === undefined) this.counts.push({ code, count });
      else known.count += count;
    }
    this.kept.push(...findings.kept.slice(0, MOST_TOGETHER - this.kept.length));
  }

  at(slot: number): Shown {
    return this.#shown[slot] ?? { count: 0 };
  }

  get coverage(): Evidence['coverage'] {
    return this;
  }

  get findings(): Evidence['findings'] {
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

const NOTHING: PastState = { coverage: [], counts: [], findings: [] };
