export interface Instant {
  /** In milliseconds since 1970. */
  readonly wall: number;
  /** In milliseconds since 1970, by `steadyNow`. */
  readonly steady: number;
}

// Read when the module loads, because tests in the same process may fake the globals later.
const { timeOrigin } = performance;
const sinceOrigin = performance.now.bind(performance);

/** Milliseconds since 1970 by a clock that nobody sets. Servers of a fleet compare them. */
export function steadyNow(): number {
  return timeOrigin + sinceOrigin();
}

export function currentInstant(): Instant {
  return { wall: Date.now(), steady: steadyNow() };
}

export interface Clock {
  /** How far the clock is ahead of the system time, in milliseconds. */
  readonly ahead: number;
  /** Where a frozen clock stands, in milliseconds since 1970; undefined if it runs. */
  readonly frozenAt: number | undefined;
}

export interface ClockSetting {
  /** In milliseconds since 1970; if left out, the time that the clock shows now. */
  readonly now?: number | undefined;
  readonly frozen?: boolean | undefined;
}

export const REAL_CLOCK: Clock = { ahead: 0, frozenAt: undefined };

/** The last instant with a four-digit year. */
export const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

export function readClock({ ahead, frozenAt }: Clock, wall: number = Date.now()): number {
  return frozenAt ?? Math.min(wall + ahead, LATEST);
}

export function isReal({ ahead, frozenAt }: Clock): boolean {
  return ahead === 0 && frozenAt === undefined;
}

/** Undefined in place of false, so that the journal leaves the member out. */
export function isMoved(clock: Clock): true | undefined {
  return isReal(clock) ? undefined : true;
}

export function setClock(
  clock: Clock,
  { now, frozen = clock.frozenAt !== undefined }: ClockSetting,
  wall: number,
): Clock {
  const ahead =
    now === undefined && clock.frozenAt === undefined
      ? clock.ahead
      : (now ?? readClock(clock, wall)) - wall;
  const frozenAt = frozen ? (now ?? readClock(clock, wall)) : undefined;
  const isSame = frozenAt === clock.frozenAt && (frozen || ahead === clock.ahead);
  return isSame ? clock : { ahead, frozenAt };
}

/** Undefined if the new time is outside of 1970 to 9999. A frozen clock stays frozen. */
export function advanceClock(
  clock: Clock,
  milliseconds: number,
  wall: number,
  frozen?: boolean,
): Clock | undefined {
  const now = readClock(clock, wall) + milliseconds;
  return now >= 0 && now <= LATEST ? setClock(clock, { now, frozen }, wall) : undefined;
}
