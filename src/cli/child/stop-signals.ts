import { constants } from 'node:os';

/**
 * Milliseconds in which a repeated signal is the same one. Ctrl-C reaches every process that the
 * terminal started, and `npx` and `npm run` then pass on the one that they got.
 */
const SAME_SIGNAL = 250;

/** The two times at which somebody asks a server to stop. */
export interface StopSignals {
  /** Asked to stop: finish what is in flight. */
  readonly first: Promise<void>;
  /** Asked again, by who will not wait; the exit code that tells by which signal. */
  readonly second: Promise<number>;
}

/** Listens for SIGTERM and SIGINT, which no longer end the process by themselves. */
export function stopSignals(): StopSignals {
  let stop: () => void = () => {};
  let stopNow: (exitCode: number) => void = () => {};
  let firstAt: number | undefined;
  const onSignal = (signal: 'SIGTERM' | 'SIGINT') => {
    firstAt ??= performance.now();
    stop();
    if (performance.now() - firstAt > SAME_SIGNAL) stopNow(128 + constants.signals[signal]);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return {
    first: new Promise((resolve) => {
      stop = resolve;
    }),
    second: new Promise((resolve) => {
      stopNow = resolve;
    }),
  };
}
