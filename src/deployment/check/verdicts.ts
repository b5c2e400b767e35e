import { ASSUMPTION_IDS, type AssumptionId, isOption } from '../../contract/assumption-table.ts';
import { DOCUMENTED_REPLIES } from '../../contract/cases.ts';
import { type OperationId, operationShape } from '../../contract/operations.ts';
import { joinWords } from '../../words.ts';
import { type Deviation, distinct, isBreak, replyDifferences } from '../deployment-reply.ts';
import { QUESTIONS, questionsOf, replyName, ruledReply, settlementOf } from './all-questions.ts';
import type { CheckTranscript, ProbeReply } from './check-transcript.ts';
import type { Form, Settlement } from './question.ts';
import { QUESTION_NAMES, type QuestionName } from './question-names.ts';
import type { ReplyVerdictName, SavedVerdicts } from './verdict-shapes.ts';

/** What a check found out. */
export interface CheckReport {
  readonly assumptions: readonly AssumptionVerdict[];
  readonly replies: readonly ReplyVerdict[];
}

/** What a check found out about an assumption. */
export type AssumptionVerdict = SavedVerdicts['assumptions'][number];

/** Something about a reply that differs from the document, and the request that got it. */
export interface Difference extends Deviation {
  /** The request, and the status of its reply. */
  readonly exchange: string;
}

/** Whether a deployment follows what the document says of a reply. */
export interface ReplyVerdict {
  readonly operation: OperationId;
  readonly status: number;
  readonly verdict: ReplyVerdictName;
  /** How it differs, and values that the document does not list. */
  readonly differences?: readonly Difference[];
  /** Why no request got a reply that could be judged, if any was sent. */
  readonly why?: string;
}

/** Judges the replies to a check. */
export function checkReport(check: CheckTranscript): CheckReport {
  return {
    assumptions: ASSUMPTION_IDS.map((id) => ({ id, ...judgeAssumption(id, check) })),
    replies: judgeReplies(check),
  };
}

/** Whether the deployment breaks the document. */
export function isBroken({ replies }: CheckReport): boolean {
  return replies.some(({ differences = [] }) => differences.some(isBreak));
}

function judgeAssumption(id: AssumptionId, check: CheckTranscript): Omit<AssumptionVerdict, 'id'> {
  const settlement = settlementOf(id);
  const { by = [], from = [], values: valuesIn, nothing } = settlement;
  const open = (why: string) => ({ verdict: 'open', why }) as const;
  const obstacle = obstacleTo(settlement, check);
  if (obstacle) return open(obstacle);
  const replies = check.all(...(by.length > 0 ? by : from));
  const values = [...new Set(valuesIn?.(check) ?? replies.map(({ status }) => `${status}`))];
  const names = questionsOf(settlement);
  const evidence = check.all(...names);
  const sent = [...new Set(evidence.map(String))].join('; ');
  if (values.length === 0 && nothing !== undefined) return open(`${nothing} (${sent})`);
  const options = matchingOptions(settlement, values, replies, check);
  const [option, second] = options;
  const shown = valuesIn === undefined ? sent : `found ${values.slice(0, 5).join(', ')}: ${sent}`;
  if (second !== undefined) {
    return open(`${joinWords(options, 'and')} would both answer so: ${shown}`);
  }
  if (option !== undefined) return { verdict: 'settled', option, why: sent };
  if (evidence.some(hasBroken)) return open(`the replies break the document: ${sent}`);
  const failures = check.failuresOf(names).join('; ');
  return failures === '' ? { verdict: 'none-of-the-options', why: shown } : open(failures);
}

/** Why what was received cannot settle an assumption, if so. */
function obstacleTo(settlement: Settlement, check: CheckTranscript): string | false | undefined {
  const { by = [], from = [], any, obstacle } = settlement;
  const isMissing = (name: QuestionName) => check.get(name) === undefined;
  const isEnough = any && !by.every(isMissing);
  const unanswered = [...from, ...(isEnough ? [] : by)].filter(isMissing);
  if (unanswered.length > 0) return whyUnanswered(unanswered, any ? 'or' : 'and', check);
  if (check.stale !== undefined && questionsOf(settlement).some((it) => check.unaffected.has(it))) {
    return `a read may not show what was written: ${check.stale}`;
  }
  const unread = from.find((name) => {
    const reply = check.get(name);
    return (reply?.records ?? reply?.id) === undefined;
  });
  return unread === undefined ? obstacle?.(check) : check.whyUnknown(unread);
}

function whyUnanswered(names: readonly QuestionName[], last: 'and' | 'or', check: CheckTranscript) {
  const needs = names.map((name) => check.needs.get(name) ?? []);
  const each = last === 'and' ? needs.flat() : needs.flatMap((all) => joinWords(all, 'and') || []);
  const needed = joinWords([...new Set(each)], last);
  return [...check.failuresOf(names), ...(needed === '' ? [] : [`it needs ${needed}`])].join('; ');
}

function matchingOptions(
  { settles, options }: Settlement,
  values: readonly string[],
  replies: readonly ProbeReply[],
  check: CheckTranscript,
): string[] {
  if (options === undefined) {
    return values.filter((value) => values.length === 1 && isOption(settles, value));
  }
  return Object.entries<Form>(options).flatMap(([name, form]) => {
    const isLike =
      form instanceof RegExp
        ? values.every((value) => form.test(value))
        : replies.every((reply) => form(reply, check));
    return isLike ? [name] : [];
  });
}

function hasBroken(reply: ProbeReply): boolean {
  return documentDifferences(reply).some(isBreak);
}

function documentDifferences(reply: ProbeReply): readonly Deviation[] {
  return reply.operation === undefined ? [] : replyDifferences(reply, reply.operation);
}

/** Judges every documented reply, and the Errors with other statuses that break the document. */
function judgeReplies(check: CheckTranscript): ReplyVerdict[] {
  const replies = check.everything;
  const deviations = replies.flatMap((reply) => differencesIn(reply, check));
  const subjects = [...DOCUMENTED_REPLIES, ...replies.flatMap(otherBreak)];
  const byName = new Map(subjects.map((it) => [replyName(it), it]));
  return [...byName].map(([name, { operation, status }]) => {
    const differences = distinct(
      deviations.flatMap(({ about, ...it }) => (about === name ? it : [])),
    );
    const verdict = { operation, status, ...(differences.length > 0 && { differences }) };
    if (differences.some(isBreak)) return { ...verdict, verdict: 'different' };
    const isSeen = replies.some((it) => replyName(it) === name);
    if (isSeen) return { ...verdict, verdict: 'as-documented' };
    const names = QUESTION_NAMES.filter((it) => replyName(QUESTIONS[it]) === name);
    const why = check.failuresOf(names).join('; ');
    return { ...verdict, verdict: 'not-tried', ...(why !== '' && { why }) };
  });
}

/** An Error that breaks the document with a status that it does not show. */
function otherBreak(reply: ProbeReply) {
  const { operation, status, question } = reply;
  if (operation === undefined || question.status !== undefined) return [];
  return status in operationShape(operation).replies || !hasBroken(reply)
    ? []
    : [{ operation, status }];
}

/** The differences that a reply shows, each with the documented reply that it is about. */
function differencesIn(reply: ProbeReply, check: CheckTranscript) {
  const question = QUESTIONS[reply.name];
  const found = documentDifferences(reply);
  // What cannot be read breaks every rule about its records.
  const isReadable = !found.some(({ where, at = '$' }) => /body|type/.test(where) && at === '$');
  const rules = reply.accepted && isReadable ? (question.rules ?? []) : [];
  const about = (name: string | undefined, differences: readonly Deviation[]) =>
    differences.map((it) => ({ ...it, exchange: String(reply), about: name }));
  return [
    ...about(replyName(question), wrongStatus(reply, check)),
    ...about(replyName(reply), [...found, ...fractions(reply)]),
    ...rules.flatMap((rule) => about(ruledReply(question), rule(reply, check))),
  ];
}

/** Integers that are written with a fraction or an exponent, which many clients cannot read. */
function fractions({ body, json }: ProbeReply): Deviation[] {
  if (json === undefined) return [];
  const numbers = body.toString().replaceAll(/"(?:[^"\\]|\\.)*"/g, '');
  const [found] = /-?\d+(?:\.0+(?!\d)|(?:\.\d+)?[eE][+-]?\d+)/.exec(numbers) ?? [];
  if (found === undefined) return [];
  const expected = 'integers without a fraction or an exponent';
  return [{ where: 'type', at: '$', expected, found }];
}

/** A status that neither the document prescribes nor an assumption explains. */
function wrongStatus(reply: ProbeReply, check: CheckTranscript): Deviation[] {
  const { name, status } = reply;
  const { status: prescribed, excuse } = QUESTIONS[name];
  if (prescribed === undefined || status === prescribed || excuse?.(reply, check)) return [];
  return [{ where: 'status', expected: `${prescribed}`, found: `${status}` }];
}
