import { assumptionShape } from '../../contract/assumption-table.ts';
import { renderJunit, type TestCase } from '../../report/junit.ts';
import { type Markup, markup, type Part } from '../../report/markup.ts';
import { code, prose, renderPage, section, table } from '../../report/page.ts';
import { exitCodeOf, tellEnding } from '../child/ending.ts';
import { rounded } from '../output/log.ts';
import {
  nameOf,
  notesOf,
  notRunIn,
  type SweepReport,
  summaryOf,
  type VariantRun,
  withVerdict,
} from './report.ts';

/** The result of a sweep as `--json` prints it. */
export function sweepDocument(report: SweepReport): object {
  const { command, baselineSeconds, runs, untouched, decided, notRun } = report;
  return {
    command,
    passed: withVerdict('failed', report).length === 0 && notRun.length === 0,
    baselineSeconds: rounded(baselineSeconds),
    runs: runs.map((run) => ({
      ...run,
      ending: { ...run.ending, exitCode: exitCodeOf(run.ending) },
      seconds: rounded(run.seconds),
    })),
    untouched,
    decidedByScenario: decided,
    notRun,
  };
}

/** The result of a sweep as JUnit XML, with a case for each option. */
export function sweepJunit(report: SweepReport): string {
  const skipped = notRunIn(report).flatMap(({ why, variants }) =>
    variants.map(({ assumption, option = 'every other option' }): TestCase => {
      return { group: assumption, name: option, verdict: 'skipped', message: why };
    }),
  );
  const cases = [...report.runs.map(testCaseOf), ...skipped];
  return renderJunit([{ name: 'petstore-mock sweep', cases }]);
}

function testCaseOf(run: VariantRun): TestCase {
  const { assumption: group, option: name, verdict, seconds, ending, lastLines } = run;
  const printed = [...notesOf(run), ...lastLines];
  const output = printed.length > 0 ? { output: printed.join('\n') } : {};
  const test = { group, name, seconds, ...output };
  const message = `the command ${tellEnding(ending)}`;
  switch (verdict) {
    case 'passed':
      return test;
    case 'failed':
      return { ...test, verdict: 'failure', message };
    case 'allowed':
      return { ...test, verdict: 'skipped', message: `${message}, as allowed` };
  }
}

/** The result of a sweep as a page, failures first. */
export function sweepPage(report: SweepReport): string {
  const passed = withVerdict('passed', report);
  const allowed = withVerdict('allowed', report);
  return renderPage({
    title: 'What the command depends on',
    intro: markup`<p>${code(report.command.join(' '))}</p>
<p>Each run changed the answer to one open question of the document. A failed run means that the command breaks if the real service behaves that way.</p>
<p>${summaryOf(report)}.</p>`,
    tiles: [{ name: 'options passed', shown: passed.length, total: report.runs.length }],
    content: [
      section('Failed', withVerdict('failed', report).map(failureCard), 'No option failed.'),
      ...(allowed.length > 0 ? [section('Failed as allowed', allowed.map(failureCard))] : []),
      ...(passed.length > 0 ? [section('Passed', [passedTable(passed)])] : []),
      ...notRunIn(report).map(({ why, variants }) => {
        const names = variants.map((it) => markup`<li>${code(nameOf(it))}</li>`);
        return section(`Not run: ${why}`, [markup`<ul>${names}</ul>`]);
      }),
    ],
    footer: '',
  });
}

function failureCard(run: VariantRun): Markup {
  const { ending, lastLines } = run;
  return markup`<article class="finding"><h3>${code(nameOf(run))}</h3>
<p>${inWords(run)}</p>
<p>The command ${tellEnding(ending)}.</p>
${notesOf(run).map((note) => markup`<p>${note}</p>`)}
<pre>${code(lastLines.join('\n'))}</pre></article>`;
}

function passedTable(runs: readonly VariantRun[]): Markup {
  const rows = runs.map((run) => [
    code(nameOf(run)),
    inWords(run),
    notesOf(run).map((note) => markup`<p>${note}</p>`),
  ]);
  return table(
    'list',
    'Options under which the command passed',
    ['Option', 'Meaning', 'Notes'],
    rows,
  );
}

function inWords({ assumption, option }: VariantRun): Part {
  const { question, options } = assumptionShape(assumption);
  const meaning = options.find(({ name }) => name === option)?.meaning ?? '';
  return [prose(question), markup`<br>`, prose(meaning)];
}
