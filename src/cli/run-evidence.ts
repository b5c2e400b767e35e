import { extname } from 'node:path';
import {
  ASSUMPTION_IDS,
  type AssumptionId,
  assumptionShape,
} from '../core/contract/assumption-table.ts';
import type { Sign } from '../core/contract/assumptions/assumption-shape.ts';
import type { Observer } from '../core/control/journal/exchange-text.ts';
import type { FindingsReport } from '../core/sandbox/coverage.ts';
import type { Finding } from '../core/sandbox/report-shapes.ts';
import { countText } from '../core/words.ts';
import type { RunEvidence } from '../server/feature.ts';
import { asError } from '../server/node-errors.ts';
import { bold, escapeControls, formatNotice, type Terminal } from '../terminal/terminal.ts';
import { writeOutput } from '../terminal/write-files.ts';
import {
  assumedReplies,
  describeCoverage,
  type Fact,
  missingReplies,
  offContractReplies,
  renderFacts,
} from './coverage-text.ts';
import type { Flags } from './flags.ts';
import { type FileNote, renderMarkdownTable, reportToGitHub } from './github.ts';
import { describeExamples, type FindingGroup, groupFindings, REPORT_FORMATS } from './reports.ts';

export const NO_CALLS =
  'the command made no call: does it take its base URL from PETSTORE_MOCK_URL? --allow-no-calls lets it pass';

const MAX_EXAMPLES = 3;

export interface FindingSummary {
  readonly code: string;
  readonly count: number;
  readonly example: string;
}

export function summarizeFindings(report: FindingsReport): FindingSummary[] {
  return groupFindings(report).map(({ code, count, examples: [example] }) => {
    const { method, target, message } = example?.first ?? {};
    return { code, count, example: example ? `${method} ${target}: ${message}` : code };
  });
}

/** Escaped, since a client influences it. */
function describeFindings(group: FindingGroup): string {
  const describe = ({ method, target, message }: Finding, times: string) =>
    `${method} ${target}${times}: ${message}`;
  const [texts, rest] = describeExamples(group, MAX_EXAMPLES, describe);
  const more = rest > 0 ? ` (and ${rest} more)` : '';
  return escapeControls(texts.join(' ')) + more;
}

/**
 * What a run has shown, line by line.
 *
 * @param tracker of the calls; nobody has tracked those of a server that somebody else started
 */
export function describeRun(
  { coverage, findings }: RunEvidence,
  tracker?: AssumptionTracker,
): readonly Fact[] {
  const questions = tracker?.assumptions.length ?? 0;
  const groups = groupFindings(findings);
  const found: readonly Fact[] = groups.map((group) => [group.code, describeFindings(group)]);
  const asked = `${questions} touched; petstore-mock sweep tries other answers`;
  return [
    ...describeCoverage(coverage, tracker?.calls),
    ...(groups.length === 0 ? [['findings', 'none'] as const] : found),
    ...(questions > 0 ? [['open questions', asked] as const] : []),
  ];
}

export function gateFailures(
  { requireCoverage: required = 0, failOn = [] }: Flags,
  { coverage, findings }: RunEvidence,
): string[] {
  const { percent } = coverage.totals.documented;
  const missing = missingReplies(coverage).map(({ operation, status }) => `${operation} ${status}`);
  const gap = `--require-coverage: ${percent}% of the documented replies were shown, not ${required}%; missing: ${missing.join(', ')}`;
  const kinds = [
    assumedReplies(coverage),
    offContractReplies(coverage),
    ...groupFindings(findings).map((group) => ({ ...group, reason: describeFindings(group) })),
  ].filter(({ code, count }) => {
    const isFinding = code !== 'assumed' && code !== 'off-contract';
    return count > 0 && failOn.some((kind) => kind === code || (isFinding && kind === 'findings'));
  });
  return [
    ...(isCoverageShort(coverage, required) ? [gap] : []),
    ...kinds.map(({ code, count, reason }) => {
      return `--fail-on ${code}: ${countText(count, 'time')}: ${reason}`;
    }),
  ];
}

/** Exactly: the percentage that is shown is rounded down. */
function isCoverageShort({ totals }: RunEvidence['coverage'], required: number): boolean {
  const { shown, total } = totals.documented;
  return (100 * shown) / total < required;
}

export function printFacts({ notices, style }: Terminal, facts: readonly Fact[]): void {
  if (facts.length === 0) return;
  notices.write(`${bold('petstore-mock', style)}\n${renderFacts(facts, style)}`);
}

interface Conclusion {
  /** What was run, or judged. */
  readonly title: string;
  readonly facts: readonly Fact[];
  readonly problems: readonly string[];
  /** Gates that were not met. */
  readonly reasons: readonly string[];
  readonly notes?: readonly FileNote[];
}

/** Prints why a run fails, and tells GitHub, where it runs. */
export async function concludeRun(terminal: Terminal, conclusion: Conclusion): Promise<void> {
  const { title, facts, notes } = conclusion;
  const failures = [...conclusion.problems, ...conclusion.reasons];
  const rows = [...facts, ...failures.map((text) => ['failed', text])];
  const summary = renderMarkdownTable(['petstore-mock', title], rows);
  const untold = await reportToGitHub(terminal, summary, notes);
  terminal.notices.write([...failures, ...untold].map(formatNotice).join(''));
}

export class AssumptionTracker {
  readonly #signs = new Set<Sign>();
  #calls = 0;

  readonly observe: Observer = (_sandbox, { operation, status, basis, by }) => {
    this.#calls += 1;
    const signs: Sign[] = ['a call'];
    if (operation !== undefined) signs.push(operation, `${operation} ${status ?? 0}`);
    if (status === 401 || status === 409) signs.push(`a ${status}`);
    if (status !== undefined && status >= 400) signs.push('an error');
    if (status !== undefined && status !== 204) signs.push('a body');
    for (const sign of signs) this.#signs.add(sign);
    if (basis !== 'assumed') return;
    for (const ground of by) this.#signs.add(`by ${ground.slice(0, ground.indexOf('='))}`);
  };

  get calls(): number {
    return this.#calls;
  }

  /** The assumptions whose other options could have changed what the client was shown. */
  get assumptions(): AssumptionId[] {
    const isSeen = (sign: Sign): boolean => this.#signs.has(sign);
    return ASSUMPTION_IDS.filter((id) => {
      const signs = [`by ${id}`, ...(assumptionShape(id).seenIn ?? [])] as const;
      return signs.some((sign) => (typeof sign === 'string' ? isSeen(sign) : sign.every(isSeen)));
    });
  }
}

/** Writes the files of `--coverage` and others. Returns a message for each that failed. */
export async function writeReports(
  { coverage: files = [], requireCoverage: required = 0 }: Flags,
  evidence: RunEvidence,
  others: readonly (readonly [file: string, text: string])[] = [],
): Promise<string[]> {
  const missed = isCoverageShort(evidence.coverage, required);
  const reports = files.map(
    (file) => [file, REPORT_FORMATS[extname(file)]?.(evidence, missed) ?? ''] as const,
  );
  const written = await Promise.allSettled(
    [...reports, ...others].map(([file, text]) => writeOutput(file, text)),
  );
  return written.flatMap((one) => (one.status === 'rejected' ? asError(one.reason).message : []));
}
