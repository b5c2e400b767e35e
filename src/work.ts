import { setImmediate } from 'node:timers/promises';

/** Work in steps. At each `yield`, other requests may go first. */
export type Work<T> = Generator<undefined, T>;

/** The length of a turn in milliseconds. Other requests go first after it. */
const TURN_MS = 5;

/** Does all steps at once. */
export function atOnce<T>(work: Work<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Does the steps in turns with other requests. */
export async function inTurns<T>(work: Work<T>): Promise<T> {
  let started = performance.now();
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (performance.now() - started < TURN_MS) continue;
    await setImmediate();
    started = performance.now();
  }
}
