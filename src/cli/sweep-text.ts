import { rowNames } from '../core/tables.ts';
import { countText } from '../core/words.ts';
import type { SweepReport } from '../terminal/command.ts';
import { renderSection, wrap } from '../terminal/table.ts';
import { bold, escapeControls, indent, paint, type Style } from '../terminal/terminal.ts';
import { describeEnding } from './child.ts';
import { formatVariant, type VariantRun, type Verdict } from './sweep-runs.ts';

/** How the summary counts a verdict, whether it fails the sweep, and what to say of a run that has it. */
const VERDICTS: Readonly<
  Record<Verdict, { readonly counted: string; readonly isBad?: true; readonly why?: string }>
> = {
  passed: { counted: 'passed' },
  failed: { counted: 'failed', isBad: true },
  allowed: { counted: 'failed as allowed' },
  flaky: { counted: 'flaky' },
  unnoticed: {
    counted: 'unnoticed',
    isBad: true,
    why: 'the command passed, and called nothing again',
  },
  'not-injected': {
    counted: 'not injected',
    isBad: true,
    why: 'the call that was to fail did not come',
  },
};

export function describeSweep(runs: readonly VariantRun[], isOfFaults: boolean): SweepReport {
  const rows = runs.map((run) => {
    const [what = '', change = ''] = Object.values(run.named);
    const { verdict } = run;
    const isBad = VERDICTS[verdict].isBad === true;
    return { what, change, verdict, isBad, detail: explainVerdict(run) };
  });
  return { title: isOfFaults ? 'Faults' : 'Other options', rows };
}

/** @param left what was not run, by the reason */
export function renderSweep(
  { title, rows }: SweepReport,
  runs: readonly VariantRun[],
  left: Readonly<Record<string, readonly string[]>>,
  notRun: number,
  style: Style,
): string {
  const cells = rows.map(({ what, change, verdict, isBad, detail }) => {
    const tone = isBad ? 'red' : verdict === 'passed' ? 'green' : 'yellow';
    return [what, change, paint(verdict, tone, style) + (detail && `: ${detail}`)];
  });
  const different = new Set(rows.map(({ what }) => what)).size;
  const tried =
    title === 'Faults'
      ? `${countText(runs.length, 'fault')} in ${countText(different, 'operation')}`
      : `${countText(runs.length, 'alternative')} to ${countText(different, 'assumption')}`;
  const reasons = Object.entries(left).filter(([, names]) => names.length > 0);
  return [
    ...(runs.length > 0 ? [renderSection(title, cells, style)] : []),
    ...runs.filter(({ ending }) => ending.exitCode !== 0).map((run) => renderOutput(run, style)),
    ...reasons.map(([why, names]) => {
      return `Not run because ${why}:\n${indent(wrap(names.join(', '), style.width - 2))}`;
    }),
    `tried ${tried}: ${countVerdicts(runs, notRun)}\n`,
  ].join('\n');
}

function countVerdicts(runs: readonly VariantRun[], notRun: number): string {
  const count = (verdict: Verdict) => runs.filter((run) => run.verdict === verdict).length;
  const isShown = (verdict: Verdict) =>
    count(verdict) > 0 || verdict === 'passed' || (verdict === 'failed' && count('allowed') === 0);
  return [
    ...rowNames(VERDICTS)
      .filter(isShown)
      .map((verdict) => `${count(verdict)} ${VERDICTS[verdict].counted}`),
    ...(notRun > 0 ? [`${notRun} not run`] : []),
  ].join(', ');
}

function explainVerdict({ verdict, ending, findings }: VariantRun): string {
  const found = findings.map(formatFinding).join('; ');
  const why = ending.exitCode === 0 ? found : `the command ${describeEnding(ending).text}`;
  return (
    VERDICTS[verdict].why ?? (verdict === 'flaky' ? `${why}, and passed when it ran again` : why)
  );
}

function renderOutput(run: VariantRun, style: Style): string {
  const printed = run.lastLines.length > 0 ? run.lastLines : ['(no output)'];
  const lines = [...run.findings.map(formatFinding), ...printed.map(escapeControls)];
  return `${bold(formatVariant(run), style)}\n${indent(lines)}`;
}

function formatFinding({ code, example }: VariantRun['findings'][number]): string {
  return `found ${code}: ${example}`;
}
