import type { EditView } from '../core/control/journal/journal-endpoints.ts';
import type { RecordedExchange } from '../core/control/journal/recorded-exchange.ts';
import type { Alternative } from '../core/control/journal/time-travel-endpoints.ts';
import type { StoreState } from '../core/control/store/store-endpoints.ts';
import type { RuleDefinition } from '../core/scenario/rule-shape.ts';
import type { ControlClient, QueryOf } from './control-client.ts';

/** Selects exchanges. All members that are given must match. */
export type RequestFilter = QueryOf<'GET /requests/stream'>;

/** Whether to take the store before or after a call. */
type Side = 'before' | 'after';

/** Thrown by `follow` if the journal drops exchanges before they are read. */
export class DroppedExchangesError extends Error {
  override readonly name = 'DroppedExchangesError';
  /** How many were dropped. The filter would not have selected all of them, perhaps none. */
  readonly count: number;

  constructor(count: number) {
    super(
      `the journal dropped ${count} exchanges before they were read: start the server with a larger journal, or read faster`,
    );
    this.count = count;
  }
}

/** A call in the journal. It requests nothing from the server until a method is called. */
export interface RequestHandle extends Readonly<ReturnType<typeof createRequestHandle>> {}

function createRequestHandle(control: ControlClient, number: number) {
  const path = { number };
  const read = (which: number): Promise<RecordedExchange> =>
    control.call('GET /requests/{number}', { path: { number: which } });
  return {
    /** Reads the exchange. */
    read: () => read(number),
    /** The store before the call (by default) or after it. */
    state: (at?: Side): Promise<StoreState> =>
      control.call('GET /requests/{number}/state', { path, query: { at } }),
    /** Returns the sandbox to its state before the call (by default) or after it. */
    rewind: (to?: Side) => control.call('POST /requests/{number}/rewind', { path, body: { to } }),
    /** What the service may answer instead: the reply under each other option that changes it. */
    alternatives: (): Promise<readonly Alternative[]> =>
      control.call('GET /requests/{number}/alternatives', { path }),
    /** Sends the same request again within the server, and returns the new exchange. */
    replay: async () =>
      read((await control.call('POST /requests/{number}/replay', { path })).number),
    /** A scenario in YAML with a rule that gives this reply to such calls. */
    rule: () => control.text('GET /requests/{number}/rule', { path }),
  };
}

/** The journal of a sandbox. */
export interface RequestControl extends Readonly<ReturnType<typeof createRequestControl>> {}

export function createRequestControl(control: ControlClient) {
  const list = async (query: QueryOf<'GET /requests'> = {}): Promise<readonly RecordedExchange[]> =>
    (await control.call('GET /requests', { query })).exchanges;
  return {
    /** The latest exchanges that match, the newest last by default. */
    list: (filter: Omit<QueryOf<'GET /requests'>, 'edits'> = {}) => list(filter),
    /** A call by its number in the journal. */
    get: (number: number): RequestHandle => createRequestHandle(control, number),
    /** The changes through the control API since the last reset, the oldest first. */
    edits: async (): Promise<readonly EditView[]> => {
      const query = { limit: 0, edits: true };
      return (await control.call('GET /requests', { query })).edits ?? [];
    },
    /**
     * How many exchanges match.
     *
     * @throws Error if the journal has dropped exchanges that may match
     */
    count: async (filter: RequestFilter = {}) => {
      const total = await control.call('POST /requests/count', { body: filter });
      if (total.complete) return total.count;
      throw new Error(
        `at least ${total.count} requests match, but the journal dropped others that may match: start the server with a larger journal, or filter by a later \`from\``,
      );
    },
    /**
     * Waits until `atLeast` exchanges match, held ones included, and returns them.
     *
     * @throws Error if they do not arrive in time
     * @example await mock.requests.wait({ operation: 'cancelOrder' }, { atLeast: 1, within: 5_000 });
     */
    wait: async (
      filter: RequestFilter = {},
      {
        atLeast = 1,
        within = 5_000,
      }: {
        readonly atLeast?: number | undefined;
        /** How long to wait, in milliseconds: 5 seconds by default, at most a minute. */
        readonly within?: number | undefined;
      } = {},
    ) => {
      const body = { ...filter, atLeast, within: `PT${(within / 1000).toFixed(3)}S` };
      const { count: arrived } = await control.call('POST /requests/count', { body });
      if (arrived >= atLeast) return list(filter);
      const selection = JSON.stringify(filter);
      throw new Error(
        `${arrived} of ${atLeast} requests arrived within ${within} ms: ${selection}`,
      );
    },
    /**
     * Yields exchanges that match from now on, until the sandbox is deleted.
     *
     * @throws the signal's reason once it aborts; DroppedExchangesError if the caller reads so
     * slowly that the journal drops exchanges
     * @example for await (const { method, target, status } of mock.requests.follow()) { … }
     */
    async *follow(
      filter: RequestFilter = {},
      signal?: AbortSignal,
    ): AsyncGenerator<RecordedExchange> {
      const events = control.events('GET /requests/stream', { query: filter, signal });
      for await (const event of events) {
        if (event.name === 'exchange') yield event.data;
        else if (event.name === 'dropped') throw new DroppedExchangesError(event.data.count);
      }
    },
    clear: () => control.call('DELETE /requests'),
  };
}

/** Which calls to hold, in the words of a rule. */
export interface LatchOptions
  extends Pick<RuleDefinition, 'where' | 'calls' | 'chance' | 'reply' | 'fault' | 'apply'> {
  /** The name of the hold; a unique one by default. */
  readonly name?: string | undefined;
}

interface ReleaseOptions {
  /** How many replies to send at most. Later calls are still held. */
  readonly count?: number | undefined;
}

/** Holds replies until a test releases them. */
export interface Latch extends Readonly<Awaited<ReturnType<typeof createLatch>>> {}

export async function createLatch(
  control: ControlClient,
  on: RuleDefinition['on'],
  { name = `hold-${crypto.randomUUID().slice(0, 8)}`, ...rule }: LatchOptions,
) {
  await control.call('POST /holds', { body: { on, ...rule, hold: name } });
  const release = async ({ count }: ReleaseOptions, newestFirst: boolean) => {
    const body = { name, count, newestFirst, open: count === undefined };
    return (await control.call('POST /holds/release', { body })).released;
  };
  return {
    /** The name of the hold. */
    name,
    /**
     * Waits until so many calls have arrived (1 by default), also those that were released since.
     *
     * @returns their exchanges
     * @throws Error if they do not arrive in time
     */
    arrived: (atLeast = 1, options: { readonly within?: number | undefined } = {}) =>
      createRequestControl(control).wait({ hold: name }, { ...options, atLeast }),
    /** Sends held replies, the oldest first. Without `count`, later calls are not held any more. */
    release: (options: ReleaseOptions = {}) => release(options, false),
    /** The same, but the newest first. */
    releaseNewestFirst: (options: ReleaseOptions = {}) => release(options, true),
    [Symbol.asyncDispose]: async () => {
      await release({}, false);
    },
  };
}
