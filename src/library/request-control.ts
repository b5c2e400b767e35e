import type { JournalPage, RecordedExchange, RequestCount } from '../control/control-shapes.ts';
import type { HeldReply, ReleaseResult } from '../control/journal/hold-endpoints.ts';
import type { ExchangeFilter } from '../sandbox/exchange-filter.ts';
import { type ControlClient, searchOf } from './control-client.ts';
import type { RuleDefinition } from './scenario-definition.ts';

/** Selects exchanges. Every member given must match. */
export interface RequestFilter extends Omit<ExchangeFilter, 'from' | 'to'> {
  /** RFC 3339 instants of the sandbox's clock. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The journal of a sandbox. */
export function requestControl(control: ControlClient) {
  const count = (body: object) => control.call<RequestCount>('POST', '/requests/count', body);
  const list = async (filter: object) =>
    (await control.call<JournalPage>('GET', `/requests${searchOf(filter)}`)).exchanges;
  return {
    /** The latest exchanges that match, by default the newest last. */
    list: (
      filter: RequestFilter & {
        readonly limit?: number | undefined;
        readonly order?: 'asc' | 'desc' | undefined;
      } = {},
    ) => list(filter),
    /**
     * How many exchanges match.
     *
     * @throws Error if the journal has dropped exchanges that may match
     */
    count: async (filter: RequestFilter = {}) => {
      const total = await count(filter);
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
        /** In milliseconds, up to a minute; 5 seconds by default. */
        readonly within?: number | undefined;
      } = {},
    ) => {
      const patience = { atLeast, within: `PT${(within / 1000).toFixed(3)}S` };
      const { count: arrived } = await count({ ...filter, ...patience });
      if (arrived >= atLeast) return list(filter);
      const selection = JSON.stringify(filter);
      throw new Error(
        `${arrived} of ${atLeast} requests arrived within ${within} ms: ${selection}`,
      );
    },
    /**
     * The exchanges that match, from the next one on, until the sandbox is deleted.
     *
     * @throws the reason of the signal once it aborts, Error for a caller that is more than 1 MiB behind
     * @example for await (const { method, target, status } of mock.requests.follow()) { … }
     */
    async *follow(
      filter: RequestFilter = {},
      signal?: AbortSignal,
    ): AsyncGenerator<RecordedExchange> {
      const path = `/requests/stream${searchOf(filter)}`;
      for await (const { name, data } of control.events<RecordedExchange>(path, signal)) {
        if (name === 'exchange') yield data;
      }
    },
    clear: () => control.call<void>('DELETE', '/requests'),
  };
}

/** Which calls a latch holds back, as a rule says it. */
export interface LatchOptions
  extends Pick<RuleDefinition, 'where' | 'calls' | 'chance' | 'reply' | 'fault' | 'apply'> {
  /** The name of the hold; unique by default. */
  readonly name?: string | undefined;
}

interface ReleaseOptions {
  /** Sends at most this many replies, and goes on holding later ones. */
  readonly count?: number | undefined;
}

/** Holds replies back until a test releases them. */
export interface Latch extends AsyncDisposable {
  /** The name of its hold. */
  readonly name: string;
  /**
   * Waits until this many calls have arrived, released ones included; 1 by default.
   *
   * @returns their exchanges
   * @throws Error if they do not arrive in time
   */
  arrived(
    count?: number,
    options?: { readonly within?: number | undefined },
  ): Promise<readonly RecordedExchange[]>;
  /** Sends the replies, the oldest first. Without `count`, later calls are not held any more. */
  release(options?: ReleaseOptions): Promise<readonly HeldReply[]>;
  /** The same, the latest first. */
  releaseNewestFirst(options?: ReleaseOptions): Promise<readonly HeldReply[]>;
}

/** Sets a latch in a sandbox. */
export async function setLatch(
  control: ControlClient,
  on: RuleDefinition['on'],
  { name = `hold-${crypto.randomUUID().slice(0, 8)}`, ...rule }: LatchOptions,
): Promise<Latch> {
  await control.call('POST', '/holds', { on, ...rule, hold: name });
  const release = async ({ count }: ReleaseOptions = {}, newestFirst = false) => {
    const which = { name, count, newestFirst, open: count === undefined };
    return (await control.call<ReleaseResult>('POST', '/holds/release', which)).released;
  };
  return {
    name,
    arrived: (atLeast = 1, options = {}) =>
      requestControl(control).wait({ hold: name }, { ...options, atLeast }),
    release: (options) => release(options),
    releaseNewestFirst: (options) => release(options, true),
    [Symbol.asyncDispose]: async () => {
      await release();
    },
  };
}
