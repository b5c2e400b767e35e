import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Choices,
  chooseOptions,
  optionsOf,
} from '../core/contract/assumption-table.ts';
import { OPERATION_IDS, type OperationId, operationShape } from '../core/contract/operations.ts';
import type { RuleDefinition } from '../core/scenario/rule-shape.ts';
import type { Scenario } from '../core/scenario/scenario-shape.ts';
import { rowNames } from '../core/tables.ts';
import type { CallTracker } from './call-tracker.ts';

/** What a run has that the baseline has not. */
export interface Variant {
  /** An assumption and its option, or an operation and its fault, as `--json` prints them. */
  readonly named: Readonly<Record<string, string>>;
  readonly assume?: Partial<Choices>;
  /** Which call of the operation fails, from 1, and how. */
  readonly fault?: {
    readonly operation: OperationId;
    readonly call: number;
    readonly rule: RuleDefinition;
  };
}

/** What `sweep --faults` does to a call. */
const FAULTS_OF_CALLS = {
  '503': { reply: { status: 503 } },
  reset: { fault: 'reset' },
  hang: { fault: 'hang' },
  'lost-reply': { fault: 'reset', apply: true },
} as const satisfies Record<string, Omit<RuleDefinition, 'on'>>;

export const SWEEP_FAULTS = rowNames(FAULTS_OF_CALLS);

export const FAULTS_BY_PLACE: ReadonlySet<string> = new Set(
  SWEEP_FAULTS.flatMap((fault) => OPERATION_IDS.map((operation) => `${operation}=${fault}`)),
);

/** Plans a run for each fault in each operation. A read needs no `lost-reply`: a reset loses its reply too. */
export function planFaults(
  faults: readonly (keyof typeof FAULTS_OF_CALLS)[],
  { counts, succeeded }: CallTracker,
): Variant[] {
  const called = OPERATION_IDS.filter((id) => counts.has(id));
  return faults.flatMap((fault) =>
    called
      .filter((id) => fault !== 'lost-reply' || operationShape(id).method !== 'GET')
      .map((operation) => ({
        named: { operation, fault },
        fault: {
          operation,
          call: succeeded.get(operation) ?? 1,
          rule: { on: operation, ...FAULTS_OF_CALLS[fault] },
        },
      })),
  );
}

/** Every other option of the assumptions that matter. */
export function planOptions(
  assume: Partial<Choices> | undefined,
  scenarios: readonly Pick<Scenario, 'assume'>[],
  assumptions: readonly AssumptionId[],
) {
  const byScenarios: Partial<Choices> = Object.assign({}, ...scenarios.map((it) => it.assume));
  const chosen = chooseOptions({ ...assume, ...byScenarios });
  const free = ASSUMPTION_IDS.filter((id) => !(id in byScenarios));
  const touched = free.filter((id) => assumptions.includes(id));
  const variants = touched.flatMap((assumption): Variant[] =>
    optionsOf(assumption)
      .filter((option) => option !== chosen[assumption])
      .map((option) => ({
        named: { assumption, option },
        assume: { ...assume, [assumption]: option },
      })),
  );
  return {
    variants,
    untouched: free.filter((id) => !touched.includes(id)),
    decidedByScenario: ASSUMPTION_IDS.filter((id) => id in byScenarios),
  };
}
