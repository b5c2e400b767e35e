/** Tells the time, in milliseconds since 1970-01-01T00:00:00Z. */
export interface Clock {
  readonly now: () => number;
  /** Whether this is the machine's own time, so that a reply's `Date` needs no help. */
  readonly real: boolean;
}

export const REAL_CLOCK: Clock = { now: Date.now, real: true };

/**
 * A clock that starts somewhere else, or stands still.
 *
 * @param from where it starts, in milliseconds since 1970; now where absent
 * @param frozen whether it stands still
 */
export function clockFrom(from: number | undefined, frozen: boolean): Clock {
  if (frozen) {
    const instant = from ?? Date.now();
    return { now: () => instant, real: false };
  }
  if (from === undefined) return REAL_CLOCK;
  const ahead = from - Date.now();
  return { now: () => Date.now() + ahead, real: false };
}
