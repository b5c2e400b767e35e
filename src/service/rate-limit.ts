/** The most keys that are remembered: with `--any-key`, clients can invent any number. */
const MOST_KEYS = 1000;

/** The requests of a key since an instant. */
export interface RateWindow {
  /** By the clock of the sandbox, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly count: number;
}

/** By key; the window that started first is first. */
export type RateWindows = ReadonlyMap<string, RateWindow>;

export const NO_RATES: RateWindows = new Map();

/** A limit in the format of `rate-limit`: requests per second or minute. */
export type Rate = `${number}/${'s' | 'm'}`;

/** A counted request. */
export interface RateCount {
  readonly rates: RateWindows;
  /** Undefined within the limit, else the seconds until the next window, rounded up. */
  readonly wait: number | undefined;
}

/** Counts a request of a key. A window starts with its first request. */
export function countRequest(before: RateWindows, key: string, rate: Rate, now: number): RateCount {
  const [most, unit] = rate.split('/');
  const length = unit === 's' ? 1000 : 60_000;
  const rates = new Map(before);
  const window = rates.get(key);
  if (window === undefined || now - window.startedAt >= length || now < window.startedAt) {
    rates.delete(key);
    rates.set(key, { startedAt: now, count: 1 });
    const [oldest = key] = rates.size > MOST_KEYS ? rates.keys() : [];
    if (oldest !== key) rates.delete(oldest);
    return { rates, wait: undefined };
  }
  const { startedAt, count } = window;
  rates.set(key, { startedAt, count: count + 1 });
  if (count < Number(most)) return { rates, wait: undefined };
  return { rates, wait: Math.max(1, Math.ceil((startedAt + length - now) / 1000)) };
}
