/** The most keys that are remembered: with `--any-key`, clients can invent any number. */
const MOST_KEYS = 1000;

/** The longest key that names its own window. A longer one is named by its hash. */
const LONGEST_NAME = 64;

/** The requests of a key since an instant. */
export interface RateWindow {
  /** By the clock of the sandbox, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly count: number;
}

/** By key; the one that was counted last is last. */
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
  const name = nameOf(key);
  const window = rates.get(name);
  rates.delete(name);
  if (window === undefined || now - window.startedAt >= length || now < window.startedAt) {
    rates.set(name, { startedAt: now, count: 1 });
    const [oldest = name] = rates.size > MOST_KEYS ? rates.keys() : [];
    if (oldest !== name) rates.delete(oldest);
    return { rates, wait: undefined };
  }
  const { startedAt, count } = window;
  rates.set(name, { startedAt, count: count + 1 });
  if (count < Number(most)) return { rates, wait: undefined };
  return { rates, wait: Math.max(1, Math.ceil((startedAt + length - now) / 1000)) };
}

function nameOf(key: string): string {
  if (key.length <= LONGEST_NAME) return key;
  // Loaded when needed, to keep the start fast.
  const { createHash } = process.getBuiltinModule('node:crypto');
  return createHash('sha256').update(key).digest('base64');
}
