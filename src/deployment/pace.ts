import { setTimeout } from 'node:timers/promises';

/** Reads the time and waits. Tests replace it, so that none has to wait. */
export interface Time {
  /** In milliseconds; only differences count. */
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<unknown>;
}

const REAL_TIME: Time = { now: () => performance.now(), wait: (ms) => setTimeout(ms) };

/** Spreads requests evenly, so that no more than `rate` start in a second. */
export class Pace {
  readonly #interval: number;
  readonly #time: Time;
  #next = Number.NEGATIVE_INFINITY;

  constructor(rate: number, time: Time = REAL_TIME) {
    this.#interval = 1000 / rate;
    this.#time = time;
  }

  /** Resolves when the next request may start. Callers are served in order. */
  async turn(): Promise<void> {
    const now = this.#time.now();
    const at = Math.max(now, this.#next);
    this.#next = at + this.#interval;
    if (at > now) await this.#time.wait(at - now);
  }

  /** Lets no request start for this many milliseconds. */
  rest(milliseconds: number): void {
    this.#next = Math.max(this.#next, this.#time.now() + milliseconds);
  }
}
