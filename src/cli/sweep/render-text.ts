import { tellEnding } from '../child/ending.ts';
import { renderTable, wrap } from '../output/table.ts';
import { bold, paint, type Style } from '../output/terminal.ts';
import {
  nameOf,
  notesOf,
  notRunIn,
  type SweepReport,
  summaryOf,
  type VariantRun,
} from './report.ts';

const COLOURS = { passed: 'green', failed: 'red', allowed: 'yellow' } as const;

/** The result of a sweep for a person. Failures come last, with their last lines of output. */
export function renderSweep(report: SweepReport, style: Style): string {
  const { runs } = report;
  const columns = (['assumption', 'option'] as const).map((name) =>
    Math.max(...runs.map((run) => run[name].length), 1),
  );
  const rows = runs.map((run) =>
    renderTable([[run.assumption, run.option, resultOf(run)]], {
      width: style.width,
      columns,
    }).replace(run.verdict, paint(run.verdict, COLOURS[run.verdict], style)),
  );
  const failures = runs.filter(({ verdict }) => verdict !== 'passed');
  const notRun = notRunIn(report).map(({ why, variants }) => {
    const names = wrap(variants.map(nameOf).join(', '), style.width - 2);
    return `Not run because ${why}:\n${indented(names)}`;
  });
  return [
    ...(rows.length > 0 ? [rows.join('')] : []),
    ...failures.map((run) => renderFailure(run, style)),
    ...notRun,
    `${summaryOf(report)}\n`,
  ].join('\n');
}

function resultOf(run: VariantRun): string {
  if (run.verdict === 'passed') return ['passed', ...notesOf(run)].join('; ');
  return `${run.verdict}: the command ${tellEnding(run.ending)}`;
}

function renderFailure(run: VariantRun, style: Style): string {
  const printed = run.lastLines.length > 0 ? run.lastLines : ['(no output)'];
  return `${bold(nameOf(run), style)}\n${indented([...notesOf(run), ...printed])}`;
}

export function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join('');
}
