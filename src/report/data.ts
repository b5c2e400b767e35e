import type { FindingsReport } from '../evidence/findings.ts';
import type { CoverageReport, Finding } from '../evidence/report-shapes.ts';

/** The input of a report. */
export interface ReportData {
  readonly coverage: CoverageReport;
  readonly findings: FindingsReport;
}

/** All findings of one kind. */
export interface FindingKind {
  readonly code: string;
  /** Includes findings that were not kept. */
  readonly count: number;
  readonly kept: readonly Finding[];
}

/** The findings by kind, the most frequent first. */
export function findingKinds({ counts, findings }: FindingsReport): FindingKind[] {
  return Object.entries(counts)
    .map(([code, count]) => ({ code, count, kept: findings.filter((it) => it.code === code) }))
    .sort((a, b) => b.count - a.count);
}

/** Identifies an exchange: its sandbox, its number in the journal, and its request. */
export function placeOf({ sandbox, exchange, method, target }: Finding): string {
  return `${sandbox} #${exchange}: ${method} ${target}`;
}
