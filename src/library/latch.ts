import type { RecordedExchange } from '../control/control-shapes.ts';
import type { HeldReply, ReleaseResult } from '../control/journal/hold-endpoints.ts';
import type { ControlClient } from './control-client.ts';
import { type RequestFilter, type WaitOptions, waitForRequests } from './request-control.ts';
import type { RuleDefinition } from './scenario-definition.ts';

/** Which calls a latch holds back, as a rule says it. */
export interface LatchOptions
  extends Pick<RuleDefinition, 'where' | 'calls' | 'chance' | 'reply' | 'fault' | 'apply'> {
  /** The name of the hold; unique by default. */
  readonly name?: string | undefined;
}

interface ReleaseOptions {
  /** Sends only so many replies, and goes on holding later ones. */
  readonly count?: number | undefined;
}

/** Holds replies back until a test releases them. */
export interface Latch extends AsyncDisposable {
  /** The name of its hold. */
  readonly name: string;
  /**
   * Waits until so many calls have arrived, released ones included; 1 by default.
   *
   * @returns their exchanges
   * @throws Error if they do not arrive in time
   */
  arrived(count?: number, options?: WaitOptions): Promise<readonly RecordedExchange[]>;
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
  const filter: RequestFilter = { hold: name };
  return {
    name,
    arrived: (atLeast = 1, options = {}) =>
      waitForRequests(control, filter, { ...options, atLeast }),
    release: (options) => release(options),
    releaseNewestFirst: (options) => release(options, true),
    [Symbol.asyncDispose]: async () => {
      await release();
    },
  };
}
