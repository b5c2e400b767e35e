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
  readonly #windows = new Map<string, Window>();

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
    const window = this.#windows.get(key);
    if (window === undefined || now - window.startedAt >= length || now < window.startedAt) {
      this.#windows.delete(key);
      this.#windows.set(key, { startedAt: now, count: 1 });
      this.#forgetOldest();
      return undefined;
    }
    window.count += 1;
    if (window.count <= Number(most)) return undefined;
    return Math.max(1, Math.ceil((window.startedAt + length - now) / 1000));
  }

  #forgetOldest(): void {
    if (this.#windows.size <= MOST_KEYS) return;
    const oldest = this.#windows.keys().next();
    if (!oldest.done) this.#windows.delete(oldest.value);
  }
}
