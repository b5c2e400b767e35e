import type { AssumptionId } from '../contract/assumption-table.ts';
import type { OperationId } from '../contract/operations.ts';
import type { CoverageReport } from '../evidence/coverage.ts';

// What the control API answers, as its OpenAPI document describes it.

export interface Snapshot {
  readonly name: string;
  readonly animals: number;
  readonly inventory: number;
  readonly orders: number;
}

export interface ScenarioSummary {
  readonly name: string;
  readonly description: string;
}

export interface ActiveRule {
  readonly number: number;
  readonly on: readonly OperationId[];
  readonly status?: number;
  readonly fault?: string;
  /** How many calls it has matched, where anything depends on it. */
  readonly calls?: number;
}

export interface ActiveScenario extends ScenarioSummary {
  readonly rules: readonly ActiveRule[];
}

export interface AssumptionState {
  readonly id: AssumptionId;
  readonly topic: string;
  readonly question: string;
  readonly options: readonly { readonly name: string; readonly meaning: string }[];
  readonly chosen: string;
  readonly default: string;
}

export interface ClockState {
  /** An RFC 3339 instant. */
  readonly now: string;
  readonly frozen: boolean;
  /** Whether it shows the machine's own time. */
  readonly real: boolean;
}

/** One exchange as the journal of a sandbox shows it. */
export interface RecordedExchange {
  /** Counts from 1, whatever was dropped since. */
  readonly number: number;
  readonly at: string;
  readonly method: string;
  readonly target: string;
  readonly operation?: OperationId;
  /** The first characters of the API key. */
  readonly key?: string;
  /** Left out where the client was sent none. */
  readonly status?: number;
  readonly fault?: string;
  /** In milliseconds. */
  readonly delay: number;
  readonly basis: 'documented' | 'assumed' | 'forced';
  /** What the basis names. */
  readonly by: readonly string[];
  /** In words, the nearest cause first. */
  readonly why: readonly string[];
  readonly request: RecordedBody;
  readonly reply: RecordedBody & { readonly headers: Readonly<Record<string, string>> };
}

export interface RecordedBody {
  /** The JSON that it is, else its text. */
  readonly body?: unknown;
  /** Whether it is not all there. */
  readonly cut?: boolean;
}

export interface RequestFilter {
  readonly operation?: OperationId | undefined;
  readonly status?: number | undefined;
  readonly basis?: RecordedExchange['basis'] | undefined;
  readonly method?: string | undefined;
  /** The API key, in full. */
  readonly key?: string | undefined;
  /** RFC 3339 instants of the sandbox's clock. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface RequestCount {
  readonly count: number;
  /** False where an exchange that is no longer kept could have been one of them. */
  readonly complete: boolean;
}

export interface SandboxSummary {
  readonly name: string;
  /** The paths of its service and of its control API. */
  readonly service: string;
  readonly control: string;
  readonly animals: number;
  readonly inventory: number;
  readonly orders: number;
  readonly requests: number;
}

/** A case within a reply, with whether it was shown. */
export type CaseCoverage = CoverageReport['cases'][number];

/** How many there are, and how many of them were shown. */
export type CoverageShare = CoverageReport['totals']['documented'];
