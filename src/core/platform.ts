import { isObject } from './json.ts';

/** What the core needs from its environment: timers, shipped files, and a place for warnings. */
export interface Platform {
  /**
   * Calls `act` once, and returns a function that cancels it. Node does not exit before: a client
   * is waiting, and its socket or else the timer keeps the process alive.
   */
  readonly after: (milliseconds: number, act: () => void) => () => void;
  /** Calls `act` at each interval, without keeping Node alive. Returns how to cancel. */
  readonly every: (milliseconds: number, act: () => void) => () => void;
  /** Yields to other work between two pieces of a long task. */
  readonly pause: () => Promise<void>;
  /** The text of a file that ships with the package, such as `scenarios/slow.yaml`. */
  readonly shippedText: (file: string) => string;
  /** Reports a bug of the mock or of a callback. Never throws, and ends no process. */
  readonly warn: (thrown: unknown) => void;
}

/** A platform of web standards only. A server has its own, whose timers no test can fake. */
export const WEB_PLATFORM: Omit<Platform, 'shippedText'> = {
  after: (milliseconds, act) => {
    const timer = setTimeout(act, milliseconds);
    return () => clearTimeout(timer);
  },
  every: (milliseconds, act) => {
    const timer = setInterval(act, milliseconds);
    letExit(timer);
    return () => clearInterval(timer);
  },
  pause: () => new Promise((resolve) => setTimeout(resolve)),
  // biome-ignore lint/suspicious/noConsole: a rejection or `reportError` can end a process
  warn: (thrown) => console.warn(thrown),
};

/** Lets Node exit before the timer fires. In browsers a timer is a number. */
function letExit(timer: unknown): void {
  if (isObject(timer) && typeof timer.unref === 'function') timer.unref();
}
