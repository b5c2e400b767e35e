import type { Observer } from '../core/control/journal/recorded-exchange.ts';
import type { Platform } from '../core/platform.ts';
import type { OnFinding } from '../core/sandbox/report-shapes.ts';
import { callback, type OptionsOf } from '../core/shape/option-kinds.ts';

export interface FinishedCall {
  readonly method: string;
  readonly target: string;
  readonly status: number;
  readonly at: number;
  /** Milliseconds until the end of the reply. */
  readonly duration: number;
}

/** Callbacks that every mock has, on a port or not. */
export const OBSERVERS = {
  Code: {
    /** Called after each exchange in any sandbox. */
    observe: callback<Parameters<Observer>>(),
    /** Called for each new finding. */
    onFinding: callback<Parameters<OnFinding>>(),
    /** Called with messages for the operator, such as why a client cannot connect. */
    onNotice: callback<[message: string]>(),
  },
};

export type Observers = OptionsOf<typeof OBSERVERS>;

/**
 * Returns the options with guarded callbacks: an error or a rejection becomes a warning. The client
 * has its reply anyway, and the mock goes on.
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
