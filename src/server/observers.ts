import type { Observer } from '../core/control/journal/recorded-exchange.ts';
import type { Platform } from '../core/platform.ts';
import type { OnFinding } from '../core/sandbox/report-shapes.ts';
import { callback, type OptionsOf } from '../core/shape/option-kinds.ts';

export interface FinishedCall {
  readonly method: string;
  readonly target: string;
  readonly status: number;
  readonly at: number;
  /** Milliseconds up to the end of the reply. */
  readonly duration: number;
}

/** What a mock tells, wherever it runs. */
export const OBSERVERS = {
  Code: {
    /** Called after each exchange in any sandbox. */
    observe: callback<Parameters<Observer>>(),
    /** Called for each new finding. */
    onFinding: callback<Parameters<OnFinding>>(),
    /** Called with what the operator should know, such as what to do about clients that cannot connect. */
    onNotice: callback<[message: string]>(),
  },
};

export type Observers = OptionsOf<typeof OBSERVERS>;

/**
 * The options of a mock with each callback guarded. What one throws, or rejects with if it is async, is a
 * warning: the client has its reply all the same, and the mock goes on.
 */
export function guardCallbacks<Options extends object>(
  options: Options,
  { warn }: Platform,
): Options {
  const guard = (call: (...told: unknown[]) => unknown) => {
    return (...told: unknown[]): void => {
      try {
        const result = call(...told);
        if (result instanceof Promise) result.catch(warn);
      } catch (error) {
        warn(error);
      }
    };
  };
  const callbacks = Object.entries(options).filter(([, value]) => typeof value === 'function');
  const guarded = callbacks.map(([name, call]) => [name, guard(call)]);
  return Object.assign({}, options, Object.fromEntries(guarded));
}
