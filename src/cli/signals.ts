import { constants } from 'node:os';

/**
 * Milliseconds in which further signals count as the same request. Ctrl-C reaches every process of
 * the terminal, and `npx` and `npm run` then forward the signal that they got.
 */
const SAME_REQUEST = 250;

export type PassedSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGQUIT';

/** Handles the signals that ask this process to end, which then no longer end it. */
export class Signals {
  /** Resolve when the first and the second signal come. */
  readonly first: Promise<undefined>;
  readonly second: Promise<undefined>;
  #last: PassedSignal | undefined;

  constructor(signals: readonly PassedSignal[], take: (signal: PassedSignal) => void = () => {}) {
    const waiting: (() => void)[] = [];
    const next = () => new Promise<undefined>((resolve) => waiting.push(() => resolve(undefined)));
    [this.first, this.second] = [next(), next()];
    let lastAt = Number.NEGATIVE_INFINITY;
    for (const signal of signals) {
      process.on(signal, () => {
        const now = performance.now();
        if (now - lastAt <= SAME_REQUEST) return;
        lastAt = now;
        this.#last = signal;
        take(signal);
        waiting.shift()?.();
      });
    }
  }

  /** The exit code for the last signal; undefined if none came. */
  get exitCode(): number | undefined {
    return this.#last && signalExitCode(this.#last);
  }
}

/** The exit status of a process that a signal ended. */
export function signalExitCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
