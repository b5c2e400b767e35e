import type { PossibleReply } from '../contract/cases.ts';
import { OPERATION_IDS, operationShape } from '../contract/operations.ts';
import { packageVersion } from '../files.ts';
import { type FindingsReport, howToGet } from '../sandbox/coverage.ts';
import type {
  CoverageReport,
  Finding,
  ReplyCoverage,
  ShownCount,
} from '../sandbox/report-shapes.ts';
import { renderHtml } from './html.ts';
import { renderJunit } from './junit.ts';
import type { Grid, Report, ReportRow } from './report.ts';

export interface CoverageEvidence {
  readonly coverage: CoverageReport;
  readonly findings: FindingsReport;
}

/**
 * Coverage and findings as a report. Findings never fail a test, since a client has to use deprecated
 * operations to be shown every reply.
 *
 * @param missed whether the run missed `--require-coverage`: missing documented replies fail then
 */
export function coverageReport({ coverage, findings }: CoverageEvidence, missed = false): Report {
  const { documented, cases, assumed, totals } = coverage;
  const { shown, total, percent } = totals.documented;
  const missing = missed ? 'failure' : 'skipped';
  return {
    title: 'What the client was shown',
    document: { coverage, findings },
    intro: [],
    tiles: [
      { name: 'documented replies', ...totals.documented },
      { name: 'cases within them', ...totals.cases },
      { name: 'assumed replies', ...totals.assumed },
    ],
    grid: createGrid(coverage),
    sections: [
      {
        title: 'Never shown',
        layout: 'cards',
        rows: documented.map((reply) => replyRow(reply, missing)),
        none: 'Every documented reply was shown.',
        suite: 'documented replies',
      },
      {
        title: 'Findings',
        layout: 'cards',
        rows: groupFindings(findings).map(findingRow),
        none: 'No findings.',
        suite: 'findings',
      },
      {
        title: 'Cases within documented replies',
        layout: 'table',
        columns: ['Case', 'Shown', 'What the document says'],
        rows: cases.map((it): ReportRow => {
          const cells = countCells(it.id, it, `${formatReplyName(it)}: ${it.sentence}`);
          const name = `${it.status} ${it.id}: ${it.sentence}`;
          const test = { group: it.operation, name, ...describeVerdict(it, 'skipped') };
          return { title: it.id, ...cells, test };
        }),
        suite: 'documented cases',
      },
      {
        title: 'Replies that an assumption leads to',
        layout: 'table',
        columns: ['Reply', 'Shown', 'Description', 'Options'],
        rows: assumed.map((it): ReportRow => {
          const { cells, ...tone } = countCells(formatReplyName(it), it, it.description);
          const options = it.grounds.map((ground) => `\`${ground}\``);
          return { title: formatReplyName(it), cells: [...cells, options.join(', ')], ...tone };
        }),
      },
    ],
    summary: [`${shown} of ${total} documented replies (${percent}%)`],
    footer: `petstore-mock ${packageVersion()}. \`default #3\` is exchange 3 in the journal of the sandbox \`default\`. The commands are for a mock on its default port; \`petstore-mock responses\` lists other ways to get a reply.`,
  };
}

export const REPORT_FORMATS: Readonly<Record<string, (report: Report) => string>> = {
  '.json': ({ document }) => `${JSON.stringify(document, undefined, 2)}\n`,
  '.html': renderHtml,
  '.xml': renderJunit,
};

/** The findings by kind, the most frequent first. Counts include findings that were not kept. */
export function groupFindings({ counts, findings }: FindingsReport) {
  return Object.entries(counts)
    .map(([code, count]) => {
      const examples = countEqual(findings.filter((finding) => finding.code === code));
      return { code, count, examples };
    })
    .sort((a, b) => b.count - a.count);
}

export type FindingGroup = ReturnType<typeof groupFindings>[number];

/** The first of equal findings on equal calls, with how many there are. */
function countEqual(findings: readonly Finding[]) {
  const examples = new Map<string, { readonly first: Finding; times: number }>();
  for (const first of findings) {
    const key = `${first.method} ${first.target} ${first.message}`;
    const known = examples.get(key);
    if (known === undefined) examples.set(key, { first, times: 1 });
    else known.times += 1;
  }
  return [...examples.values()];
}

/** The first examples of a group, and how many findings are left. */
export function describeExamples(
  { count, examples }: FindingGroup,
  max: number,
  describe: (first: Finding, times: string) => string,
): [texts: string[], rest: number] {
  const shown = examples.slice(0, max);
  const texts = shown.map(({ first, times }) =>
    describe(first, times === 1 ? '' : ` (${times} times)`),
  );
  return [texts, count - shown.reduce((sum, { times }) => sum + times, 0)];
}

const FINDINGS_PER_CARD = 5;

function findingRow(group: FindingGroup): ReportRow {
  const { code, count, examples } = group;
  const list = (max: number): string[] => {
    const [texts, rest] = describeExamples(group, max, (finding, times) => {
      const { message, sandbox, exchange, method, target } = finding;
      return `${message}\n  ${sandbox} #${exchange}: ${method} ${target}${times}`;
    });
    return rest > 0 ? [...texts, `and ${rest} more`] : texts;
  };
  const advice = examples[0]?.first.advice ?? '';
  const name = `${code}: ${count}`;
  return {
    title: name,
    about: [advice],
    output: list(FINDINGS_PER_CARD),
    test: { group: 'findings', name, verdict: 'passed', output: [advice, ...list(count)] },
  };
}

function replyRow(reply: ReplyCoverage, missing: 'failure' | 'skipped'): ReportRow {
  const { operation, status, description, count } = reply;
  const output = count > 0 ? {} : { output: [howToGet(reply)] };
  const test = {
    group: operation,
    name: `${status} ${description}`,
    ...describeVerdict(reply, missing),
  };
  const title = formatReplyName(reply);
  return { title, about: [description], ...output, test: { ...test, ...output } };
}

function describeVerdict({ count }: ShownCount, missing: 'failure' | 'skipped') {
  return count > 0 ? { verdict: 'passed' as const } : { verdict: missing, message: 'never shown' };
}

function countCells(name: string, { count, first }: ShownCount, text: string) {
  const by = first === undefined ? '' : ` (first by ${first.sandbox} #${first.exchange})`;
  return {
    cells: [name, count === 0 ? 'never' : `${count} times${by}`, text],
    tonedCell: 1,
    tone: count === 0 ? ('red' as const) : ('green' as const),
  };
}

function formatReplyName({
  operation,
  status,
}: Pick<PossibleReply, 'operation' | 'status'>): string {
  return `${operation} ${status}`;
}

function createGrid({ documented, assumed }: CoverageReport): Grid {
  const all = [...documented, ...assumed];
  const columns = [...new Set(all.map(({ status }) => status))].sort((a, b) => a - b);
  const rows = OPERATION_IDS.map((id) => {
    const { method, path } = operationShape(id);
    const cells = columns.map((status) => {
      const reply = all.find((it) => it.operation === id && it.status === status);
      if (reply === undefined) return undefined;
      const row = formatReplyName(reply);
      const title = `${row}: ${reply.description}`;
      return { count: reply.count, wanted: documented.includes(reply), title, row };
    });
    return { name: id, detail: `${method} ${path}`, cells };
  });
  return { caption: 'Replies by operation and status', columns, rows };
}
