import type { AssumptionId } from '../../contract/assumption-table.ts';
import type { Ending } from '../child/ending.ts';
import { type FoundKind, tellFound } from '../output/run-evidence.ts';

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
  readonly findings: readonly FoundKind[];
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

/** What was not run, by reason. */
export const NOT_RUN: readonly {
  readonly why: string;
  readonly of: (report: SweepReport) => readonly string[];
}[] = [
  {
    why: 'the command did not touch it (--all runs it too)',
    of: ({ untouched }) => untouched,
  },
  { why: 'a scenario decides it', of: ({ decided }) => decided },
  { why: 'the sweep was interrupted', of: ({ notRun }) => notRun.map(nameOf) },
];

/** Depends on how fast calls come, which differs between runs. */
const BY_SPEED = 'pointless-retry';

/** The kinds of findings of a run that the baseline did not have. */
export function newlyFound(
  found: readonly FoundKind[],
  first: readonly FoundKind[],
): readonly FoundKind[] {
  const known = new Set([BY_SPEED, ...first.map(({ kind }) => kind)]);
  return found.filter(({ kind }) => !known.has(kind));
}

/** Notes on a run beside its ending, a line each. */
export function notesOf({ findings, passedAlone }: VariantRun): string[] {
  return [
    ...findings.map((found) => `found ${found.kind}: ${tellFound(found)}`),
    ...(passedAlone ? ['failed beside other runs, not alone (--jobs 1 runs each alone)'] : []),
  ];
}

export function nameOf({ assumption, option }: Variant): string {
  return `${assumption}=${option}`;
}
