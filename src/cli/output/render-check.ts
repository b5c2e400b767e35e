import { ASSUMPTION_IDS, assumptionShape, topicOf } from '../../contract/assumption-table.ts';
import { OPERATION_IDS } from '../../contract/operations.ts';
import type { AssumptionVerdict } from '../../deployment/assumption-verdicts.ts';
import type { PlannedRequest } from '../../deployment/check-plan.ts';
import type { CheckReport } from '../../deployment/check-report.ts';
import type { Difference } from '../../deployment/reply-differences.ts';
import type { ReplyVerdict } from '../../deployment/reply-verdicts.ts';
import type { CheckChange } from '../../deployment/saved-check.ts';
import { renderJunit, type TestCase } from '../../report/junit.ts';
import { markup } from '../../report/markup.ts';
import { code, prose, renderPage, section, table } from '../../report/page.ts';
import { counted, cut } from '../../words.ts';
import { escaped } from './escaped.ts';
import { renderTable } from './table.ts';
import { bold, type Colour, paint, type Style } from './terminal.ts';

const ID_COLUMN = Math.max(...ASSUMPTION_IDS.map((id) => id.length));
const VERDICT_COLUMN = 19;
const REPLY_COLUMN = Math.max(...OPERATION_IDS.map((id) => id.length)) + ' 200'.length;

/** Characters of a reason in a table. */
const LONGEST_REASON = 240;

/** The report of a check for a person. */
export function renderCheck(
  report: CheckReport,
  changes: readonly CheckChange[] | undefined,
  style: Style,
): string {
  const { assumptions, replies } = report;
  const topics = [...new Set(assumptions.map(({ id }) => topicOf(id)))];
  const parts = topics.map((topic) => {
    const rows = assumptions.filter(({ id }) => topicOf(id) === topic).map(assumptionRow);
    return `${bold(topic, style)}\n${tableOf(rows, ID_COLUMN, style)}`;
  });
  parts.push(
    `${bold('Documented replies', style)}\n${tableOf(replies.map(replyRow), REPLY_COLUMN, style)}`,
  );
  if (changes !== undefined) {
    const lines = changes.map((it) => `  ${escaped(changeText(it))}\n`);
    parts.push(`${bold('Changes', style)}\n${lines.join('') || '  none\n'}`);
  }
  return `${parts.join('\n')}\n${summaryOf(report)}\n`;
}

/** A change in words. */
export function changeText({ subject, before, after, why }: CheckChange): string {
  const reason = why === undefined ? '' : `: ${cut(why, LONGEST_REASON)}`;
  return `${subject}: ${before} before, ${after} now${reason}`;
}

/** A verdict in words, or the option that it settled. */
function verdictText({
  verdict,
  option,
}: {
  verdict: string;
  option?: string | undefined;
}): string {
  return option ?? verdict.replaceAll('-', ' ');
}

const COLOURS: Readonly<Record<string, Colour>> = {
  open: 'grey',
  'not tried': 'grey',
  'none of the options': 'yellow',
  different: 'red',
};

function assumptionRow(verdict: AssumptionVerdict): string[] {
  return [verdict.id, verdictText(verdict), cut(verdict.why ?? '', LONGEST_REASON)];
}

function replyRow({ operation, status, verdict, differences = [], why }: ReplyVerdict): string[] {
  const told = differences.map((it) => cut(differenceText(it), LONGEST_REASON));
  const reasons = why === undefined ? told : [...told, cut(why, LONGEST_REASON)];
  return [`${operation} ${status}`, verdictText({ verdict }), reasons.join('; ')];
}

/** A difference in words. */
function differenceText({ where, at, expected, found, exchange }: Difference): string {
  const place = at === undefined ? where : `${where} ${at}`;
  return `${exchange}: ${place}: expected ${expected}, found ${found}`;
}

function tableOf(rows: readonly (readonly string[])[], first: number, style: Style): string {
  const painted = rows.map(([name = '', verdict = '', why = '']) => {
    const colour = COLOURS[verdict];
    return [name, colour === undefined ? verdict : paint(verdict, colour, style), escaped(why)];
  });
  return renderTable(painted, { width: style.width, columns: [first, VERDICT_COLUMN] });
}

function count(list: readonly { verdict: string }[], wanted: string): number {
  return list.filter(({ verdict }) => verdict === wanted).length;
}

/** The report in two lines. */
function summaryOf({ assumptions, replies }: CheckReport): string {
  return [
    `${counted(assumptions.length, 'assumption')}: ${count(assumptions, 'settled')} settled, ${count(assumptions, 'none-of-the-options')} none of the options, ${count(assumptions, 'open')} open`,
    `${counted(replies.length, 'reply', 'replies')}: ${count(replies, 'as-documented')} as documented, ${count(replies, 'different')} different, ${count(replies, 'not-tried')} not tried`,
  ].join('\n');
}

/** Characters of a body in a plan. */
const LONGEST_BODY = 80;

/** The requests of a check, in order. */
export function renderPlan(plan: readonly PlannedRequest[], { width }: Style): string {
  const left = String(plan.length).length;
  const rows = plan.map(({ method, path, body, key, times, why, purposes }, at) => {
    const sent = [
      `${method} ${path}`,
      ...(body === undefined ? [] : [cut(body, LONGEST_BODY)]),
      ...(key === undefined ? [] : [key === 'none' ? 'without a key' : `with the ${key} key`]),
      ...(times > 1 ? [`${times} times at once`] : []),
    ];
    return [String(at + 1), sent.join(' '), `${why}: ${purposes.join(', ')}`];
  });
  return renderTable(rows, { width, columns: [left, 46] });
}

/** A check as a command prints it. */
export interface CheckOutput {
  /** The base URL of the deployment. */
  readonly url: string;
  readonly report: CheckReport;
  /** Undefined without `--against`. */
  readonly changes: readonly CheckChange[] | undefined;
}

/** A check as JUnit XML. What is open or was not tried is skipped; what is broken or changed fails. */
export function checkJunit({ report: { assumptions, replies }, changes }: CheckOutput): string {
  const changed = (changes ?? []).map((it): TestCase => {
    const verdict = it.fails ? 'failure' : 'skipped';
    return { group: 'changes', name: it.subject, verdict, message: changeText(it) };
  });
  return renderJunit([
    { name: 'documented replies', cases: replies.map(replyCase) },
    { name: 'assumptions', cases: assumptions.map(assumptionCase) },
    ...(changes === undefined ? [] : [{ name: 'changes', cases: changed }]),
  ]);
}

function replyCase(reply: ReplyVerdict): TestCase {
  const { operation, status, verdict, differences = [], why } = reply;
  const output = differences.map(differenceText).join('\n');
  const test = { group: operation, name: `${status}`, ...(output !== '' && { output }) };
  switch (verdict) {
    case 'as-documented':
      return test;
    case 'different':
      return { ...test, verdict: 'failure', message: 'different from the document' };
    case 'not-tried':
      return { ...test, verdict: 'skipped', message: why ?? 'not tried' };
  }
}

function assumptionCase(verdict: AssumptionVerdict): TestCase {
  const { id: group, why = '' } = verdict;
  const test = { group, name: verdictText(verdict), output: why };
  return verdict.verdict === 'open' ? { ...test, verdict: 'skipped', message: why } : test;
}

/** A check as a page. */
export function checkPage({ url, report, changes }: CheckOutput): string {
  const { assumptions, replies } = report;
  const tried = replies.length - count(replies, 'not-tried');
  return renderPage({
    title: 'What a deployment answers',
    intro: markup`<p>${code(url)}</p>${summaryOf(report)
      .split('\n')
      .map((line) => markup`<p>${line}.</p>`)}`,
    tiles: [
      {
        name: 'assumptions settled',
        shown: count(assumptions, 'settled'),
        total: assumptions.length,
      },
      { name: 'replies as documented', shown: count(replies, 'as-documented'), total: tried },
    ],
    content: [
      ...(changes === undefined ? [] : [changesSection(changes)]),
      section('Documented replies', [
        table('list', 'Verdicts', ['Reply', 'Verdict', 'Differences'], replies.map(replyCells)),
      ]),
      section('Assumptions', [
        table(
          'list',
          'Verdicts',
          ['Assumption', 'Verdict', 'Why'],
          assumptions.map(assumptionCells),
        ),
      ]),
    ],
    footer: '',
  });
}

function changesSection(changes: readonly CheckChange[]) {
  const cards = changes.map((it) => markup`<article class="finding">${changeText(it)}</article>`);
  return section('Changes', cards, 'Nothing has changed.');
}

function replyCells({ operation, status, verdict, differences = [], why = '' }: ReplyVerdict) {
  const told = [...differences.map(differenceText), why].map((it) => markup`<p>${it}</p>`);
  const word = markup`<span class="${verdict === 'different' ? 'no' : ''}">${verdictText({ verdict })}</span>`;
  return [code(`${operation} ${status}`), word, told];
}

function assumptionCells(verdict: AssumptionVerdict) {
  const { id, option, why = '' } = verdict;
  const { question, options } = assumptionShape(id);
  const meaning = options.find(({ name }) => name === option)?.meaning ?? '';
  const asked = [code(id), markup`<p>${prose(question)}</p>`];
  return [asked, [verdictText(verdict), markup`<p>${prose(meaning)}</p>`], why];
}
