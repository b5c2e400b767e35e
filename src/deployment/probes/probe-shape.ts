import type { ASSUMPTIONS, AssumptionId } from '../../contract/assumption-table.ts';
import type { AskName } from '../asks.ts';
import type { Seen } from '../seen.ts';

type ListedOption<Id extends AssumptionId> = (typeof ASSUMPTIONS)[Id]['options'][number]['name'];

/** Looks at what was seen. */
type Look<T> = (seen: Seen) => T;

/** How an assumption is settled. */
export interface Probe {
  /** The requests that settle it. */
  readonly asks: readonly AskName[];
  /** Whether one of them is enough. */
  readonly any?: true;
  /** Requests that make the verdict more certain, if they can be sent. */
  readonly also?: readonly AskName[];
  /** Why the replies cannot settle it; undefined if they can. */
  readonly obstacle?: Look<string | undefined>;
  /** Whether the replies match each option. */
  readonly options: Readonly<Record<string, Look<boolean>>>;
  /** An option that is not listed, such as a rate. */
  readonly other?: Look<string | undefined>;
  /** What was seen, in words; by default the requests with their statuses. */
  readonly saw?: Look<string>;
}

/** Why nothing that a client can send settles an assumption. */
export interface Impossible {
  readonly impossible: string;
}

/** A probe for each of some assumptions. */
export type Probes<Id extends AssumptionId> = {
  readonly [Each in Id]:
    | (Probe & { readonly options: Readonly<Record<ListedOption<Each>, Look<boolean>>> })
    | Impossible;
};
