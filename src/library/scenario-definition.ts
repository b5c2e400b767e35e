import type { Choices } from '../contract/assumption-table.ts';
import type { OperationId } from '../contract/operations.ts';
import type { Fault } from '../scenario/fault-table.ts';
import type { ScenarioName } from '../scenario/scenario-names.ts';
import type { Int64, OneOrMore, StateChanges } from './record-control.ts';

/** The name of a shipped scenario, or of one that the sandbox knows. */
export type AnyScenarioName = ScenarioName | (string & Record<never, never>);

/** The content of a scenario file. The server checks it like a file. */
export interface ScenarioDefinition {
  readonly description?: string;
  /** Scenarios to apply first. */
  readonly extends?: OneOrMore<AnyScenarioName>;
  /** The shipped fixture to start from. */
  readonly fixture?: string;
  readonly generate?: { readonly animals?: number; readonly orders?: number };
  readonly state?: StateChanges;
  readonly keys?: {
    readonly valid?: readonly string[];
    readonly readOnly?: 'all' | readonly string[];
    readonly invalid?: 'all' | readonly string[];
    /** When keys expire: an ISO 8601 duration after the start, or an instant. `all` is any other key. */
    readonly expires?: Readonly<Record<string, string>>;
  };
  readonly assume?: Partial<Choices>;
  readonly clock?: { readonly now?: string; readonly frozen?: boolean };
  readonly rules?: readonly RuleDefinition[];
}

/** A value to compare with one in a request. */
type Scalar = string | Int64 | boolean | null;

/** One rule: how to answer which calls. */
export interface RuleDefinition {
  readonly on: OperationId | '*' | readonly OperationId[];
  /** Parameters and body fields by name, and `headers` and `key`. */
  readonly where?: Readonly<
    Record<string, OneOrMore<Scalar> | Readonly<Record<string, OneOrMore<Scalar>>>>
  >;
  /** Which of the matching calls: `1`, `[1, 3]`, `"1-2"`, `"3-"`. */
  readonly calls?: number | string | readonly number[];
  /** Above 0, up to 1. */
  readonly chance?: number;
  /** In milliseconds. */
  readonly delay?:
    | number
    | { readonly min: number; readonly max: number }
    | { readonly median: number; readonly sigma: number };
  /** The reply instead of the service's. */
  readonly reply?: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, OneOrMore<string | number>>>;
    /** Any JSON value, even an invalid one; by default the usual body of the status. */
    readonly body?: unknown;
    /** Sends no body, even if the status usually has one. */
    readonly empty?: true;
  };
  readonly fault?:
    | Fault['kind']
    | { readonly kind: 'slow-body'; readonly chunks?: number; readonly over?: number };
  /** Holds the reply back until it is released: true, or a name. */
  readonly hold?: true | string;
  /** Runs the operation anyway and discards its reply. */
  readonly apply?: boolean;
}
