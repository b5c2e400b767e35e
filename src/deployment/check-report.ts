import { type AssumptionVerdict, assumptionVerdicts } from './assumption-verdicts.ts';
import type { CheckTranscript } from './check-transcript.ts';
import { hideKeys } from './hide-keys.ts';
import { isBreak } from './reply-differences.ts';
import { type ReplyVerdict, replyVerdicts } from './reply-verdicts.ts';

/** What a check found out. */
export interface CheckReport {
  readonly assumptions: readonly AssumptionVerdict[];
  readonly replies: readonly ReplyVerdict[];
}

/**
 * Judges the replies to a check.
 *
 * @param keys keys to mask: a deployment may repeat them
 */
export function checkReport(check: CheckTranscript, keys: readonly string[]): CheckReport {
  const hide = (text: string) => hideKeys(text, keys);
  const assumptions = assumptionVerdicts(check).map(({ why, ...verdict }) =>
    why === undefined ? verdict : { ...verdict, why: hide(why) },
  );
  const replies = replyVerdicts(check).map(({ differences, why, ...rest }) => {
    const verdict = why === undefined ? rest : { ...rest, why: hide(why) };
    if (differences === undefined) return verdict;
    const hidden = differences.map((it) => ({
      ...it,
      expected: hide(it.expected),
      found: hide(it.found),
      exchange: hide(it.exchange),
    }));
    return { ...verdict, differences: hidden };
  });
  return { assumptions, replies };
}

/** Whether the deployment breaks the document. */
export function isBroken({ replies }: CheckReport): boolean {
  return replies.some(({ differences = [] }) => differences.some(isBreak));
}
