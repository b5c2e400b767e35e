import type { Clock } from './clock.ts';

/** The most keys that are remembered: with `--any-key`, clients can invent any number. */
const MOST_KEYS = 10_000;

interface Window {
  readonly startedAt: number;
  count: number;
}

/** A limit in the format of `rate-limit`: requests per second or minute. */
export type Rate = `${number}/${'s' | 'm'}`;

/** Counts the requests of each key in windows. A window starts with its first request. */
export class RateLimiter {
  readonly #clock: Clock;
  /** Created when needed: most worlds have no limit. */
  #windows: Map<string, Window> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Counts one request.
   *
   * @returns undefined within the limit, else the seconds until the next window, rounded up
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
      const [oldest] = windows.keys();
      if (windows.size > MOST_KEYS && oldest !== undefined) windows.delete(oldest);
      return undefined;
    }
    window.count += 1;
    if (window.count <= Number(most)) return undefined;
    return Math.max(1, Math.ceil((window.startedAt + length - now) / 1000));
  }
}
