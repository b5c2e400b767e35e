import { syncBuiltinESMExports } from 'node:module';
import hooks from 'node:perf_hooks';
import timers from 'node:timers';
import { onTestFinished, vi } from 'vitest';

/** Fakes timers until the test ends, also those that the server imports from Node's modules. */
export function useFakeTimers(options?: Parameters<typeof vi.useFakeTimers>[0]): void {
  const { clearInterval, clearTimeout, setInterval, setTimeout } = timers;
  const { performance } = hooks;
  vi.useFakeTimers(options);
  Object.assign(timers, {
    clearInterval: globalThis.clearInterval,
    clearTimeout: globalThis.clearTimeout,
    setInterval: globalThis.setInterval,
    setTimeout: globalThis.setTimeout,
  });
  Object.assign(hooks, { performance: globalThis.performance });
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(timers, { clearInterval, clearTimeout, setInterval, setTimeout });
    Object.assign(hooks, { performance });
    syncBuiltinESMExports();
    vi.useRealTimers();
  });
}
