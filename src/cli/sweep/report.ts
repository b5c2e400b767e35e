import type { AssumptionId } from '../../contract/assumptions.ts';
import type { Ending } from '../child.ts';

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

export function nameOf({ assumption, option }: Variant): string {
  return `${assumption}=${option}`;
}
