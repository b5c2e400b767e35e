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
  /** `allowed`: it failed, as was said beforehand. */
  readonly verdict: 'passed' | 'failed' | 'allowed';
  readonly ending: Ending;
  readonly seconds: number;
  /** The last lines that the command printed; none where it passed. */
  readonly lastLines: readonly string[];
  /** What was found in this run, of kinds that were not found in the first one. */
  readonly findings: readonly FoundKind[];
  /** Whether it failed beside other runs, and passed when it was run again alone. */
  readonly passedAlone: boolean;
}

/** What a sweep found. */
export interface SweepReport {
  readonly command: readonly string[];
  readonly baselineSeconds: number;
  /** In the order of the contract. */
  readonly runs: readonly VariantRun[];
  /** Assumptions that the baseline did not touch, and that were not run for that. */
  readonly untouched: readonly AssumptionId[];
  /** Assumptions that a scenario decides, so that no option can be chosen. */
  readonly decided: readonly AssumptionId[];
  /** What an interruption has kept from being run. */
  readonly notRun: readonly Variant[];
}

export function failuresOf({ runs }: SweepReport): VariantRun[] {
  return runs.filter(({ verdict }) => verdict === 'failed');
}

/** Whether a call is taken for a retry hangs on how fast calls come, which differs between runs. */
const BY_SPEED = 'pointless-retry';

/** What was found in a run, of kinds that were not found in the first one. */
export function newlyFound(
  found: readonly FoundKind[],
  first: readonly FoundKind[],
): readonly FoundKind[] {
  const known = new Set([BY_SPEED, ...first.map(({ kind }) => kind)]);
  return found.filter(({ kind }) => !known.has(kind));
}

/** What is to be said of a run beside how it ended, a line for each. */
export function notesOf({ findings, passedAlone }: VariantRun): string[] {
  return [
    ...findings.map((found) => `found ${found.kind}: ${tellFound(found)}`),
    ...(passedAlone ? ['failed beside other runs, not alone (--jobs 1 runs each alone)'] : []),
  ];
}

export function nameOf({ assumption, option }: Variant): string {
  return `${assumption}=${option}`;
}
