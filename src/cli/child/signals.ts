import { signalExitCode } from './ending.ts';

/**
 * Milliseconds in which further signals count as the same request. Ctrl-C reaches every process of
 * the terminal, and `npx` and `npm run` then forward the signal that they got.
 */
const SAME_REQUEST = 250;

const PASSED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

export type PassedSignal = (typeof PASSED)[number];

/** Handles the signals that ask a process to end; they no longer end it by themselves. */
export function onSignals(
  take: (signal: PassedSignal) => void,
  signals: readonly PassedSignal[] = PASSED,
): void {
  let lastAt = Number.NEGATIVE_INFINITY;
  for (const signal of signals) {
    process.on(signal, () => {
      const now = performance.now();
      if (now - lastAt <= SAME_REQUEST) return;
      lastAt = now;
      take(signal);
    });
  }
}

/** The two requests to stop a server. */
export interface StopSignals {
  /** Stop, and finish what is in flight. */
  readonly first: Promise<void>;
  /** Stop at once; resolves to the exit code for that signal. */
  readonly second: Promise<number>;
}

/** Handles SIGTERM and SIGINT. */
export function stopSignals(): StopSignals {
  let stop: (() => void) | undefined;
  let stopNow: (exitCode: number) => void = () => {};
  const first = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const second = new Promise<number>((resolve) => {
    stopNow = resolve;
  });
  onSignals(
    (signal) => {
      if (stop === undefined) return stopNow(signalExitCode(signal));
      stop();
      stop = undefined;
    },
    ['SIGTERM', 'SIGINT'],
  );
  return { first, second };
}
