import { firstProblems } from '../words.ts';

/** A scenario that cannot be used. The message has a line for each of the first 20 problems. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError';
  /** Every problem, each as `FILE:LINE:COLUMN: PATH: expected …, found …`. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(firstProblems(problems, String).join('\n'));
    this.problems = problems;
  }
}
