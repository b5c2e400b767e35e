import { ASSUMPTION_IDS } from '../../../core/contract/assumption-table.ts';
import type { AssumptionNote } from '../../../core/sandbox/report-shapes.ts';
import { INSTANT_TEXT } from '../../../core/scenario/settings-shapes.ts';
import { object, optional, required } from '../../../core/shape/objects.ts';
import { ANY_TEXT, choice, list, type ValueOf } from '../../../core/shape/shapes.ts';

const VERDICT = object({
  id: required(choice(ASSUMPTION_IDS), 'Its id.'),
  verdict: required(choice(['settled', 'none-of-the-options', 'open']), 'What was found out.'),
  option: optional(ANY_TEXT, 'The option of the deployment, if it is settled.'),
  why: optional(ANY_TEXT, 'The exchanges that show it, or what was seen or missing instead.'),
});

export type AssumptionVerdict = ValueOf<typeof VERDICT>;

/** What `check --save` writes besides flags. */
export const SAVED_VERDICTS = object({
  deployment: required(ANY_TEXT, 'The base URL of the deployment.'),
  at: required(INSTANT_TEXT, 'When it was checked.'),
  assumptions: required(list(VERDICT), 'The verdicts.'),
});

export type SavedVerdicts = ValueOf<typeof SAVED_VERDICTS>;

export function createNotes({ deployment, at, assumptions }: SavedVerdicts) {
  return new Map(
    assumptions.map(({ id, ...verdict }): [string, AssumptionNote] => [
      id,
      { deployment, at, ...verdict },
    ]),
  );
}
