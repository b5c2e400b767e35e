import { setImmediate } from 'node:timers/promises';

/** Milliseconds of work after which other requests go first. */
const TURN_MS = 5;

/**
 * Splits long work so that other requests are answered in between.
 *
 * @example for (const record of records) { if (turns.over) await turns.next(); … }
 */
export class Turns {
  #started = performance.now();

  /** Whether this turn has taken long enough. */
  get over(): boolean {
    return performance.now() - this.#started > TURN_MS;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#started = performance.now();
  }
}
