import { BASE_PATH, operationShape } from '../contract/operations.ts';
import type { CoverageReport, ReplyCoverage } from '../simulation/coverage.ts';
import type { FindingsReport } from '../simulation/findings.ts';

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
  const url = `http://127.0.0.1:4010${BASE_PATH}${path.replaceAll(/\{\w+\}/g, '1')}`;
  const key = status === 401 ? '' : ` -H 'Authorization: Bearer demo-key'`;
  const prefer = status === 401 ? '' : ` -H 'Prefer: code=${status}'`;
  return `curl -i -X ${method}${key}${prefer} ${url}`;
}

/** Text for XML and HTML, attributes included; what XML cannot hold becomes a question mark. */
export function escapeMarkup(text: string): string {
  return text
    .replaceAll(/[^\t\n\r -\ud7ff\ue000-\ufffd]/g, '?')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
