import { isObject } from './json.ts';

/** What the core takes from outside: timers, texts, and a place for warnings. */
export interface Platform {
  /**
   * Calls `act` once. Returns how to cancel. A client waits for it: its socket keeps the process alive, or else the timer
   * does, as a `fetch` under way would.
   */
  readonly after: (milliseconds: number, act: () => void) => () => void;
  /** Calls `act` again and again. Keeps no process alive. Returns how to cancel. */
  readonly every: (milliseconds: number, act: () => void) => () => void;
  /** Lets other work go on between two pieces of a long one. */
  readonly pause: () => Promise<void>;
  /** The text of a file that ships with the package, such as `scenarios/slow.yaml`. */
  readonly shippedText: (file: string) => string;
  /** Tells the operator of a bug, of the mock or of a callback. Never throws, and ends no process. */
  readonly warn: (thrown: unknown) => void;
}

/** By web standards alone. A server has its own, which fake timers of a test do not stop. */
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

/** Lets the process exit before a timer. No web standard has that: the timer of a browser is a number. */
function letExit(timer: unknown): void {
  if (isObject(timer) && typeof timer.unref === 'function') timer.unref();
}
