import type { CoverageReport } from '../../evidence/coverage.ts';
import type { FindingsReport } from '../../evidence/findings.ts';
import type { Touched } from '../sweep/touched.ts';
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
  readonly assumed: { readonly count: number; readonly by: readonly string[] };
  readonly findings: readonly FoundKind[];
  /** How many assumptions could have changed what was shown. */
  readonly touched: number;
}

/** @param touched observed the run */
export function evidenceOf(
  { calls, assumptions }: Touched,
  { documented, assumed }: CoverageReport,
  report: FindingsReport,
): Evidence {
  const names = (isShown: boolean): string[] =>
    documented
      .filter(({ count }) => count > 0 === isShown)
      .map(({ operation, status }) => `${operation} ${status}`);
  return {
    calls,
    shown: names(true),
    notShown: names(false),
    assumed: {
      count: assumed.reduce((sum, { count }) => sum + count, 0),
      by: [...new Set(assumed.flatMap(({ by = [] }) => by))],
    },
    findings: foundKinds(report),
    touched: assumptions.length,
  };
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
