import type { Choices } from '../contract/assumption-table.ts';
import type { OperationId } from '../contract/operations.ts';
import type { Fault } from '../scenario/fault-table.ts';
import type { ScenarioName } from '../scenario/scenario-names.ts';
import type { Animal, Int64, InventoryEntry, Order, RecordChanges } from './record-types.ts';

/** What a scenario file holds, to be written in a test. The server checks it as it does a file. */
export interface ScenarioDefinition {
  readonly description?: string;
  /** Scenarios that ship, which come first. */
  readonly extends?: ScenarioName | readonly ScenarioName[];
  /** The fixture that ships to start from. */
  readonly fixture?: string;
  readonly generate?: { readonly animals?: number; readonly orders?: number };
  readonly state?: {
    readonly animals?: SetAndRemove<RecordChanges<Animal, 'id'>>;
    readonly inventory?: SetAndRemove<RecordChanges<InventoryEntry, 'petId'>>;
    readonly orders?: SetAndRemove<RecordChanges<Order, 'id'>>;
  };
  readonly keys?: {
    readonly valid?: readonly string[];
    readonly readOnly?: readonly string[];
    readonly invalid?: readonly string[];
    /** Until when keys work: an ISO 8601 duration after the start, or an instant. */
    readonly expires?: Readonly<Record<string, string>>;
  };
  readonly assume?: Partial<Choices>;
  readonly clock?: { readonly now?: string; readonly frozen?: boolean };
  readonly rules?: readonly RuleDefinition[];
}

/** Records to be merged by their ids, and those to take out before that. */
export interface SetAndRemove<R> {
  readonly set?: readonly R[];
  readonly remove?: 'all' | readonly Int64[];
}

/** A value that is compared with what a request says. */
export type Scalar = string | Int64 | boolean | null;

/** One rule: when an operation is called so, reply or fail so. */
export interface RuleDefinition {
  readonly on: OperationId | '*' | readonly OperationId[];
  /** Parameters, fields of the body, and under `headers` and `key` those. */
  readonly where?: Readonly<
    Record<
      string,
      Scalar | readonly Scalar[] | Readonly<Record<string, Scalar | readonly Scalar[]>>
    >
  >;
  /** Which of the calls that match: `1`, `[1, 3]`, `"1-2"`, `"3-"`. */
  readonly calls?: number | string | readonly number[];
  /** Above 0, up to 1. */
  readonly chance?: number;
  /** In milliseconds. */
  readonly delay?:
    | number
    | { readonly min: number; readonly max: number }
    | { readonly median: number; readonly sigma: number };
  /** The reply, in the place of that of the service. */
  readonly reply?: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, HeaderValue | readonly HeaderValue[]>>;
    /** Any JSON value, also a wrong one; left out, the body that the status has anyway. */
    readonly body?: unknown;
    /** No body, whatever the status has anyway. */
    readonly empty?: true;
  };
  readonly fault?:
    | Fault['kind']
    | { readonly kind: 'slow-body'; readonly chunks?: number; readonly over?: number };
  /** Runs the operation all the same. */
  readonly apply?: boolean;
}

type HeaderValue = string | number;
