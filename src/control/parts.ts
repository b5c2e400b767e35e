import type { Sandboxes } from '../sandbox/sandboxes.ts';
import type { ScenarioLibrary } from '../scenario/scenario-library.ts';
import type { Starter } from '../scenario/starter.ts';
import type { GuardOptions } from './guard.ts';

/** A call of the control API, once its reply was sent. */
export interface ControlCall {
  readonly method: string;
  readonly target: string;
  readonly status: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Milliseconds from the request to the end of the reply. */
  readonly duration: number;
}

/** What the control API works on. */
export interface ControlParts {
  readonly sandboxes: Sandboxes;
  /** Makes the start of a scenario that is chosen while the server runs. */
  readonly starter: Starter;
  readonly library: ScenarioLibrary;
  readonly guard: GuardOptions;
  /** Whether there is a control API beside `health`. */
  readonly enabled: boolean;
  /** Called for each call but those of `health`. */
  readonly onCall?: ((call: ControlCall) => void) | undefined;
}
