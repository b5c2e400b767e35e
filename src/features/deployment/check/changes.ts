import { isObject } from '../../../core/json.ts';
import { OTHER_CLIENT } from './facets.ts';
import { TOO_SLOW } from './probe-sender.ts';
import type { CheckReport } from './report.ts';

export function verdictText(verdict: string): string {
  return verdict.replaceAll('-', ' ');
}

/** A difference from an earlier check, or something that could not be settled again. */
export interface CheckChange {
  readonly subject: string;
  readonly before: string;
  readonly after: string;
  readonly why?: string;
  /** Whether it makes the check fail. */
  readonly fails: boolean;
}

/**
 * Lists what changed since an earlier check. What that one had left open does not count.
 *
 * @param allowUnsettled whether this check may leave open what the earlier one had settled
 */
export function listChanges(
  earlier: EarlierCheck,
  report: CheckReport,
  allowUnsettled: boolean,
): CheckChange[] {
  const verdicts = readVerdicts({ ...report }) ?? [];
  return verdicts.flatMap(({ subject, verdict: after, isSettled, why }) => {
    const before = earlier.get(subject);
    if (before === undefined || before === after) return [];
    const reason = isSettled || why === undefined ? {} : { why };
    const isExcused =
      allowUnsettled || [OTHER_CLIENT, TOO_SLOW].some((reason) => why?.includes(reason));
    return [{ subject, before, after, ...reason, fails: isSettled || !isExcused }];
  });
}

export type EarlierCheck = ReadonlyMap<string, string>;

/** @returns undefined if the value is neither a saved config nor a report */
export function readEarlierCheck(saved: unknown): EarlierCheck | undefined {
  if (!isObject(saved)) return undefined;
  const { assume, checked } = saved;
  const verdicts = readVerdicts(isObject(checked) ? { replies: [], ...checked } : saved);
  if (verdicts !== undefined) {
    const settled = verdicts.filter(({ isSettled }) => isSettled);
    return new Map(settled.map(({ subject, verdict }) => [subject, verdict]));
  }
  if (!isObject(assume)) return undefined;
  return new Map(Object.entries(assume).map(([id, option]) => [id, String(option)]));
}

function readVerdicts({ assumptions, replies }: Readonly<Record<string, unknown>>) {
  if (!Array.isArray(assumptions) || !Array.isArray(replies)) return undefined;
  return [...assumptions, ...replies]
    .filter(isObject)
    .map(({ id, operation, status, verdict, option, why }) => ({
      subject: String(id ?? `${operation} ${status}`),
      verdict: String(option ?? verdictText(String(verdict))),
      isSettled: verdict !== 'open' && verdict !== 'not-tried',
      why: typeof why === 'string' ? why : undefined,
    }));
}
