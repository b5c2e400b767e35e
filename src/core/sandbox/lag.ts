import { LIMITS } from '../limits.ts';
import type { Lag } from '../scenario/rule-shape.ts';
import type { Store } from '../store/store.ts';

/** Earlier stores, for rules with `lag`: kept while an active rule has one. */
export interface Past {
  /** How many calls there were since it is kept. */
  readonly calls: number;
  /** The newest last. */
  readonly changes: readonly {
    readonly before: Store;
    /** The number of the call that made the change. */
    readonly call: number;
    /** By the sandbox's clock. */
    readonly at: number;
  }[];
}

export const NO_PAST: Past = { calls: 0, changes: [] };

/** The store as a replica has it that is so far behind. */
export function pastStore({ calls, changes }: Past, lag: Lag, store: Store, now: number): Store {
  const missed = changes.find(({ call, at }) =>
    'calls' in lag ? call > calls - lag.calls : at > now - lag.milliseconds,
  );
  return missed?.before ?? store;
}

/** What is known after another call. */
export function rememberStore({ calls, changes }: Past, before: Store, after: Store, at: number) {
  const call = calls + 1;
  const added = [...changes, { before, call, at }].slice(-LIMITS.lag);
  return { calls: call, changes: before === after ? changes : added };
}
