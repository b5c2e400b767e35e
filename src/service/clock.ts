import { turnTime } from './turn-time.ts';

/** Tells the time, in milliseconds since 1970-01-01T00:00:00Z. */
export interface Clock {
  now(): number;
  /** Whether this is the system time, so that Node can write the `Date` header. */
  readonly real: boolean;
}

/** The time of a clock, and whether it is frozen. */
export interface ClockSetting {
  /** In milliseconds since 1970; the system time by default. */
  readonly now?: number | undefined;
  readonly frozen?: boolean | undefined;
}

/** The state of a clock. */
export interface ClockState {
  /** Milliseconds ahead of the system time. */
  readonly ahead: number;
  /** The time at which it stands still. */
  readonly frozenAt: number | undefined;
}

/** The last instant with a four-digit year. */
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** A clock that can be set, moved and frozen. Starts with the system time. */
export class MovableClock implements Clock {
  #ahead = 0;
  #frozenAt: number | undefined;

  constructor(setting: ClockSetting = {}) {
    this.reset(setting);
  }

  /** Puts the clock in the state of a new one. */
  reset({ now, frozen = false }: ClockSetting): void {
    this.#ahead = now === undefined ? 0 : now - turnTime().wall;
    this.#frozenAt = frozen ? (now ?? turnTime().wall) : undefined;
  }

  get state(): ClockState {
    return { ahead: this.#ahead, frozenAt: this.#frozenAt };
  }

  /** Puts the clock in a state that it or another clock had. */
  restore({ ahead, frozenAt }: ClockState): void {
    this.#ahead = ahead;
    this.#frozenAt = frozenAt;
  }

  get real(): boolean {
    return this.#ahead === 0 && this.#frozenAt === undefined;
  }

  get frozen(): boolean {
    return this.#frozenAt !== undefined;
  }

  /** Stands still at the end of the year 9999: later instants have no RFC 3339 text. */
  now(): number {
    return this.#frozenAt ?? Math.min(turnTime().wall + this.#ahead, LATEST);
  }

  /** Sets the time, or freezes or unfreezes the clock at its current time. */
  set({ now = this.now(), frozen = this.frozen }: ClockSetting): void {
    this.#ahead = now - turnTime().wall;
    this.#frozenAt = frozen ? now : undefined;
  }

  /**
   * Moves the clock forward, or back if `milliseconds` is negative. A frozen clock stays frozen.
   *
   * @throws RangeError if the new time is not in the years 1970 to 9999
   */
  advance(milliseconds: number): void {
    const now = this.now() + milliseconds;
    if (!(now >= 0 && now <= LATEST)) throw new RangeError('The clock runs from 1970 to 9999.');
    this.set({ now });
  }
}
