import { ASSUMPTION_IDS } from '../contract/assumption-table.ts';
import { DATE_TIME, FIELD_TYPES } from '../contract/records.ts';
import { object, optional, required } from '../shape/objects.ts';
import { ANY_TEXT, choice, list, text, type ValueOf } from '../shape/shapes.ts';

const OF_DEPLOYMENT = {
  deployment: required(ANY_TEXT, 'The base URL of the deployment.'),
  at: required(
    text(FIELD_TYPES.dateTime.expected, DATE_TIME, FIELD_TYPES.dateTime.schema),
    'When it was checked.',
  ),
};

const VERDICT = {
  verdict: required(choice(['settled', 'none-of-the-options', 'open']), 'What was found out.'),
  option: optional(ANY_TEXT, 'The option of the deployment, if it is settled.'),
  why: optional(
    ANY_TEXT,
    'The exchanges that show it, what was seen instead, or what the check would have needed.',
  ),
};

/** What `check --save` keeps of a check of a deployment. */
export const CHECKED = object({
  ...OF_DEPLOYMENT,
  assumptions: required(
    list(object({ id: required(choice(ASSUMPTION_IDS), 'Its id.'), ...VERDICT })),
    'The verdicts.',
  ),
});

/** What a check of a deployment found out about its assumptions. */
export type Checked = ValueOf<typeof CHECKED>;

/** The verdict of a check about one assumption. */
export const ASSUMPTION_VERDICT = object({ ...OF_DEPLOYMENT, ...VERDICT });

/** What a check found out about an assumption; undefined if it says nothing. */
export function verdictOn(
  id: string,
  checked: Checked | undefined,
): ValueOf<typeof ASSUMPTION_VERDICT> | undefined {
  const found = checked?.assumptions.find((it) => it.id === id);
  if (checked === undefined || found === undefined) return undefined;
  const { deployment, at } = checked;
  const { id: _, ...verdict } = found;
  return { deployment, at, ...verdict };
}
