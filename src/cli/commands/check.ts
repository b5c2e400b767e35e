import { assumptionShape, assumptionTopic } from '../../contract/assumption-table.ts';
import { type PlannedRequest, planCheck } from '../../deployment/check/check-plan.ts';
import { runCheck } from '../../deployment/check/run-check.ts';
import {
  type CheckChange,
  createConfig,
  type EarlierCheck,
  listChanges,
  readEarlierCheck,
} from '../../deployment/check/saved-check.ts';
import {
  VERDICT_TONES,
  type VerdictName,
  verdictText,
} from '../../deployment/check/verdict-shapes.ts';
import {
  type AssumptionVerdict,
  type CheckReport,
  checkReport,
  type Difference,
  findShortfall,
  isBroken,
  type ReplyVerdict,
} from '../../deployment/check/verdicts.ts';
import { SAFE } from '../../deployment/transport.ts';
import type { Report, ReportRow, Section } from '../../report/report.ts';
import { readJson } from '../../shape/source-text.ts';
import { countText, cut, formatProblem } from '../../words.ts';
import { type Command, EXIT_GATE_FAILED, readTextFile, refusal, UsageError } from '../command.ts';
import { askConsent, connect, workWith } from '../connection.ts';
import { formatNotice, renderReport, renderTable, type Style } from '../terminal.ts';
import { formatJson, requireNew, writeReports, writeText } from '../write-files.ts';

export const check: Command = async ({ positionals: [url = ''], terminal, flags }) => {
  const { style } = terminal;
  const client = await connect(url, flags);
  const plan = planCheck(flags);
  if (flags.dryRun) return { text: renderPlan(plan, style), json: plan, exitCode: 0 };
  const earlier = flags.against === undefined ? undefined : await readEarlier(flags.against);
  if (flags.save !== undefined && !flags.force) requireNew(flags.save, '--save');
  const requests = plan.reduce((sum, { most }) => sum + most, 0);
  const writing = plan.reduce((sum, { method, most }) => sum + (SAFE.test(method) ? 0 : most), 0);
  const changing = writing === 0 ? 'none of which write' : `${writing} of which write`;
  const planned = `up to ${countText(requests, 'request')}, ${changing}, and repeats of reads that fail, disagree or show no effect`;
  await askConsent(client.url, planned, flags.yes, terminal);
  const transcript = await workWith(client, 'check', terminal, (progress) =>
    runCheck(client, flags, (text, share) => progress(`${Math.floor(share * 100)}% ${text}`)),
  );
  const report = checkReport(transcript);
  const changes = earlier && listChanges(earlier, report, flags.allowUnsettled ?? false);
  const { href } = client.url;
  const result = createReport(href, report, changes);
  writeReports(result, flags);
  if (flags.json)
    for (const change of changes ?? []) terminal.notices.write(formatNotice(formatChange(change)));
  const wanted = flags.allowUnsettled ? undefined : findShortfall(report);
  if (wanted !== undefined) {
    const why = `fewer than ${wanted} assumptions are settled, too few to tell deployments apart`;
    terminal.notices.write(formatNotice(`${why}; --allow-unsettled passes and saves them`));
  } else if (flags.save !== undefined) {
    writeText(flags.save, formatJson(createConfig(report, transcript, href)));
  }
  const isChanged = changes?.some(({ fails }) => fails) === true;
  const failed = isBroken(report) || isChanged || wanted !== undefined;
  const exitCode = failed ? EXIT_GATE_FAILED : 0;
  return { text: renderReport(result, style), json: result.document, exitCode };
};

async function readEarlier(file: string): Promise<EarlierCheck> {
  const text = await readTextFile(file, '--against', 'a JSON file');
  const parsed = readJson(`--against: ${file}`, text);
  if (!parsed.ok) throw new UsageError(parsed.problems.map(formatProblem).join('\n'));
  const earlier = readEarlierCheck(parsed.value);
  if (earlier !== undefined) return earlier;
  throw refusal('--against', `a file from check --save or --json at ${file}`, 'other JSON');
}

/**
 * A check as a report. What is open or was not tried is skipped; what is broken or changed fails.
 *
 * @param changes undefined without `--against`
 */
function createReport(
  url: string,
  document: CheckReport,
  changes: readonly CheckChange[] | undefined,
): Report {
  const { assumptions, replies } = document;
  const topics = [...new Set(assumptions.map(({ id }) => assumptionTopic(id)))];
  const settled = count(assumptions, 'settled');
  const asDocumented = count(replies, 'as-documented');
  const notTried = count(replies, 'not-tried');
  const summary = [
    `${countText(assumptions.length, 'assumption')}: ${settled} settled, ${count(assumptions, 'none-of-the-options')} none of the options, ${count(assumptions, 'open')} open`,
    `${countText(replies.length, 'reply', 'replies')}: ${asDocumented} as documented, ${count(replies, 'different')} different, ${notTried} not tried`,
    ...describeDoubts(document),
  ];
  const sections: Section[] = topics.map((topic) => ({
    title: topic,
    layout: 'table',
    columns: ['Assumption', 'Verdict', 'Why'],
    rows: assumptions.filter(({ id }) => assumptionTopic(id) === topic).map(assumptionRow),
    suite: 'assumptions',
  }));
  sections.push({
    title: 'Documented replies',
    layout: 'table',
    columns: ['Reply', 'Verdict', 'Differences'],
    rows: replies.map(replyRow),
    suite: 'documented replies',
  });
  if (changes !== undefined) {
    const [title, columns, rows] = ['Changes', ['Change'], changes.map(changeRow)];
    sections.push({ title, layout: 'table', columns, rows, none: 'none', suite: 'changes' });
  }
  return {
    title: 'What a deployment answers',
    document,
    intro: [`\`${url}\``, ...summary.map((line) => `${line}.`)],
    tiles: [
      { name: 'assumptions settled', shown: settled, total: assumptions.length },
      { name: 'replies as documented', shown: asDocumented, total: replies.length - notTried },
    ],
    sections,
    summary,
  };
}

/** What else a reader of the verdicts has to know of the deployment. */
function describeDoubts({ lag, holdsForLag, unlike }: CheckReport): string[] {
  const lines: string[] = [];
  if (lag !== undefined) lines.push(`Reads lagged writes by up to ${lag} s`);
  if (holdsForLag !== undefined) {
    lines.push(`Verdicts of no effect hold for a lag of up to ${holdsForLag} s`);
  }
  if (unlike !== undefined) lines.push(`Two servers seem to answer: ${unlike}`);
  return lines;
}

function count<V extends VerdictName>(list: readonly { verdict: V }[], wanted: V): number {
  return list.filter(({ verdict }) => verdict === wanted).length;
}

function assumptionRow({ id, verdict, option, why = '' }: AssumptionVerdict): ReportRow {
  const { question, options } = assumptionShape(id);
  const meaning = options.find(({ name }) => name === option)?.meaning;
  const name = option ?? verdictText(verdict);
  const outcome = verdict === 'open' ? 'skipped' : 'passed';
  return {
    title: id,
    cells: [id, name, why],
    tonedCell: 1,
    tone: VERDICT_TONES[verdict],
    about: [question, ...(meaning === undefined ? [] : [meaning])],
    test: { group: id, name, output: [why], verdict: outcome, message: why },
  };
}

function replyRow({ operation, status, verdict, differences = [], why }: ReplyVerdict): ReportRow {
  const output = differences.map(formatDifference);
  const reasons = [...output, ...(why === undefined ? [] : [why])];
  const title = `${operation} ${status}`;
  const outcome = {
    'as-documented': { verdict: 'passed' },
    different: { verdict: 'failure', message: 'different from the document' },
    'not-tried': { verdict: 'skipped', message: why ?? 'not tried' },
  } as const;
  return {
    title,
    cells: [title, verdictText(verdict), reasons.join('; ')],
    tonedCell: 1,
    tone: VERDICT_TONES[verdict],
    test: { group: operation, name: `${status}`, output, ...outcome[verdict] },
  };
}

function changeRow(change: CheckChange): ReportRow {
  const { subject: title, fails } = change;
  const message = formatChange(change);
  const verdict = fails ? 'failure' : 'skipped';
  return { title, cells: [message], test: { group: 'changes', name: title, verdict, message } };
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
  const rows = plan.map(({ method, path, body, key, times, why, purposes }, at) => {
    const request = [
      `${method} ${path}`,
      ...(body === undefined ? [] : [cut(body, width)]),
      ...(key === undefined ? [] : [key === 'none' ? 'without a key' : `with the ${key} key`]),
      ...(times > 1 ? [`${times} times at once`] : []),
    ];
    return [String(at + 1), request.join(' '), `${why}: ${purposes.join(', ')}`];
  });
  return renderTable(rows, { width, columns: [left, 46] });
}
