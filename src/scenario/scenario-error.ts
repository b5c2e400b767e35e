import { ContentError } from '../read-text.ts';

/** A scenario that cannot be used. */
export class ScenarioError extends ContentError {
  override readonly name = 'ScenarioError';
}
