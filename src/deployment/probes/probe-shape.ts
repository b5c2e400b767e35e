import type { ASSUMPTIONS, AssumptionId } from '../../contract/assumption-table.ts';
import type { CheckTranscript } from '../check-transcript.ts';
import type { RequestName } from '../request-names.ts';

type ListedOption<Id extends AssumptionId> = (typeof ASSUMPTIONS)[Id]['options'][number]['name'];

/** Derives something from what a check has received. */
export type Look<T> = (check: CheckTranscript) => T;

/** How an assumption is settled. */
export interface Probe {
  /** The requests that settle it. */
  readonly requests: readonly RequestName[];
  /** Whether one of them is enough. */
  readonly any?: true;
  /** Requests that make the verdict more certain, if they can be sent. */
  readonly also?: readonly RequestName[];
  /** Why the replies cannot settle it; undefined if they can. */
  readonly obstacle?: Look<string | undefined>;
  /** Whether the replies match each option. */
  readonly options: Readonly<Record<string, Look<boolean>>>;
  /** An option that is not listed, such as a rate. */
  readonly other?: Look<string | undefined>;
  /** What the replies show, in words; by default the requests with their statuses. */
  readonly saw?: Look<string>;
}

/** A probe for each of some assumptions. */
export type Probes<Id extends AssumptionId> = {
  readonly [Each in Id]: Probe & {
    readonly options: Readonly<Record<ListedOption<Each>, Look<boolean>>>;
  };
};

/** The reply has this status. */
export function status(name: RequestName, expected: number): Look<boolean> {
  return (check) => check.status(name) === expected;
}

/** The request succeeds. */
export function accepted(name: RequestName): Look<boolean> {
  return (check) => check.accepted(name);
}

/** The input of every one of these requests is refused. */
export function refused(...names: readonly RequestName[]): Look<boolean> {
  return (check) => names.every((name) => check.refused(name));
}

/** All of these hold. */
export function all(...looks: readonly Look<boolean>[]): Look<boolean> {
  return (check) => looks.every((look) => look(check));
}

/** Every text matches a pattern. */
export function every(
  texts: Look<readonly (string | undefined)[]>,
  pattern: RegExp,
): Look<boolean> {
  return (check) => texts(check).every((text) => pattern.test(text ?? ''));
}

/**
 * An obstacle: there is nothing to judge by.
 *
 * @param why the reason if the replies to these requests are lists
 */
export function without(
  samples: Look<readonly unknown[]>,
  why: string,
  ...lists: readonly RequestName[]
): Look<string | undefined> {
  return (check) => (samples(check).length === 0 ? (check.whyNoList(...lists) ?? why) : undefined);
}

/** A sample of different values, for a message. */
export function some(values: readonly unknown[], most = values.length): string {
  return [...new Set(values)].slice(0, most).join(', ');
}
