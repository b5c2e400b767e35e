import type { Sandboxes } from '../sandbox/sandboxes.ts';
import type { ScenarioLibrary } from '../scenario/scenario-library.ts';
import type { Starter } from '../scenario/starter.ts';
import type { GuardOptions } from './guard.ts';

/** A finished call of the control API. */
export interface ControlCall {
  readonly method: string;
  readonly target: string;
  readonly status: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** In milliseconds, up to the end of the reply. */
  readonly duration: number;
}

/** What the control API controls. */
export interface ControlParts {
  readonly sandboxes: Sandboxes;
  /** Creates the start for scenarios that are chosen while the server runs. */
  readonly starter: Starter;
  readonly library: ScenarioLibrary;
  readonly guard: GuardOptions;
  /** If false, only `health` is available. */
  readonly enabled: boolean;
  /** Called for each call except `health`. */
  readonly onCall?: ((call: ControlCall) => void) | undefined;
}
