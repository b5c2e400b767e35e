import { type Shown, SLOTS, together } from '../evidence/coverage.ts';
import type { FindingCode } from '../evidence/finding-codes.ts';
import { type Finding, MOST_TOGETHER } from '../evidence/findings.ts';
import type { Sandbox } from './sandbox.ts';

/** The evidence of sandboxes that were reset or deleted, in the form of one more sandbox. */
export class Past {
  readonly #shown: Shown[] = [];
  readonly kept: Finding[] = [];
  readonly counts = new Map<FindingCode, { count: number }>();

  add({ coverage, findings }: Sandbox): void {
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const shown = coverage.at(slot);
      if (shown.count > 0) this.#shown[slot] = together([this.at(slot), shown]);
    }
    for (const [code, { count }] of findings.counts) {
      this.counts.set(code, { count: (this.counts.get(code)?.count ?? 0) + count });
    }
    this.kept.push(...findings.kept.slice(0, MOST_TOGETHER - this.kept.length));
  }

  at(slot: number): Shown {
    return this.#shown[slot] ?? { count: 0 };
  }
}
