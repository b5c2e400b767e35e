import type { Clock } from './clock.ts';

/** Keys remembered at most: with `--any-key` a client could make them up without end. */
const MOST_KEYS = 10_000;

interface Window {
  readonly startedAt: number;
  count: number;
}

/** A limit as `rate-limit` spells it: a count for each second or minute. */
export type Rate = `${number}/${'s' | 'm'}`;

/** Counts the requests of each key in windows that start with the first request. */
export class RateLimiter {
  readonly #clock: Clock;
  /** Made with the first limit: most worlds have none. */
  #windows: Map<string, Window> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Counts one request.
   *
   * @returns undefined where it is within the limit, else the whole seconds until the next window
   */
  count(key: string, rate: Rate): number | undefined {
    const [most, unit] = rate.split('/');
    const length = unit === 's' ? 1000 : 60_000;
    const now = this.#clock.now();
    this.#windows ??= new Map();
    const windows = this.#windows;
    const window = windows.get(key);
    if (window === undefined || now - window.startedAt >= length || now < window.startedAt) {
      windows.delete(key);
      windows.set(key, { startedAt: now, count: 1 });
      forgetOldest(windows);
      return undefined;
    }
    window.count += 1;
    if (window.count <= Number(most)) return undefined;
    return Math.max(1, Math.ceil((window.startedAt + length - now) / 1000));
  }
}

function forgetOldest(windows: Map<string, Window>): void {
  if (windows.size <= MOST_KEYS) return;
  const oldest = windows.keys().next();
  if (!oldest.done) windows.delete(oldest.value);
}
