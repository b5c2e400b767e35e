import { turnTime } from './turn-time.ts';

/** Tells the time, in milliseconds since 1970-01-01T00:00:00Z. */
export interface Clock {
  now(): number;
  /** Whether this is the machine's own time, so that a reply's `Date` needs no help. */
  readonly real: boolean;
}

/** What a clock shows and whether it stands still, as it can be put back. */
export interface ClockSetting {
  /** The instant shown, in milliseconds since 1970; undefined: the machine's own time. */
  readonly now?: number | undefined;
  readonly frozen?: boolean | undefined;
}

/** The last instant that a date with a year of four digits can name. */
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** A clock that can be set, moved and stopped. It shows the machine's own time until then. */
export class MovableClock implements Clock {
  #ahead = 0;
  #frozenAt: number | undefined;

  constructor(setting: ClockSetting = {}) {
    this.reset(setting);
  }

  /** Starts again as a new clock of this setting would. */
  reset({ now, frozen = false }: ClockSetting): void {
    this.#ahead = now === undefined ? 0 : now - turnTime().wall;
    this.#frozenAt = frozen ? (now ?? turnTime().wall) : undefined;
  }

  get real(): boolean {
    return this.#ahead === 0 && this.#frozenAt === undefined;
  }

  get frozen(): boolean {
    return this.#frozenAt !== undefined;
  }

  now(): number {
    return this.#frozenAt ?? turnTime().wall + this.#ahead;
  }

  /** Shows another instant, or stops or starts the clock where it is. */
  set({ now = this.now(), frozen = this.frozen }: ClockSetting): void {
    this.#ahead = now - turnTime().wall;
    this.#frozenAt = frozen ? now : undefined;
  }

  /**
   * Moves the clock, back where `milliseconds` is negative; whether it stands still stays.
   *
   * @throws RangeError where that leads out of the years 1970 to 9999
   */
  advance(milliseconds: number): void {
    const now = this.now() + milliseconds;
    if (!(now >= 0 && now <= LATEST)) throw new RangeError('The clock runs from 1970 to 9999.');
    this.set({ now });
  }
}
