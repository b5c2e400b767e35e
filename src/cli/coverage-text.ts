import type { CoverageReport } from '../core/sandbox/report-shapes.ts';
import { countText } from '../core/words.ts';
import { renderTable, type Style } from '../terminal/terminal.ts';

export type Fact = readonly [label: string, text: string];

const LABEL_COLUMN = 15;

export function renderFacts(facts: readonly Fact[], { width }: Style): string {
  return renderTable(facts, { width, columns: [LABEL_COLUMN] });
}

/** What a client was shown, as `exec` and `ctl` print it. */
export function describeCoverage(coverage: CoverageReport, calls?: number): Fact[] {
  const { shown, total, percent } = coverage.totals.documented;
  const missing = missingReplies(coverage);
  const ofUpstream = coverage.documented.filter((it) => it.upstream !== undefined).length;
  const causes = [assumedReplies(coverage), offContractReplies(coverage)];
  const operations = [...new Set(missing.map(({ operation }) => operation))];
  // `listPets 200, listPets 401` as `listPets 200 401`.
  const notShown = operations.map((id) =>
    [id, ...missing.flatMap((reply) => (reply.operation === id ? reply.status : []))].join(' '),
  );
  const share = `${shown} of ${total} documented replies (${percent}%)`;
  const facts: Fact[] = [
    ['shown', calls === undefined ? share : `${share} in ${countText(calls, 'call')}`],
    ['by upstream', ofUpstream > 0 ? `${ofUpstream} of them by the deployment itself` : ''],
    ['not shown', notShown.join(', ')],
    ...causes.map(({ code, count, reason }): Fact => {
      const counted = countText(count, 'reply', 'replies');
      return [code, count === 0 ? '' : [counted, reason].filter(Boolean).join(': ')];
    }),
  ];
  return facts.filter(([, text]) => text !== '');
}

export function missingReplies({ documented }: CoverageReport) {
  return documented.filter(({ count }) => count === 0);
}

export function assumedReplies({ assumed }: CoverageReport) {
  const by = new Set(assumed.flatMap((reply) => reply.by ?? []));
  // What a deployment answers is no assumption.
  const total = assumed.reduce((sum, { count, upstream = 0 }) => sum + count - upstream, 0);
  return { code: 'assumed', count: total, reason: [...by].join(', ') };
}

export function offContractReplies({ offContract: { count, by = [] } }: CoverageReport) {
  return { code: 'off-contract', count, reason: by.join(', ') };
}
