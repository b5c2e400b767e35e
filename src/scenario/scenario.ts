import type { Choices } from '../contract/assumption-table.ts';
import type { OperationId } from '../contract/operations.ts';
import type { KeyLists } from '../service/keyring.ts';
import type { At } from '../shape/shapes.ts';
import type { StoreChanges } from '../store/merge.ts';
import { firstProblems } from '../words.ts';
import type { Fault } from './fault-table.ts';

/** In milliseconds: five minutes. */
export const LONGEST_DELAY = 300_000;

/** The delay of a reply, in milliseconds. */
export type Delay =
  | { readonly kind: 'fixed'; readonly milliseconds: number }
  | { readonly kind: 'uniform'; readonly min: number; readonly max: number }
  /** A log-normal distribution, typical of the latency of services. */
  | { readonly kind: 'log-normal'; readonly median: number; readonly sigma: number };

/** A range of calls, counted from 1. Includes `to`, which is Infinity for an open range. */
export interface CallRange {
  readonly from: number;
  readonly to: number;
}

/** A scalar in a scenario. Integers that a double cannot represent are bigints. */
export type WhereValue = string | number | bigint | boolean | null;

/** The conditions of a rule on a call. All must match; an array matches any of its values. */
export interface Where {
  /** Path and query parameters and body fields, by name. `null` matches an absent one. */
  readonly inputs: ReadonlyMap<string, readonly WhereValue[]>;
  /** Headers, by name in lower case. */
  readonly headers: ReadonlyMap<string, readonly WhereValue[]>;
  /** API keys; undefined matches any key, or none. */
  readonly keys: readonly string[] | undefined;
}

/** The reply that a rule gives. */
export interface RuleReply {
  readonly status: number;
  /** Alternating names and values, without the headers of the body. */
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
  /** The name of its scenario, and its number there, counted from 1. */
  readonly scenario: string;
  readonly number: number;
  readonly on: readonly OperationId[];
  readonly where: Where;
  /** Undefined: every call. */
  readonly calls: readonly CallRange[] | undefined;
  /** The share of matching calls that the rule applies to: above 0, up to 1. */
  readonly chance: number;
  readonly delay: Delay | undefined;
  readonly reply: RuleReply | undefined;
  readonly fault: Fault | undefined;
  /** Runs the operation anyway and discards its reply. */
  readonly apply: boolean;
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
