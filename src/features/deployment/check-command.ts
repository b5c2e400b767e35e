import { assumptionTopic } from '../../core/contract/assumption-table.ts';
import { readJson } from '../../core/shape/source-text.ts';
import { countText, formatProblem } from '../../core/words.ts';
import {
  type Command,
  EXIT_GATE_FAILED,
  readTextFile,
  refusal,
  UsageError,
} from '../../terminal/command.ts';
import {
  escapeControls,
  formatNotice,
  paint,
  renderSection,
  renderTable,
  type Style,
} from '../../terminal/terminal.ts';
import { formatJson, requireNew, writeOutput } from '../../terminal/write-files.ts';
import {
  type CheckChange,
  type CheckReport,
  createConfig,
  type Difference,
  type EarlierCheck,
  listChanges,
  readEarlierCheck,
  VERDICT_TONES,
  type VerdictName,
  verdictText,
} from './check/check-report.ts';
import { type PlannedRequest, planCheck } from './check/probes.ts';
import { createCheckReport, findShortfall, reportsViolation } from './check/report.ts';
import { runCheck } from './check/run.ts';
import { askConsent, openDeployment, withProgress } from './deployment-access.ts';
import type { DeploymentFlags } from './flags.ts';
import { SAFE_METHODS } from './transport.ts';

export const check: Command<DeploymentFlags> = async ({
  positionals: [url = ''],
  terminal,
  flags,
}) => {
  const { style } = terminal;
  const client = await openDeployment(url, flags, terminal);
  const plan = planCheck(flags);
  if (flags.dryRun) return { text: renderPlan(plan, style), json: plan, exitCode: 0 };
  const earlier = flags.against === undefined ? undefined : await readEarlier(flags.against);
  if (flags.save !== undefined && !flags.force) requireNew(flags.save, '--save');
  const requests = plan.reduce((sum, { times }) => sum + times, 0);
  const writing = plan.reduce(
    (sum, { method, times }) => sum + (SAFE_METHODS.test(method) ? 0 : times),
    0,
  );
  const changing = writing === 0 ? 'none of which write' : `${writing} of which write`;
  const planned = `up to ${countText(requests, 'request')}, ${changing}, and repeats of those that fail`;
  await askConsent(client.url, planned, flags.yes, terminal);
  const run = await withProgress(client, 'check', terminal, (progress) =>
    runCheck(client, flags, (text, share) => progress(`${Math.floor(share * 100)}% ${text}`)),
  );
  const report = createCheckReport(run);
  const changes = earlier && listChanges(earlier, report, flags.allowUnsettled ?? false);
  const { href } = client.url;
  if (flags.json)
    for (const change of changes ?? []) terminal.notices.write(formatNotice(formatChange(change)));
  const wanted = flags.allowUnsettled ? undefined : findShortfall(report);
  if (wanted !== undefined) {
    const why = `fewer than ${wanted} assumptions are settled, too few to tell deployments apart`;
    terminal.notices.write(formatNotice(`${why}; --allow-unsettled passes and saves them`));
  } else if (flags.save !== undefined) {
    await writeOutput(flags.save, formatJson(createConfig(report, run, href)));
  }
  const isChanged = changes?.some(({ fails }) => fails) === true;
  const failed = reportsViolation(report) || isChanged || wanted !== undefined;
  const exitCode = failed ? EXIT_GATE_FAILED : 0;
  return { text: renderCheck(report, changes, run.notes, style), json: report, exitCode };
};

async function readEarlier(file: string): Promise<EarlierCheck> {
  const text = await readTextFile(file, '--against', 'a JSON file');
  const parsed = readJson(`--against: ${file}`, text);
  if (!parsed.ok) throw new UsageError(parsed.problems.map(formatProblem).join('\n'));
  const earlier = readEarlierCheck(parsed.value);
  if (earlier !== undefined) return earlier;
  throw refusal('--against', `a file from check --save or --json at ${file}`, 'other JSON');
}

function renderCheck(
  report: CheckReport,
  changes: readonly CheckChange[] | undefined,
  notes: readonly string[],
  style: Style,
): string {
  const { assumptions, replies } = report;
  const topics = [...new Set(assumptions.map(({ id }) => assumptionTopic(id)))];
  const tables = [
    ...topics.map((topic) => {
      const ofTopic = assumptions.filter(({ id }) => assumptionTopic(id) === topic);
      const rows = ofTopic.map(({ id, verdict, option = verdictText(verdict), why }) => {
        return createRow(id, verdict, option, why, style);
      });
      return renderSection(topic, rows, style);
    }),
    renderSection(
      'Documented replies',
      replies.map(({ operation, status, verdict, differences = [], why }) => {
        const reasons = [...differences.map(formatDifference), ...(why === undefined ? [] : [why])];
        const name = `${operation} ${status}`;
        return createRow(name, verdict, verdictText(verdict), reasons.join('; '), style);
      }),
      style,
    ),
  ];
  if (changes !== undefined) {
    const lines = changes.map((change) => escapeControls(formatChange(change)));
    const rows = (lines.length > 0 ? lines : ['none']).map((line) => [line]);
    tables.push(renderSection('Changes', rows, style));
  }
  return [
    ...tables,
    [...notes.map(escapeControls), ...summarize(report)].map((line) => `${line}\n`).join(''),
  ].join('\n');
}

function createRow(name: string, verdict: VerdictName, text: string, why = '', style: Style) {
  return [name, paint(text, VERDICT_TONES[verdict], style), escapeControls(why)];
}

function summarize(report: CheckReport): string[] {
  const { assumptions, replies, holdsForLag } = report;
  const ofAssumptions = [
    `${count(assumptions, 'settled')} settled`,
    `${count(assumptions, 'none-of-the-options')} none of the options`,
    `${count(assumptions, 'open')} open`,
  ];
  const ofReplies = [
    `${count(replies, 'as-documented')} as documented`,
    `${count(replies, 'different')} different`,
    `${count(replies, 'not-tried')} not tried`,
  ];
  return [
    `${countText(assumptions.length, 'assumption')}: ${ofAssumptions.join(', ')}`,
    `${countText(replies.length, 'reply', 'replies')}: ${ofReplies.join(', ')}`,
    ...(holdsForLag === undefined
      ? []
      : [`Verdicts of no effect hold for a lag of up to ${holdsForLag} s`]),
  ];
}

function count<V extends VerdictName>(list: readonly { verdict: V }[], wanted: V): number {
  return list.filter(({ verdict }) => verdict === wanted).length;
}

function formatChange({ subject, before, after, why }: CheckChange): string {
  const reason = why === undefined ? '' : `: ${why}`;
  return `${subject}: ${before} before, ${after} now${reason}`;
}

function formatDifference({ where, at, expected, found, exchange }: Difference): string {
  const place = at === undefined ? where : `${where} ${at}`;
  return `${exchange}: ${place}: expected ${expected}, found ${found}`;
}

function renderPlan(plan: readonly PlannedRequest[], { width }: Style): string {
  const left = String(plan.length).length;
  const rows = plan.map(({ method, path, body, words, times, why }, at) => {
    const request = [
      `${method} ${path}`,
      ...(body === undefined ? [] : [body.slice(0, width)]),
      words,
    ];
    return [
      String(at + 1),
      request.join(' ').trim(),
      `${why}${times > 1 ? `, ${times} times` : ''}`,
    ];
  });
  return renderTable(rows, { width, columns: [left, 46] });
}
