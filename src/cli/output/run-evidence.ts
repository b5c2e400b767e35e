import type { CoverageReport } from '../../evidence/coverage.ts';
import type { FindingsReport } from '../../evidence/findings.ts';
import type { Observer } from '../../evidence/journal.ts';
import { Touched } from '../sweep/touched.ts';
import { escaped } from './escaped.ts';

/** A kind of finding, how often it was made, and one exchange that caused it. */
export interface FoundKind {
  readonly kind: string;
  readonly count: number;
  readonly example: string;
}

/** What a command was shown of the service, and what it should not have done. */
export interface Evidence {
  readonly calls: number;
  /** Documented replies, such as `listPets 401`. */
  readonly shown: readonly string[];
  readonly notShown: readonly string[];
  /** How many replies rested on assumptions, and on which. */
  readonly assumed: { readonly count: number; readonly by: readonly string[] };
  readonly findings: readonly FoundKind[];
  /** How many assumptions could have changed what was shown. */
  readonly touched: number;
}

/** Collects what a command was shown, beyond what the server itself keeps. */
export class RunWitness {
  readonly #touched = new Touched();
  #assumed = 0;
  readonly #by = new Set<string>();

  readonly observe: Observer = (sandbox, exchange) => {
    this.#touched.observe(sandbox, exchange);
    const { basis } = exchange;
    if (basis.kind !== 'assumed') return;
    this.#assumed += 1;
    for (const by of basis.by) this.#by.add(by);
  };

  evidence({ documented }: CoverageReport, findings: FindingsReport): Evidence {
    const names = (isShown: boolean): string[] =>
      documented
        .filter(({ count }) => count > 0 === isShown)
        .map(({ operation, status }) => `${operation} ${status}`);
    return {
      calls: this.#touched.calls,
      shown: names(true),
      notShown: names(false),
      assumed: { count: this.#assumed, by: [...this.#by] },
      findings: foundKinds(findings),
      touched: this.#touched.assumptions.length,
    };
  }
}

/** The kinds of findings, in the order in which they were made. */
export function foundKinds({ counts, findings }: FindingsReport): FoundKind[] {
  return Object.entries(counts).map(([kind, count]) => {
    const first = findings.find(({ code }) => code === kind);
    const example = first && `${first.method} ${first.target}: ${first.message}`;
    return { kind, count, example: example ?? kind };
  });
}

/** One example, escaped since a client influences it, and how many more there are. */
export function tellFound({ count, example }: FoundKind): string {
  return count === 1 ? escaped(example) : `${escaped(example)} (and ${count - 1} more)`;
}

/** The percentage of documented replies that were shown. */
export function coverageOf({ shown, notShown }: Evidence): number {
  return (100 * shown.length) / (shown.length + notShown.length);
}
