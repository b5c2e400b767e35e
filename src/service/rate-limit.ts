import type { Clock } from './clock.ts';
import { type CountNotes, Counts } from './counts.ts';

/** The most keys that are remembered: with `--any-key`, clients can invent any number. */
const MOST_KEYS = 10_000;

/** The requests of a key since an instant. */
export interface RateWindow {
  readonly startedAt: number;
  readonly count: number;
}

/** A limit in the format of `rate-limit`: requests per second or minute. */
export type Rate = `${number}/${'s' | 'm'}`;

/** Counts the requests of each key in windows. A window starts with its first request. */
export class RateLimiter {
  /** By key; the window that started first is first. */
  readonly windows: Counts<RateWindow>;
  readonly #clock: Clock;

  constructor(clock: Clock, noting?: CountNotes) {
    this.#clock = clock;
    this.windows = new Counts(noting);
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
    const { windows } = this;
    const window = windows.get(key);
    if (window === undefined || now - window.startedAt >= length || now < window.startedAt) {
      windows.set(key, undefined);
      windows.set(key, { startedAt: now, count: 1 });
      const [oldest] = windows.size > MOST_KEYS ? windows.keys() : [];
      if (oldest !== undefined) windows.set(oldest, undefined);
      return undefined;
    }
    const { startedAt, count } = window;
    windows.set(key, { startedAt, count: count + 1 });
    if (count < Number(most)) return undefined;
    return Math.max(1, Math.ceil((startedAt + length - now) / 1000));
  }
}
