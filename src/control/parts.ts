import type { Sandboxes } from '../sandbox/sandboxes.ts';
import type { ScenarioLibrary } from '../scenario/scenario-library.ts';
import type { Starter } from '../scenario/starter.ts';
import type { GuardOptions } from './guard.ts';

/** What the control API works on. */
export interface ControlParts {
  readonly sandboxes: Sandboxes;
  /** Makes the start of a scenario that is chosen while the server runs. */
  readonly starter: Starter;
  readonly library: ScenarioLibrary;
  readonly guard: GuardOptions;
  /** Whether there is a control API beside `health`. */
  readonly enabled: boolean;
}
