import type { Handler } from './endpoint.ts';

/** Handlers that a feature adds for endpoints whose row in the table has no `handle`. */
export interface AddedHandlers {
  readonly name: string;
  readonly handlers?: {
    /** Ids of endpoints, and names of topics; a topic stands for all of its endpoints. */
    readonly of: readonly string[];
    /** Loads the handlers, keyed by endpoint id, at the first call of one of them. */
    load(): Promise<Readonly<Record<string, Handler>>>;
  };
}

/** Lets the compiler ask for a handler of each id. Each start loads this, so it stays small. */
export function addHandlers<const Id extends string>(
  name: string,
  of: readonly Id[],
  load: () => Promise<Readonly<Record<Id, Handler>>>,
): AddedHandlers {
  return { name, handlers: { of, load } };
}
