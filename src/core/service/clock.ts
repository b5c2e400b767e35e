export interface Instant {
  /** In milliseconds since 1970. */
  readonly wall: number;
  /** By `steadyNow`. */
  readonly steady: number;
}

// Taken when this is loaded: a test in the same process may fake the globals.
const { timeOrigin } = performance;
const sinceOrigin = performance.now.bind(performance);

/** By a clock that nobody sets, in milliseconds since 1970: servers of a fleet compare instants. */
export function steadyNow(): number {
  return timeOrigin + sinceOrigin();
}

export function currentInstant(): Instant {
  return { wall: Date.now(), steady: steadyNow() };
}

export interface Clock {
  /** Milliseconds ahead of the system time. */
  readonly ahead: number;
  /** When it stands still, in milliseconds since 1970. */
  readonly frozenAt: number | undefined;
}

export interface ClockSetting {
  /** In milliseconds since 1970; by default, the current time of the clock. */
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

/** Undefined rather than false: a journal leaves it out. */
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

/** Undefined if the new time is not in the years 1970 to 9999. By default, a frozen clock stays so. */
export function advanceClock(
  clock: Clock,
  milliseconds: number,
  wall: number,
  frozen?: boolean,
): Clock | undefined {
  const now = readClock(clock, wall) + milliseconds;
  return now >= 0 && now <= LATEST ? setClock(clock, { now, frozen }, wall) : undefined;
}
