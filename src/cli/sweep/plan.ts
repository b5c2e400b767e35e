import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Choices,
  optionNames,
} from '../../contract/assumption-table.ts';
import type { Variant } from './report.ts';

/** What to run, and what not. */
export interface Plan {
  readonly variants: readonly Variant[];
  readonly untouched: readonly AssumptionId[];
  readonly decided: readonly AssumptionId[];
}

/**
 * Plans a run for each other option of each assumption that the baseline touched.
 *
 * @param chosen the options of the baseline
 * @param decided what scenarios decide, whatever is chosen
 * @param touched what the baseline touched; undefined runs every assumption
 */
export function planSweep(
  chosen: Choices,
  decided: readonly AssumptionId[],
  touched: readonly AssumptionId[] | undefined,
): Plan {
  const free = ASSUMPTION_IDS.filter((id) => !decided.includes(id));
  const isTouched = (id: AssumptionId) => touched === undefined || touched.includes(id);
  const variants = free.filter(isTouched).flatMap((assumption) => {
    const others = optionNames(assumption).filter((name) => name !== chosen[assumption]);
    return others.map((option) => ({ assumption, option }));
  });
  return { variants, untouched: free.filter((id) => !isTouched(id)), decided };
}
