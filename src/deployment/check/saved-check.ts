import type { Choices } from '../../contract/assumption-table.ts';
import { isObject } from '../../contract/records.ts';
import type { CheckTranscript } from './check-transcript.ts';
import { isUnsettled, OTHER_CLIENT, verdictText } from './verdict-shapes.ts';
import type { CheckReport } from './verdicts.ts';

/** Clocks that differ by less than this count as equal. */
const MAX_CLOCK_DIFFERENCE_MS = 10 * 60 * 1000;

/** The config file with which a mock answers as the deployment does, as far as that was settled. */
export function createConfig(
  { assumptions }: CheckReport,
  check: CheckTranscript,
  deployment: string,
  now = Date.now(),
) {
  const settled = assumptions.flatMap(({ id, option }) => (option ? [[id, option]] : []));
  const assume: Partial<Choices> = Object.fromEntries(settled);
  const isMock = check.get('pets100')?.header('mock-basis') !== undefined;
  const clock = check.clock ?? now;
  return {
    assume,
    ...(isMock ? {} : { plain: true }),
    ...(Math.abs(clock - now) < MAX_CLOCK_DIFFERENCE_MS
      ? {}
      : { clock: new Date(clock).toISOString() }),
    checked: { deployment, at: new Date(now).toISOString(), assumptions },
  };
}

/** What changed in a deployment since an earlier check, or could not be settled again. */
export interface CheckChange {
  readonly subject: string;
  readonly before: string;
  readonly after: string;
  readonly why?: string;
  /** Whether the check fails by it. */
  readonly fails: boolean;
}

/**
 * Compares a check with an earlier one. What only this one could settle has not changed.
 *
 * @param allowUnsettled whether this one may leave open what the earlier one settled
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
    const isExcused = allowUnsettled || why?.includes(OTHER_CLIENT) === true;
    return [{ subject, before, after, ...reason, fails: isSettled || !isExcused }];
  });
}

/** The verdicts of a check by subject, except open ones. */
export type EarlierCheck = ReadonlyMap<string, string>;

/**
 * Reads the verdicts from a saved config or a report.
 *
 * @returns undefined if a value is neither
 */
export function readEarlierCheck(saved: unknown): EarlierCheck | undefined {
  if (!isObject(saved)) return undefined;
  if (isObject(saved.assume)) {
    return new Map(Object.entries(saved.assume).map(([id, option]) => [id, String(option)]));
  }
  const settled = readVerdicts(saved)?.filter(({ isSettled }) => isSettled);
  return settled && new Map(settled.map(({ subject, verdict }) => [subject, verdict]));
}

/** The verdicts in a report, which may have been read from a file. */
function readVerdicts({ assumptions, replies }: Readonly<Record<string, unknown>>) {
  if (!Array.isArray(assumptions) || !Array.isArray(replies)) return undefined;
  return [...assumptions, ...replies]
    .filter(isObject)
    .map(({ id, operation, status, verdict, option, why }) => ({
      subject: String(id ?? `${operation} ${status}`),
      verdict: String(option ?? verdictText(String(verdict))),
      isSettled: !isUnsettled(verdict),
      why: typeof why === 'string' ? why : undefined,
    }));
}
