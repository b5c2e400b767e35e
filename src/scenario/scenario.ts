import type { At, ValueOf } from '../shape/shapes.ts';
import { firstProblems } from '../words.ts';
import type { scenarioOf } from './read-scenario.ts';
import type { RULE_SHAPE } from './rule-shape.ts';

/** One line of a scenario: when an operation is called so, reply or fail so. */
export interface Rule extends ValueOf<typeof RULE_SHAPE> {
  /** The name of its scenario, and its number there, counted from 1. */
  readonly scenario: string;
  readonly number: number;
}

/** A valid scenario. The scenarios that it extends are not loaded yet. */
export interface Scenario extends ReturnType<typeof scenarioOf> {
  /** Its file; undefined if it came in a request. */
  readonly file?: string | undefined;
  /** The place of a value in the file, as `FILE:LINE:COLUMN`. */
  readonly placeOf?: ((at: At) => string) | undefined;
}

/** A scenario that cannot be used. The message has a line for each of the first 20 problems. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError';
  /** Every problem, each as `FILE:LINE:COLUMN: PATH: expected …, found …`. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(firstProblems(problems).join('\n'));
    this.problems = problems;
  }
}
