import { ASSUMPTION_IDS } from '../contract/assumption-table.ts';
import { INSTANT_TEXT } from '../scenario/settings-shapes.ts';
import { object, optional, required } from '../shape/objects.ts';
import { ANY_TEXT, choice, list, type ValueOf } from '../shape/shapes.ts';

const OF_DEPLOYMENT = {
  deployment: required(ANY_TEXT, 'The base URL of the deployment.'),
  at: required(INSTANT_TEXT, 'When it was checked.'),
};

const ASSUMPTION_VERDICTS = ['settled', 'none-of-the-options', 'open'] as const;

const VERDICT = {
  verdict: required(choice(ASSUMPTION_VERDICTS), 'What was found out.'),
  option: optional(ANY_TEXT, 'The option of the deployment, if it is settled.'),
  why: optional(
    ANY_TEXT,
    'The exchanges that show it, what was seen instead, or what the check would have needed.',
  ),
};

export const SAVED_VERDICTS = object({
  ...OF_DEPLOYMENT,
  assumptions: required(
    list(object({ id: required(choice(ASSUMPTION_IDS), 'Its id.'), ...VERDICT })),
    'The verdicts.',
  ),
});

export type SavedVerdicts = ValueOf<typeof SAVED_VERDICTS>;

export const ASSUMPTION_VERDICT = object({ ...OF_DEPLOYMENT, ...VERDICT });

export function findVerdict(
  id: string,
  checked: SavedVerdicts | undefined,
): ValueOf<typeof ASSUMPTION_VERDICT> | undefined {
  const found = checked?.assumptions.find((verdict) => verdict.id === id);
  if (checked === undefined || found === undefined) return undefined;
  const { deployment, at } = checked;
  const { id: _, ...verdict } = found;
  return { deployment, at, ...verdict };
}
