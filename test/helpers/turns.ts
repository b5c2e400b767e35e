/** Waits for a promise and counts the turns of the event loop that others had meanwhile. */
export async function turnsBeside<T>(
  promise: Promise<T>,
): Promise<{ readonly result: T; readonly turns: number }> {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const result = await promise.finally(() => clearImmediate(next));
  return { result, turns };
}
