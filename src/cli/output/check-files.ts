import { assumptionShape } from '../../contract/assumption-table.ts';
import type { AssumptionVerdict } from '../../deployment/assumption-verdicts.ts';
import type { CheckReport } from '../../deployment/check-report.ts';
import type { ReplyVerdict } from '../../deployment/reply-verdicts.ts';
import type { CheckChange } from '../../deployment/saved-check.ts';
import { renderJunit, type TestCase } from '../../report/junit.ts';
import { markup } from '../../report/markup.ts';
import { code, prose, renderPage, section, table } from '../../report/page.ts';
import {
  changeText,
  differenceText,
  REPLY_VERDICTS,
  summaryOf,
  verdictText,
} from './render-check.ts';

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
    return { group: 'changes', name: it.subject, verdict: 'failure', message: changeText(it) };
  });
  return renderJunit([
    { name: 'documented replies', cases: replies.map(replyCase) },
    { name: 'assumptions', cases: assumptions.map(assumptionCase) },
    ...(changes === undefined ? [] : [{ name: 'changes', cases: changed }]),
  ]);
}

function replyCase({ operation, status, verdict, differences = [] }: ReplyVerdict): TestCase {
  const output = differences.map(differenceText).join('\n');
  const test = { group: operation, name: `${status}`, ...(output !== '' && { output }) };
  switch (verdict) {
    case 'as-documented':
      return test;
    case 'different':
      return { ...test, verdict: 'failure', message: 'different from the document' };
    case 'not-tried':
      return { ...test, verdict: 'skipped', message: 'not tried' };
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
  const count = (list: readonly { verdict: string }[], wanted: string) =>
    list.filter(({ verdict }) => verdict === wanted).length;
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

function replyCells({ operation, status, verdict, differences = [] }: ReplyVerdict) {
  const told = differences.map((it) => markup`<p>${differenceText(it)}</p>`);
  const word = markup`<span class="${verdict === 'different' ? 'no' : ''}">${REPLY_VERDICTS[verdict]}</span>`;
  return [code(`${operation} ${status}`), word, told];
}

function assumptionCells(verdict: AssumptionVerdict) {
  const { id, option, why = '' } = verdict;
  const { question, options } = assumptionShape(id);
  const meaning = options.find(({ name }) => name === option)?.meaning ?? '';
  const asked = [code(id), markup`<p>${prose(question)}</p>`];
  return [asked, [verdictText(verdict), markup`<p>${prose(meaning)}</p>`], why];
}
