import { ASSUMPTION_IDS } from '../../contract/assumption-table.ts';
import { INSTANT_TEXT } from '../../scenario/settings-shapes.ts';
import { object, optional, required } from '../../shape/objects.ts';
import { ANY_TEXT, choice, list, type ValueOf } from '../../shape/shapes.ts';

const OF_DEPLOYMENT = {
  deployment: required(ANY_TEXT, 'The base URL of the deployment.'),
  at: required(INSTANT_TEXT, 'When it was checked.'),
};

const ASSUMPTION_VERDICTS = ['settled', 'none-of-the-options', 'open'] as const;

const REPLY_VERDICTS = ['as-documented', 'different', 'not-tried'] as const;

export type ReplyVerdictName = (typeof REPLY_VERDICTS)[number];
export type VerdictName = (typeof ASSUMPTION_VERDICTS)[number] | ReplyVerdictName;

/** The colours of verdicts in reports; none for those that call for nothing. */
export const VERDICT_TONES = {
  settled: undefined,
  'as-documented': undefined,
  open: 'grey',
  'not-tried': 'grey',
  'none-of-the-options': 'yellow',
  different: 'red',
} as const satisfies Record<VerdictName, string | undefined>;

/** Who stands in the reason of an open verdict if not the deployment kept the check from it. */
export const OTHER_CLIENT = 'another client';

/** Whether a verdict, also one that was read from a file, says that nothing was found out. */
export function isUnsettled(verdict: unknown): boolean {
  return verdict === 'open' || verdict === 'not-tried';
}

export function verdictText(verdict: string): string {
  return verdict.replaceAll('-', ' ');
}

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

export function verdictOn(
  id: string,
  checked: SavedVerdicts | undefined,
): ValueOf<typeof ASSUMPTION_VERDICT> | undefined {
  const found = checked?.assumptions.find((verdict) => verdict.id === id);
  if (checked === undefined || found === undefined) return undefined;
  const { deployment, at } = checked;
  const { id: _, ...verdict } = found;
  return { deployment, at, ...verdict };
}
