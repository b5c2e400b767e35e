import { vi } from 'vitest';

/** The most steps in a turn of 5 ms while `turnsBeside` counts. */
export const STEPS_A_TURN = 5;

/**
 * Counts the turns of the event loop that others get during some work. Each reading of the clock
 * takes a millisecond, so the number of steps decides the count, not the machine's speed.
 */
export async function turnsBeside<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly turns: number }> {
  let now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 1;
    return now;
  });
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  try {
    return { result: await work(), turns };
  } finally {
    clearImmediate(next);
    clock.mockRestore();
  }
}
