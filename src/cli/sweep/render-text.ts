import { counted } from '../../words.ts';
import { tellEnding } from '../child/ending.ts';
import { renderTable, wrap } from '../output/table.ts';
import { bold, paint, type Style } from '../output/terminal.ts';
import {
  NOT_RUN,
  nameOf,
  notesOf,
  type SweepReport,
  type VariantRun,
  withVerdict,
} from './report.ts';

const COLOURS = { passed: 'green', failed: 'red', allowed: 'yellow' } as const;

/** The result of a sweep for a person, failures with their last lines at the end. */
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
  return [
    rows.join(''),
    ...runs.filter(({ verdict }) => verdict !== 'passed').map((run) => renderFailure(run, style)),
    ...NOT_RUN.map(({ why, of }) => list(`Not run, since ${why}`, of(report), style)),
    `${summaryOf(report)}\n`,
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function resultOf(run: VariantRun): string {
  if (run.verdict === 'passed') return ['passed', ...notesOf(run)].join('; ');
  return `${run.verdict}: the command ${tellEnding(run.ending)}`;
}

function renderFailure(run: VariantRun, style: Style): string {
  const printed = run.lastLines.length > 0 ? run.lastLines : ['(it printed nothing)'];
  const lines = [...notesOf(run), ...printed].map((line) => `  ${line}\n`);
  return `${bold(nameOf(run), style)}\n${lines.join('')}`;
}

function list(title: string, names: readonly string[], style: Style): string {
  if (names.length === 0) return '';
  return `${title}:\n${wrap(names.join(', '), style.width - 2)
    .map((line) => `  ${line}\n`)
    .join('')}`;
}

/** The result in one sentence. */
export function summaryOf(report: SweepReport): string {
  const { runs, notRun } = report;
  const failed = withVerdict('failed', report).length;
  const allowed = withVerdict('allowed', report).length;
  const passed = runs.length - failed - allowed;
  const assumptions = new Set(runs.map(({ assumption }) => assumption)).size;
  return [
    `${counted(runs.length, 'other option')} of ${counted(assumptions, 'assumption')}: ${passed} passed`,
    ...(failed > 0 || allowed === 0 ? [`${failed} failed`] : []),
    ...(allowed > 0 ? [`${allowed} failed as allowed`] : []),
    ...(notRun.length > 0 ? [`${notRun.length} not run`] : []),
  ].join(', ');
}
