import type { Handler } from './endpoint.ts';

/** What a feature adds to the table: handlers of endpoints that have none in their row. */
export interface AddedHandlers {
  readonly name: string;
  readonly handlers?: {
    /** The ids of the endpoints, and the names of topics of which it handles all. */
    readonly of: readonly string[];
    /** By id. Called with the first call of one. */
    load(): Promise<Readonly<Record<string, Handler>>>;
  };
}

/** Lets the compiler ask for a handler of each id. Every server loads this file at its start. */
export function addHandlers<const Id extends string>(
  name: string,
  of: readonly Id[],
  load: () => Promise<Readonly<Record<Id, Handler>>>,
): AddedHandlers {
  return { name, handlers: { of, load } };
}
