/**
 * Calls `act` when a signal aborts, or at once if it has aborted.
 *
 * @returns a function that cancels this
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
  return () => signal.removeEventListener('abort', act);
}

/** Rejects like `fetch` with the reason of the signal when it aborts. */
export function untilAborted<T>(signal: AbortSignal, result: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = onAbort(signal, () => reject(signal.reason));
    result.then(resolve, reject).finally(cancel);
  });
}

/** Waits by the global timers, which a test may fake. Rejects like `untilAborted`. */
export function delay(signal: AbortSignal, milliseconds: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      cancel();
      resolve();
    }, milliseconds);
    const cancel = onAbort(signal, () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
