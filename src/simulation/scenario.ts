import type { Choices } from '../contract/assumptions.ts';
import type { OperationId } from '../contract/operations.ts';
import type { Animal, InventoryEntry, Order } from '../contract/records.ts';
import type { Fault } from './outcome.ts';

/** Changes to one collection: records merged in by id, then ids taken out; `all` comes first. */
export interface CollectionChanges<R> {
  /** Members of records; the id is always among them. A record that is new must be whole. */
  readonly set: readonly Partial<R>[];
  readonly remove: readonly bigint[] | 'all';
}

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
  /** Whether the operation is run all the same, and its reply thrown away. */
  readonly apply: boolean;
}

/** One scenario file, read and checked, with what it extends still by name. */
export interface Scenario {
  readonly name: string;
  readonly description: string;
  readonly extends: readonly string[];
  readonly fixture: string | undefined;
  readonly generate: { readonly animals: number; readonly orders: number } | undefined;
  readonly state: {
    readonly animals: CollectionChanges<Animal>;
    readonly inventory: CollectionChanges<InventoryEntry>;
    readonly orders: CollectionChanges<Order>;
  };
  readonly keys: {
    readonly valid: readonly string[] | undefined;
    readonly readOnly: readonly string[] | undefined;
    readonly invalid: readonly string[] | undefined;
  };
  readonly assume: Partial<Choices>;
  /** `now` in milliseconds since 1970. */
  readonly clock: { readonly now: number | undefined; readonly frozen: boolean | undefined };
  readonly rules: readonly Rule[];
}
