import { DEFAULT_URL } from '../contract/default-url.ts';
import { operationShape } from '../contract/operations.ts';
import type { CoverageReport, ReplyCoverage } from '../evidence/coverage.ts';
import type { Finding, FindingsReport } from '../evidence/findings.ts';

/** What a run's report is made of. */
export interface ReportData {
  readonly coverage: CoverageReport;
  readonly findings: FindingsReport;
}

/** A curl line that obtains a reply from a mock at its usual place. */
export function howToGet({
  operation,
  status,
}: Pick<ReplyCoverage, 'operation' | 'status'>): string {
  const { method, path } = operationShape(operation);
  const url = `${DEFAULT_URL}${path.replaceAll(/\{\w+\}/g, '1')}`;
  const key = status === 401 ? '' : ` -H 'Authorization: Bearer demo-key'`;
  const prefer = status === 401 ? '' : ` -H 'Prefer: code=${status}'`;
  const verb = method === 'GET' ? '' : ` -X ${method}`;
  return `curl -i${verb}${key}${prefer} ${url}`;
}

/** All findings of one kind. */
export interface FindingKind {
  readonly code: string;
  /** How often it was found; not all that were are kept. */
  readonly count: number;
  readonly kept: readonly Finding[];
}

/** The findings by kind, the most frequent first. */
export function findingKinds({ counts, findings }: FindingsReport): FindingKind[] {
  return Object.entries(counts)
    .map(([code, count]) => ({ code, count, kept: findings.filter((it) => it.code === code) }))
    .sort((a, b) => b.count - a.count);
}

/** Where an exchange is found again: its number in its sandbox's journal, and what was asked. */
export function placeOf({ sandbox, exchange, method, target }: Finding): string {
  return `${sandbox} #${exchange}: ${method} ${target}`;
}

const NOT_IN_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Text for XML and HTML, attributes included; what XML cannot hold becomes U+FFFD. */
export function escapeMarkup(text: string): string {
  return text
    .replaceAll(NOT_IN_XML, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
