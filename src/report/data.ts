import { DEFAULT_URL } from '../contract/default-url.ts';
import { operationShape } from '../contract/operations.ts';
import type { CoverageReport, ReplyCoverage } from '../evidence/coverage.ts';
import type { Finding, FindingsReport } from '../evidence/findings.ts';

/** The input of a report. */
export interface ReportData {
  readonly coverage: CoverageReport;
  readonly findings: FindingsReport;
}

/** A curl command that gets a reply from a mock on its default port. */
export function howToGet({
  operation,
  status,
}: Pick<ReplyCoverage, 'operation' | 'status'>): string {
  const { method, path } = operationShape(operation);
  const url = `${DEFAULT_URL}${path.replaceAll(/\{\w+\}/g, '1')}`;
  const headers =
    status === 401 ? '' : ` -H 'Authorization: Bearer demo-key' -H 'Prefer: code=${status}'`;
  return `curl -i${method === 'GET' ? '' : ` -X ${method}`}${headers} ${url}`;
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
