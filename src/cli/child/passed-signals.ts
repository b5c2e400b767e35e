/** Milliseconds in which a repeated signal is the same one, passed on by `npx` or `npm run` too. */
const SAME_SIGNAL = 250;

const PASSED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

export type PassedSignal = (typeof PASSED)[number];

/** Listens for signals that ask us to end, which no longer end us by themselves. */
export function onSignals(take: (signal: PassedSignal) => void): void {
  const lastAt = new Map<PassedSignal, number>();
  for (const signal of PASSED) {
    process.on(signal, () => {
      const now = performance.now();
      const last = lastAt.get(signal) ?? Number.NEGATIVE_INFINITY;
      if (now - last <= SAME_SIGNAL) return;
      lastAt.set(signal, now);
      take(signal);
    });
  }
}
