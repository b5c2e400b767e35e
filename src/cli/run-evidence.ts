import { extname } from 'node:path';
import type { CoverageReport, Finding } from '../core/sandbox/report-shapes.ts';
import { asError } from '../core/thrown.ts';
import { countText } from '../core/words.ts';
import type { RunEvidence } from '../terminal/command.ts';
import { EXIT_GATE_FAILED } from '../terminal/command.ts';
import { isFailing } from '../terminal/fail-on.ts';
import { renderTable } from '../terminal/table.ts';
import { bold, escapeControls, formatNotice, indent, type Terminal } from '../terminal/terminal.ts';
import { writeOutput } from '../terminal/write-files.ts';
import type { CallTracker } from './call-tracker.ts';
import type { Flags } from './flags.ts';
import { type FileNote, renderMarkdownTable, reportToGitHub } from './github.ts';
import {
  describeExamples,
  type FindingGroup,
  groupFindings,
  type MissedGates,
  REPORT_FORMATS,
} from './reports.ts';
import type { CallDifference } from './transcript.ts';

export type Fact = readonly [label: string, text: string];

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

function missingReplies({ documented }: CoverageReport) {
  return documented.filter(({ count }) => count === 0);
}

function assumedReplies({ assumed }: CoverageReport) {
  const by = new Set(assumed.flatMap((reply) => reply.by ?? []));
  // What a deployment answers is no assumption.
  const total = assumed.reduce((sum, { count, upstream = 0 }) => sum + count - upstream, 0);
  return { code: 'assumed', count: total, reason: [...by].join(', ') };
}

function offContractReplies({ offContract: { count, by = [] } }: CoverageReport) {
  return { code: 'off-contract', count, reason: by.join(', ') };
}

export const NO_CALLS =
  'no client has called the mock: does it take its base URL from PETSTORE_MOCK_URL, or the ready line? --allow-no-calls lets it pass';

const MAX_EXAMPLES = 3;

/** Describes the findings of one kind. The text is escaped, since a client influences it. */
export function describeFindings(group: FindingGroup, max = MAX_EXAMPLES): string {
  const describe = ({ method, target, message }: Finding, times: string) =>
    `${method} ${target}${times}: ${message}`;
  const [texts, rest] = describeExamples(group, max, describe);
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
  tracker?: CallTracker,
): readonly Fact[] {
  const questions = tracker?.assumptions.length ?? 0;
  const forced = countText(tracker?.forced ?? 0, 'reply', 'replies');
  const groups = groupFindings(findings);
  const found: readonly Fact[] = groups.map((group) => [group.code, describeFindings(group)]);
  const asked = `${questions} touched; petstore-mock sweep tries other answers`;
  return [
    ...describeCoverage(coverage, tracker?.calls),
    ...(tracker?.forced ? [['forced', `${forced} by a scenario or Prefer`] as const] : []),
    ...(groups.length === 0 ? [['findings', 'none'] as const] : found),
    ...(questions > 0 ? [['open questions', asked] as const] : []),
  ];
}

export function judgeGates(
  { requireCoverage: required = 0, failOn = [] }: Flags,
  { coverage, findings }: RunEvidence,
): MissedGates {
  const { shown, total, percent } = coverage.totals.documented;
  const missing = missingReplies(coverage).map(({ operation, status }) => `${operation} ${status}`);
  const gap = `${percent}% of the documented replies were shown, not ${required}%; missing: ${missing.join(', ')}`;
  // Exactly: the percentage that is shown is rounded down.
  const missed = new Map((100 * shown) / total < required ? [['--require-coverage', gap]] : []);
  const kinds = [
    assumedReplies(coverage),
    offContractReplies(coverage),
    ...groupFindings(findings).map((group) => ({ ...group, reason: describeFindings(group) })),
  ];
  for (const { code, count, reason } of kinds) {
    if (count > 0 && isFailing(code, failOn))
      missed.set(`--fail-on ${code}`, `${countText(count, 'time')}: ${reason}`);
  }
  return missed;
}

interface Judged {
  /** The command that ran, or the address of the server that is judged. */
  readonly title: string;
  readonly evidence: RunEvidence;
  /** Nobody has tracked the calls to a server that somebody else started. */
  readonly tracker?: CallTracker;
  readonly wasCalled: boolean;
  /** Whether the gates judge it, if it was called. */
  readonly isGated: boolean;
  readonly problems?: readonly string[];
  /** Files to write besides those of `--coverage`. */
  readonly files?: readonly (readonly [file: string, text: string])[];
  /** How the run differs from a file. */
  readonly difference?: (CallDifference & { readonly file: string }) | undefined;
  /** Ends the writing of files early. */
  readonly interrupted?: Promise<undefined>;
}

/**
 * Prints what a run has shown and why it fails, writes its reports, and tells GitHub. Returns what the
 * exit code is unless the command has failed.
 */
export async function concludeRun(
  terminal: Terminal,
  flags: Flags,
  { title, evidence, tracker, wasCalled, isGated, problems = [], ...run }: Judged,
): Promise<number> {
  const { notices, style } = terminal;
  const facts = describeRun(evidence, tracker);
  notices.write(`${bold('petstore-mock', style)}\n${renderTable(facts, style)}`);
  const isSilent = !wasCalled && !flags.allowNoCalls;
  const isJudged = isGated && !isSilent;
  const missed = isJudged ? judgeGates(flags, evidence) : new Map<string, string>();
  const writing = writeReports(flags, evidence, run.files, missed);
  const unwritten = await Promise.race([writing, ...(run.interrupted ? [run.interrupted] : [])]);
  const incidents = [...(unwritten ?? []), ...problems];
  if (isSilent) incidents.push(NO_CALLS);
  const reasons = Array.from(missed, ([gate, why]) => `${gate}: ${why}`);
  let note: FileNote | undefined;
  if (isJudged && run.difference !== undefined) {
    const { file, line, lines, summary } = run.difference;
    const shown = indent(lines);
    notices.write(shown);
    note = { file, line, message: `${summary}\n${shown}` };
    reasons.push(`--against: the calls differ from ${file}: ${summary}`);
  }
  const failures = [...incidents, ...reasons];
  const rows = [...facts, ...failures.map((text) => ['failed', text])];
  await reportToGitHub(terminal, renderMarkdownTable(['petstore-mock', title], rows), note);
  notices.write(failures.map(formatNotice).join(''));
  return reasons.length > 0 ? EXIT_GATE_FAILED : Math.sign(incidents.length);
}

/** Writes the files of `--coverage` and others. Returns a message for each that failed. */
export async function writeReports(
  { coverage: files = [] }: Flags,
  evidence: RunEvidence,
  others: readonly (readonly [file: string, text: string])[] = [],
  missed: MissedGates = new Map(),
): Promise<string[]> {
  const reports = files.map(
    (file) => [file, REPORT_FORMATS[extname(file)]?.(evidence, missed) ?? ''] as const,
  );
  const written = await Promise.allSettled(
    [...reports, ...others].map(([file, text]) => writeOutput(file, text)),
  );
  return written.flatMap((one) => (one.status === 'rejected' ? asError(one.reason).message : []));
}
