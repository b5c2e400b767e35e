import { ASSUMPTION_IDS } from '../../../core/contract/assumption-table.ts';
import { ASSUMPTION_NOTE, type AssumptionNote } from '../../../core/sandbox/report-shapes.ts';
import { object, required } from '../../../core/shape/objects.ts';
import { choice, list, type ValueOf } from '../../../core/shape/shapes.ts';

const { deployment, at, option, why } = ASSUMPTION_NOTE.members;

const VERDICT = object({
  id: required(choice(ASSUMPTION_IDS), 'Its id.'),
  verdict: required(choice(['settled', 'none-of-the-options', 'open']), 'What was found out.'),
  option,
  why,
});

export type AssumptionVerdict = ValueOf<typeof VERDICT>;

/** What `check --save` writes besides flags. */
export const SAVED_VERDICTS = object({
  deployment,
  at,
  assumptions: required(list(VERDICT), 'The verdicts.'),
});

export type SavedVerdicts = ValueOf<typeof SAVED_VERDICTS>;

export function createNotes({ assumptions, ...source }: SavedVerdicts) {
  return new Map(
    assumptions.map(({ id, ...verdict }): [string, AssumptionNote] => [
      id,
      { ...source, ...verdict },
    ]),
  );
}
