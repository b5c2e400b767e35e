import { ASSUMPTION_IDS, type AssumptionId } from '../contract/assumption-table.ts';
import type { Checked } from '../scenario/checked-shape.ts';
import { listed } from '../words.ts';
import type { CheckTranscript, ProbeReply } from './check-transcript.ts';
import { PROBES } from './probe-table.ts';
import { isBreak, replyDifferences } from './reply-differences.ts';
import type { RequestName } from './request-names.ts';

/** What a check found out about an assumption. */
export type AssumptionVerdict = Checked['assumptions'][number];

/** Judges every assumption by the replies to a check. */
export function assumptionVerdicts(check: CheckTranscript): AssumptionVerdict[] {
  return ASSUMPTION_IDS.map((id) => ({ id, ...verdictOn(id, check) }));
}

function verdictOn(id: AssumptionId, check: CheckTranscript): Omit<AssumptionVerdict, 'id'> {
  const { requests, any, also = [], obstacle, options, other, saw } = PROBES[id];
  const open = (why: string) => ({ verdict: 'open', why }) as const;
  const unanswered = requests.filter((name) => check.get(name) === undefined);
  const isMissing = any ? unanswered.length === requests.length : unanswered.length > 0;
  if (isMissing) return open(whyUnanswered(unanswered, any, check));
  const isUnaffected = [...requests, ...also].some((name) => check.unaffected.has(name));
  if (isUnaffected && check.stale !== undefined) {
    return open(`a read may not show what was written: ${check.stale}`);
  }
  const why = obstacle?.(check);
  if (why !== undefined) return open(why);
  let names: string[] = [];
  const failures = check.failuresBehind(() => {
    names = Object.keys(options).filter((name) => options[name]?.(check));
  });
  const [option = other?.(check), second] = names;
  const replies = check.all(...requests, ...also);
  const sent = [...new Set(replies.map(String))].join('; ');
  const shown = saw?.(check) ?? sent;
  if (second !== undefined) return open(`${listed(names, 'and')} would both answer so: ${shown}`);
  if (option !== undefined) return { verdict: 'settled', option, why: sent };
  if (replies.some(isBroken)) return open(`the replies break the document: ${sent}`);
  return failures.length > 0
    ? open(failures.join('; '))
    : { verdict: 'none-of-the-options', why: shown };
}

function isBroken(reply: ProbeReply): boolean {
  const { operation } = reply.definition;
  return operation !== undefined && replyDifferences(reply, operation).some(isBreak);
}

function whyUnanswered(
  names: readonly RequestName[],
  any: true | undefined,
  check: CheckTranscript,
): string {
  const needs = names.map((name) => check.needsOf(name)).filter(({ length }) => length > 0);
  const needed = any
    ? listed([...new Set(needs.map((each) => listed(each, 'and')))], 'or')
    : listed([...new Set(needs.flat())], 'and');
  return [...check.failuresOf(names), ...(needed === '' ? [] : [`it needs ${needed}`])].join('; ');
}
