import type { Choices } from '../contract/assumption-table.ts';
import type { OperationId } from '../contract/operations.ts';
import type { Problem } from '../contract/records.ts';
import type { KeyLists } from '../service/keyring.ts';
import type { At } from '../shape/shapes.ts';
import type { StoreChanges } from '../store/merge.ts';
import { firstProblems, problemText } from '../words.ts';
import type { Fault } from './fault-table.ts';

/** The longest time that anything is held back, in milliseconds: five minutes. */
export const LONGEST_DELAY = 300_000;

/** How long a reply is held back, in milliseconds. */
export type Delay =
  | { readonly kind: 'fixed'; readonly milliseconds: number }
  | { readonly kind: 'uniform'; readonly min: number; readonly max: number }
  /** A log-normal distribution, as the latencies of services are. */
  | { readonly kind: 'log-normal'; readonly median: number; readonly sigma: number };

/** The calls that a rule is for, counted from 1; `to` is included, and Infinity where it is open. */
export interface CallRange {
  readonly from: number;
  readonly to: number;
}

/** A scalar as it stands in a scenario; integers that a double cannot hold are bigints. */
export type WhereValue = string | number | bigint | boolean | null;

/** What a rule looks for in a call. Every name given must match; a list matches any of its values. */
export interface Where {
  /** Path and query parameters and body fields, by name. `null` matches what is absent. */
  readonly inputs: ReadonlyMap<string, readonly WhereValue[]>;
  /** Headers, by name in lower case. */
  readonly headers: ReadonlyMap<string, readonly WhereValue[]>;
  /** API keys; undefined: any, or none. */
  readonly keys: readonly string[] | undefined;
}

/** The reply that a rule gives. */
export interface RuleReply {
  readonly status: number;
  /** Names and values in turn, besides those that the body brings. */
  readonly headers: readonly string[];
  /**
   * Undefined: the body that the document, or an assumption, has for this status. `json`: any JSON
   * value, written exactly. `text`: a string that is sent as it is, with its own media type.
   */
  readonly body:
    | { readonly kind: 'json'; readonly text: string }
    | { readonly kind: 'text'; readonly text: string; readonly mediaType: string }
    | { readonly kind: 'none' }
    | undefined;
}

/** One line of a scenario: when an operation is called so, reply or fail so. */
export interface Rule {
  /** The scenario's name, and the rule's number in it, counted from 1. */
  readonly scenario: string;
  readonly number: number;
  readonly on: readonly OperationId[];
  readonly where: Where;
  /** Undefined: every call. */
  readonly calls: readonly CallRange[] | undefined;
  /** Of the calls that match, the share that the rule is for: above 0, up to 1. */
  readonly chance: number;
  readonly delay: Delay | undefined;
  readonly reply: RuleReply | undefined;
  readonly fault: Fault | undefined;
  /** Runs the operation anyway and discards its reply. */
  readonly apply: boolean;
}

/** One scenario file, read and checked, with what it extends still by name. */
export interface Scenario {
  readonly name: string;
  /** The file it was read from; undefined where it was written in a request. */
  readonly file?: string | undefined;
  /** Where in that file a value is, as `FILE:LINE:COLUMN`. */
  readonly placeOf?: ((at: At) => string) | undefined;
  /** Empty where there is none. */
  readonly description: string;
  readonly extends: readonly string[];
  /** The name of one that is shipped, or a path. */
  readonly fixture: string | undefined;
  /** A number that is left out is that of the default fixture. */
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

/** Something wrong in a scenario, and the place of it in its file, as `FILE:LINE:COLUMN`. */
export interface ScenarioProblem extends Problem {
  readonly place?: string | undefined;
}

/** A scenario that cannot be used. The message has a line for each problem, the first 20 in full. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError';
  /** Every problem, each as `FILE:LINE:COLUMN: PATH: expected …, found …`. */
  readonly problems: readonly string[];

  /**
   * @param scenario what a problem without a place of its own is told of
   * @param problems those that are text are told as they are
   */
  constructor(scenario: string, problems: readonly (ScenarioProblem | string)[]) {
    const lines = problems.map((it) =>
      typeof it === 'string' ? it : problemText({ ...it, place: it.place ?? scenario }),
    );
    super(firstProblems(lines).join('\n'));
    this.problems = lines;
  }
}
