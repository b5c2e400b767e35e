import type { Observer } from '../core/control/journal/exchange-text.ts';
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

/** What a callback throws becomes a warning: the client has its reply all the same, and the server goes on. */
export function guarded<Told extends readonly unknown[]>(
  callback: (...told: Told) => void,
  { warn }: Platform,
): (...told: Told) => void {
  return (...told) => {
    try {
      callback(...told);
    } catch (error) {
      warn(error);
    }
  };
}
