import type { Reply } from '../service/reply.ts';
import { versionOf } from '../store/store.ts';
import type { Witnessed } from './exchange.ts';
import { retryAfter } from './findings-checks.ts';

/** How long a refusal is remembered, in milliseconds of real time. */
const RETRY_WITHIN = 60_000;
const MOST_PAUSES = 16;

/** Client errors that can pass by themselves. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

/** Whether asking again would get the same reply. */
export function isFinal({ status, basis }: Reply): boolean {
  return status >= 400 && status < 500 && !TEMPORARY.has(status) && basis.kind !== 'forced';
}

/** When a reply left, by `performance.now()`; infinity until then. */
interface Leaving {
  at: number;
}

/** A refusal that the same call would get again. */
interface Refusal {
  readonly mark: string;
  readonly status: number;
  readonly version: number;
  readonly world: object;
  /** The first time that the call got it. */
  readonly first: Leaving;
  /** The latest time, by `performance.now()`. */
  readonly latest: number;
}

/** How long a call was asked to wait. */
interface Pause {
  /** By the sandbox's clock. */
  readonly until: number;
  readonly seconds: number;
  readonly sent: Leaving;
}

/** What one sandbox's client was refused or asked to wait for, and whether it heeds that. */
export class Retries {
  #refused: Refusal | undefined;
  readonly #pauses = new Map<string, Pause>();

  /** Whether there is nothing that a call could be a retry of. */
  get isEmpty(): boolean {
    return this.#refused === undefined && this.#pauses.size === 0;
  }

  /** Takes in a call and its reply, which says whether the same call may follow. */
  take(witnessed: Witnessed): { pointless: boolean; early: Pause['seconds'] | undefined } {
    const { reply, world, delay, seen } = witnessed;
    const mark = markOf(witnessed);
    const sent = leaving(delay);
    const before = this.#sameRefusal(witnessed, mark);
    this.#refused =
      reply !== undefined && isFinal(reply)
        ? {
            mark,
            status: reply.status,
            version: versionOf(world.store),
            world,
            first: before?.first ?? sent,
            latest: performance.now(),
          }
        : undefined;
    const pointless = before !== undefined && seen.receivedAt >= before.first.at;
    return { pointless, early: this.#checkPause(witnessed, mark, sent) };
  }

  /** The refusal that the same call got before, from the same state. */
  #sameRefusal({ reply, world }: Witnessed, mark: string): Refusal | undefined {
    const refused = this.#refused;
    const isSame =
      refused?.mark === mark &&
      refused.status === reply?.status &&
      refused.version === versionOf(world.store) &&
      refused.world === world &&
      performance.now() - refused.latest < RETRY_WITHIN;
    return isSame ? refused : undefined;
  }

  /** @returns the seconds that were asked for, if the call did not wait for them */
  #checkPause(
    { seen, reply, world }: Witnessed,
    mark: string,
    sent: Leaving,
  ): Pause['seconds'] | undefined {
    const clock = world.clock.now();
    const pause = this.#pauses.get(mark);
    this.#pauses.delete(mark);
    const seconds = retryAfter(reply, clock);
    if (seconds !== undefined) this.#pause(mark, { until: clock + seconds * 1000, seconds, sent });
    if (pause === undefined || seen.receivedAt < pause.sent.at) return undefined;
    // Whoever waited by either clock has waited.
    const waited =
      clock >= pause.until || performance.now() >= pause.sent.at + pause.seconds * 1000;
    return waited ? undefined : pause.seconds;
  }

  #pause(mark: string, pause: Pause): void {
    if (this.#pauses.size >= MOST_PAUSES) {
      const [oldest = ''] = this.#pauses.keys();
      this.#pauses.delete(oldest);
    }
    this.#pauses.set(mark, pause);
  }
}

/**
 * When a reply that is about to be sent will have left. A call that is received later was made with
 * the reply at hand, whichever connection it takes; one received earlier was made at the same time.
 *
 * What reached the server before the reply left is read in this turn of the event loop or in the
 * next one, so the reply counts as sent after both.
 */
function leaving(delay: number): Leaving {
  if (delay > 0) return { at: performance.now() + delay };
  const sent = { at: Number.POSITIVE_INFINITY };
  setImmediate(() =>
    setImmediate(() => {
      sent.at = performance.now();
    }),
  );
  return sent;
}

/** Tells two calls apart, in a few characters however long they are. */
export function markOf({ seen, call }: Pick<Witnessed, 'seen' | 'call'>): string {
  const { authorization = '', body } = call;
  // Loaded for the first refusal: most servers start without it.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const hash = createHash('sha1');
  hash.update(`${seen.method} ${seen.target}\n${authorization}\n${body.kind}\n`);
  if (body.kind === 'bytes') hash.update(body.bytes);
  return hash.digest('base64');
}
