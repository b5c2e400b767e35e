import type { AssumptionId } from '../../contract/assumption-table.ts';
import { counted } from '../../words.ts';
import { type Ending, tellEnding } from '../child/ending.ts';
import { type Found, tellFound } from '../output/evidence.ts';
import { renderTable, wrap } from '../output/table.ts';
import { bold, paint, type Style } from '../output/terminal.ts';

/** An assumption with one of its options. */
export interface Variant {
  readonly assumption: AssumptionId;
  readonly option: string;
}

/** A run of the command under a variant. */
export interface VariantRun extends Variant {
  /** `allowed`: an expected failure. */
  readonly verdict: 'passed' | 'failed' | 'allowed';
  readonly ending: Ending;
  readonly seconds: number;
  /** The last lines that the command printed; none if it passed. */
  readonly lastLines: readonly string[];
  /** The kinds of findings that the baseline did not have. */
  readonly findings: readonly Found[];
  /** Whether it failed beside other runs and passed alone. */
  readonly passedAlone: boolean;
}

/** The result of a sweep. */
export interface SweepReport {
  readonly command: readonly string[];
  readonly baselineSeconds: number;
  /** In the order of the contract. */
  readonly runs: readonly VariantRun[];
  /** Assumptions that were not run because the baseline did not touch them. */
  readonly untouched: readonly AssumptionId[];
  /** Assumptions that were not run because a scenario decides them. */
  readonly decided: readonly AssumptionId[];
  /** Variants that were not run because of an interruption. */
  readonly notRun: readonly Variant[];
}

export function withVerdict(wanted: VariantRun['verdict'], { runs }: SweepReport): VariantRun[] {
  return runs.filter(({ verdict }) => verdict === wanted);
}

/** What was not run, by reason. A variant without an option stands for all but the chosen one. */
export function notRunIn({ untouched, decided, notRun }: SweepReport) {
  const whole = (ids: readonly AssumptionId[]) => ids.map((assumption) => ({ assumption }));
  const groups: { why: string; variants: (Pick<Variant, 'assumption'> & Partial<Variant>)[] }[] = [
    { why: 'the command did not touch it (--all includes it)', variants: whole(untouched) },
    { why: 'a scenario decides it', variants: whole(decided) },
    { why: 'the sweep was interrupted', variants: [...notRun] },
  ];
  return groups.filter(({ variants }) => variants.length > 0);
}

/** A finding that depends on the speed of calls, which differs between runs. */
const BY_SPEED = 'pointless-retry';

/** The kinds of findings of a run that the baseline did not have. */
export function newlyFound(found: readonly Found[], first: readonly Found[]): readonly Found[] {
  const known = new Set([BY_SPEED, ...first.map(({ code }) => code)]);
  return found.filter(({ code }) => !known.has(code));
}

/** Notes on a run, one per line. */
export function notesOf({ findings, passedAlone }: VariantRun): string[] {
  return [
    ...findings.map((found) => `found ${found.code}: ${tellFound(found)}`),
    ...(passedAlone
      ? ['failed beside other runs but passed alone (--jobs 1 runs one at a time)']
      : []),
  ];
}

export function nameOf({ assumption, option }: Partial<Variant>): string {
  return option === undefined ? `${assumption}` : `${assumption}=${option}`;
}

/** The result in one sentence. */
export function summaryOf(report: SweepReport): string {
  const { runs, notRun } = report;
  const [passed, failed, allowed] = (['passed', 'failed', 'allowed'] as const).map(
    (verdict) => withVerdict(verdict, report).length,
  );
  const assumptions = new Set(runs.map(({ assumption }) => assumption)).size;
  return [
    `${counted(runs.length, 'other option')} of ${counted(assumptions, 'assumption')}: ${passed} passed`,
    ...(failed || !allowed ? [`${failed} failed`] : []),
    ...(allowed ? [`${allowed} failed as allowed`] : []),
    ...(notRun.length > 0 ? [`${notRun.length} not run`] : []),
  ].join(', ');
}

const COLOURS = { passed: 'green', failed: 'red', allowed: 'yellow' } as const;

/** The result of a sweep for a person. Failures come last, with their last lines of output. */
export function renderSweep(report: SweepReport, style: Style): string {
  const { runs } = report;
  const rows = runs.map((run) => [run.assumption, run.option, resultOf(run, style)]);
  const failures = runs.filter(({ verdict }) => verdict !== 'passed');
  const notRun = notRunIn(report).map(({ why, variants }) => {
    const names = wrap(variants.map(nameOf).join(', '), style.width - 2);
    return `Not run because ${why}:\n${indented(names)}`;
  });
  return [
    ...(rows.length > 0 ? [renderTable(rows, style)] : []),
    ...failures.map((run) => renderFailure(run, style)),
    ...notRun,
    `${summaryOf(report)}\n`,
  ].join('\n');
}

function resultOf(run: VariantRun, style: Style): string {
  const verdict = paint(run.verdict, COLOURS[run.verdict], style);
  if (run.verdict === 'passed') return [verdict, ...notesOf(run)].join('; ');
  return `${verdict}: the command ${tellEnding(run.ending)}`;
}

function renderFailure(run: VariantRun, style: Style): string {
  const printed = run.lastLines.length > 0 ? run.lastLines : ['(no output)'];
  return `${bold(nameOf(run), style)}\n${indented([...notesOf(run), ...printed])}`;
}

export function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join('');
}
