import type { Choices } from '../contract/assumption-table.ts';
import type { KeyLists } from '../service/keyring.ts';
import type { At, ValueOf } from '../shape/shapes.ts';
import type { StoreChanges } from '../store/merge.ts';
import { firstProblems } from '../words.ts';
import type { RULE_SHAPE } from './rule-shape.ts';

/** One line of a scenario: when an operation is called so, reply or fail so. */
export interface Rule extends ValueOf<typeof RULE_SHAPE> {
  /** The name of its scenario, and its number there, counted from 1. */
  readonly scenario: string;
  readonly number: number;
}

/** A valid scenario. The scenarios that it extends are not loaded yet. */
export interface Scenario {
  readonly name: string;
  /** Its file; undefined if it came in a request. */
  readonly file?: string | undefined;
  /** The place of a value in the file, as `FILE:LINE:COLUMN`. */
  readonly placeOf?: ((at: At) => string) | undefined;
  /** Empty if there is none. */
  readonly description: string;
  readonly extends: readonly string[];
  /** The name of a shipped fixture, or a path. */
  readonly fixture: string | undefined;
  /** Without a number, as many as in the default fixture. */
  readonly generate:
    | { readonly animals?: number | undefined; readonly orders?: number | undefined }
    | undefined;
  /** Of each record the id, and what changes; a new one must be whole. */
  readonly state: StoreChanges;
  readonly keys: Omit<KeyLists, 'any'>;
  readonly assume: Partial<Choices>;
  /** `now` in milliseconds since 1970. */
  readonly clock: { readonly now?: number | undefined; readonly frozen?: boolean | undefined };
  readonly rules: readonly Rule[];
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
