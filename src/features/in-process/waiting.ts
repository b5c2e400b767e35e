/**
 * Calls back once a signal aborts; at once if it has aborted.
 *
 * @returns what cancels the callback
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
  return () => signal.removeEventListener('abort', act);
}

/** Rejects with the reason of the signal once it aborts, as `fetch` does. */
export function untilAborted<T>(signal: AbortSignal, result: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = onAbort(signal, () => reject(signal.reason));
    result.then(resolve, reject).finally(cancel);
  });
}

/** Waits by the timers of the page or the test, which may be fake. Rejects as `untilAborted` does. */
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
