import { countText, rowNames } from '../core/words.ts';
import type { SweepReport } from '../server/feature.ts';
import {
  bold,
  escapeControls,
  indent,
  paint,
  renderSection,
  type Style,
  wrap,
} from '../terminal/terminal.ts';
import { describeEnding } from './child.ts';
import type { Variant } from './sweep-plan.ts';
import { formatVariant, type VariantRun, type Verdict } from './sweep-runs.ts';

const BAD: ReadonlySet<Verdict> = new Set(['failed', 'unnoticed', 'not-injected']);

const COUNTED: Readonly<Record<Verdict, string>> = {
  passed: 'passed',
  failed: 'failed',
  allowed: 'failed as allowed',
  flaky: 'flaky',
  unnoticed: 'unnoticed',
  'not-injected': 'not injected',
};

export function describeSweep(runs: readonly VariantRun[], isOfFaults: boolean): SweepReport {
  const rows = runs.map((run) => {
    const [what = '', change = ''] = Object.values(run.named);
    const { verdict } = run;
    return { what, change, verdict, isBad: BAD.has(verdict), detail: explainVerdict(run) };
  });
  return { title: isOfFaults ? 'Faults' : 'Other options', rows };
}

interface NotRun {
  readonly untouched?: readonly string[];
  readonly decidedByScenario?: readonly string[];
  /** The interrupted ones first. */
  readonly notRun: readonly Variant[];
  readonly interrupted: number;
}

export function renderSweep(
  { title, rows }: SweepReport,
  runs: readonly VariantRun[],
  { untouched = [], decidedByScenario = [], notRun, interrupted }: NotRun,
  style: Style,
): string {
  const cells = rows.map(({ what, change, verdict, isBad, detail }) => {
    const tone = isBad ? 'red' : verdict === 'passed' ? 'green' : 'yellow';
    return [what, change, paint(verdict, tone, style) + (detail && `: ${detail}`)];
  });
  const left = notRun.map(formatVariant);
  const reasons = [
    ['the command did not touch it (--all includes it)', untouched],
    ['a scenario decides it', decidedByScenario],
    ['the sweep was interrupted', left.slice(0, interrupted)],
    ['--max-runs leaves it out', left.slice(interrupted)],
  ] as const;
  const different = new Set(rows.map(({ what }) => what)).size;
  const tried =
    title === 'Faults'
      ? [countText(runs.length, 'fault'), 'in', countText(different, 'operation')]
      : [countText(runs.length, 'alternative'), 'to', countText(different, 'assumption')];
  return [
    ...(runs.length > 0 ? [renderSection(title, cells, style)] : []),
    ...runs.filter(({ ending }) => ending.exitCode !== 0).map((run) => renderOutput(run, style)),
    ...reasons
      .filter(([, names]) => names.length > 0)
      .map(([why, names]) => {
        return `Not run because ${why}:\n${indent(wrap(names.join(', '), style.width - 2))}`;
      }),
    `tried ${tried.join(' ')}: ${countVerdicts(runs, notRun.length)}\n`,
  ].join('\n');
}

function countVerdicts(runs: readonly VariantRun[], notRun: number): string {
  const count = (verdict: Verdict) => runs.filter((run) => run.verdict === verdict).length;
  const isShown = (verdict: Verdict) =>
    count(verdict) > 0 || verdict === 'passed' || (verdict === 'failed' && count('allowed') === 0);
  return [
    ...rowNames(COUNTED)
      .filter(isShown)
      .map((verdict) => `${count(verdict)} ${COUNTED[verdict]}`),
    ...(notRun > 0 ? [`${notRun} not run`] : []),
  ].join(', ');
}

const EXPLAINED: Partial<Record<Verdict, string>> = {
  'not-injected': 'the call that was to fail did not come',
  unnoticed: 'the command passed, and called nothing again',
};

function explainVerdict({ verdict, ending, findings }: VariantRun): string {
  const found = findings.map(describeFinding).join('; ');
  const why = ending.exitCode === 0 ? found : `the command ${describeEnding(ending).text}`;
  return EXPLAINED[verdict] ?? (verdict === 'flaky' ? `${why}, and passed when it ran again` : why);
}

function renderOutput(run: VariantRun, style: Style): string {
  const printed = run.lastLines.length > 0 ? run.lastLines : ['(no output)'];
  const lines = [...run.findings.map(describeFinding), ...printed.map(escapeControls)];
  return `${bold(formatVariant(run), style)}\n${indent(lines)}`;
}

function describeFinding({ code, example }: VariantRun['findings'][number]): string {
  return `found ${code}: ${example}`;
}
