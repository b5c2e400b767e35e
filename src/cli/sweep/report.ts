import type { AssumptionId } from '../../contract/assumption-table.ts';
import { counted } from '../../words.ts';
import type { Ending } from '../child/ending.ts';
import { type Found, tellFound } from '../output/evidence.ts';

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
