import { assumptionShape } from '../../contract/assumption-table.ts';
import { escapeMarkup } from '../../report/data.ts';
import { exitCodeOf, tellEnding } from '../child/ending.ts';
import { rounded } from '../output/rounded.ts';
import { summaryOf } from './render-text.ts';
import { failuresOf, nameOf, notesOf, type SweepReport, type VariantRun } from './report.ts';

/** The result of a sweep as `--json` prints it. */
export function sweepDocument(report: SweepReport): object {
  const { command, baselineSeconds, runs, untouched, decided, notRun } = report;
  return {
    command,
    passed: failuresOf(report).length === 0 && notRun.length === 0,
    baselineSeconds: rounded(baselineSeconds),
    runs: runs.map(({ findings, ...run }) => ({
      ...run,
      ending: { ...run.ending, exitCode: exitCodeOf(run.ending) },
      seconds: rounded(run.seconds),
      findings: findings.map(({ kind: code, count, example }) => ({ code, count, example })),
    })),
    untouched,
    decidedByScenario: decided,
    notRun,
  };
}

/** The result of a sweep as JUnit XML, with a case for each option. */
export function renderJunit(report: SweepReport): string {
  const { runs, untouched, decided, notRun } = report;
  const skipped = [
    ...untouched.map((id) => skippedCase(id, 'every other option', 'not touched by the command')),
    ...decided.map((id) => skippedCase(id, 'every other option', 'decided by a scenario')),
    ...notRun.map((it) => skippedCase(it.assumption, it.option, 'interrupted')),
  ];
  const cases = [...runs.map(junitCase), ...skipped];
  const failures = failuresOf(report).length;
  const allowed = runs.filter(({ verdict }) => verdict === 'allowed').length;
  const counts = `tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped.length + allowed}"`;
  const seconds = rounded(runs.reduce((sum, run) => sum + run.seconds, 0));
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${counts} time="${seconds}">
  <testsuite name="petstore-mock sweep" ${counts} time="${seconds}">
${cases.join('\n')}
  </testsuite>
</testsuites>
`;
}

function junitCase(run: VariantRun): string {
  const { assumption, option, verdict, seconds, ending, lastLines } = run;
  const head = `    <testcase classname="${escapeMarkup(assumption)}" name="${escapeMarkup(option)}" time="${rounded(seconds)}"`;
  const notes = notesOf(run);
  if (verdict === 'passed' && notes.length === 0) return `${head}/>`;
  if (verdict === 'passed') {
    return `${head}><system-out>${escapeMarkup(notes.join('\n'))}</system-out></testcase>`;
  }
  const message = escapeMarkup(`the command ${tellEnding(ending)}`);
  if (verdict === 'allowed') {
    return `${head}><skipped message="${message}, as allowed"/></testcase>`;
  }
  return `${head}><failure message="${message}">${escapeMarkup([...notes, ...lastLines].join('\n'))}</failure></testcase>`;
}

function skippedCase(assumption: string, option: string, why: string): string {
  return `    <testcase classname="${escapeMarkup(assumption)}" name="${escapeMarkup(option)}"><skipped message="${why}"/></testcase>`;
}

/** The result of a sweep as a self-contained page. */
export function renderPage(report: SweepReport): string {
  const { command, runs, untouched, decided, notRun } = report;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>petstore-mock sweep: ${escapeMarkup(command.join(' '))}</title>
<style>${STYLE}</style>
<h1>What the command depends on</h1>
<p><code>${escapeMarkup(command.join(' '))}</code></p>
<p class="summary">${escapeMarkup(summaryOf(report))}.</p>
<p>Each row answers an open question of the service's document otherwise. Where the command fails,
it breaks if the real service reads the document that way.</p>
<table>
<thead><tr><th>Assumption<th>Option<th>Result</thead>
<tbody>
${runs.map(pageRow).join('\n')}
</tbody>
</table>
${pageList('Not touched by the command, and not run', untouched)}
${pageList('Decided by a scenario, and not run', decided)}
${pageList('Not run, since the sweep was interrupted', notRun.map(nameOf))}
</html>
`;
}

function pageRow(run: VariantRun): string {
  const { assumption, option, verdict, ending, lastLines } = run;
  const { question, options } = assumptionShape(assumption);
  const meaning = options.find(({ name }) => name === option)?.meaning ?? '';
  const notes = notesOf(run).map((line) => `<br>${escapeMarkup(line)}`);
  const why =
    verdict === 'passed'
      ? notes.join('')
      : `: the command ${escapeMarkup(tellEnding(ending))}${notes.join('')}<pre>${escapeMarkup(lastLines.join('\n'))}</pre>`;
  return `<tr><td><b>${escapeMarkup(assumption)}</b><br>${escapeMarkup(question)}<td><b>${escapeMarkup(option)}</b><br>${escapeMarkup(meaning)}<td><span class="${verdict}">${verdict}</span>${why}`;
}

function pageList(title: string, names: readonly string[]): string {
  if (names.length === 0) return '';
  const items = names.map((name) => `<code>${escapeMarkup(name)}</code>`).join(', ');
  return `<h2>${title}</h2>\n<p>${items}</p>`;
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .8rem .4rem 0; border-top: 1px solid #8884; }
pre { overflow-x: auto; white-space: pre-wrap; background: #8882; padding: .6rem; margin: .4rem 0; }
.summary { font-size: 1.25rem; font-weight: 600; }
.passed { color: #1a7f37; } .failed { color: #cf222e; font-weight: 700; } .allowed { color: #9a6700; }
@media (prefers-color-scheme: dark) {
  .passed { color: #3fb950; } .failed { color: #f85149; } .allowed { color: #d29922; }
}
`;
