import { isDeepStrictEqual } from 'node:util';
import {
  ASSUMPTION_IDS,
  type AssumptionId,
  isOption,
} from '../../../core/contract/assumption-table.ts';
import { operationShape } from '../../../core/contract/operations.ts';
import { DOCUMENTED_REPLIES } from '../../../core/contract/possible-replies.ts';
import { joinWords } from '../../../core/words.ts';
import { type Deviation, distinct, isViolation, replyDifferences } from '../deployment-reply.ts';
import {
  type AssumptionVerdict,
  type CheckReport,
  OTHER_CLIENT,
  type ReplyVerdict,
} from './check-report.ts';
import type { CheckTranscript, ProbeReply } from './check-transcript.ts';
import { QUESTION_NAMES, type QuestionName } from './questions/names.ts';
import type { OptionForm, Settlement } from './questions/question.ts';
import {
  findSettlement,
  listQuestions,
  QUESTIONS,
  replyName,
  ruledReply,
} from './questions/questions.ts';

export function createCheckReport(check: CheckTranscript): CheckReport {
  const { minWaitSeconds } = check;
  return {
    assumptions: ASSUMPTION_IDS.map((id) => ({ id, ...judgeAssumption(id, check) })),
    replies: judgeReplies(check),
    holdsForLag: Number.isFinite(minWaitSeconds) ? Math.floor(minWaitSeconds) : undefined,
  };
}

/** The share of the assumptions that a check has to settle to say anything about a deployment. */
const MIN_SETTLED_SHARE = 1 / 4;

export function findShortfall({ assumptions }: CheckReport): number | undefined {
  const wanted = Math.ceil(assumptions.length * MIN_SETTLED_SHARE);
  const { length } = assumptions.filter(({ verdict }) => verdict === 'settled');
  return length < wanted ? wanted : undefined;
}

export function reportsViolation({ replies }: CheckReport): boolean {
  return replies.some(({ differences = [] }) => differences.some(isViolation));
}

function judgeAssumption(id: AssumptionId, check: CheckTranscript): Omit<AssumptionVerdict, 'id'> {
  const settlement = findSettlement(id);
  const { by = [], from = [], values: readValues, nothing } = settlement;
  const open = (why: string) => ({ verdict: 'open', why }) as const;
  const obstacle = findObstacle(settlement, check);
  if (obstacle) return open(obstacle);
  const replies = check.all(...(by.length > 0 ? by : from));
  const values = [...new Set(readValues?.(check) ?? replies.map(({ status }) => `${status}`))];
  const names = listQuestions(settlement);
  const evidence = check.all(...names);
  const sent = [...new Set(evidence.map(String))].join('; ');
  if (values.length === 0 && nothing !== undefined) return open(`${nothing} (${sent})`);
  const options = matchingOptions(settlement, values, replies, check);
  const [option, second] = options;
  const shown = readValues === undefined ? sent : `found ${values.slice(0, 5).join(', ')}: ${sent}`;
  if (second !== undefined) {
    return open(`${joinWords(options, 'and')} would both answer so: ${shown}`);
  }
  if (option !== undefined) return { verdict: 'settled', option, why: sent };
  if (evidence.some(hasViolation)) return open(`the replies break the document: ${sent}`);
  if (names.some((name) => isMoving(name, check))) return open(`${OTHER_CLIENT} writes: ${shown}`);
  const failures = check.listFailures(names).join('; ');
  return failures === '' ? { verdict: 'none-of-the-options', why: shown } : open(failures);
}

/** What another client writes between two reads makes them disagree once, not again in the same way. */
export function isDisputed(name: QuestionName, check: CheckTranscript): boolean {
  const { compares, settles } = QUESTIONS[name];
  const reply = check.get(name);
  if (compares === undefined || reply === undefined) return false;
  const isUnexplained =
    settles && judgeAssumption(settles, check).verdict === 'none-of-the-options';
  return isUnexplained || findRuleDifferences(reply, check).length > 0;
}

function isMoving(name: QuestionName, check: CheckTranscript): boolean {
  if (QUESTIONS[name].compares === undefined) return false;
  const [before, last] = check.attempts(name).slice(-2);
  const isSame = isDeepStrictEqual([before?.beside, before?.json], [last?.beside, last?.json]);
  return last !== undefined && !isSame;
}

function findObstacle(settlement: Settlement, check: CheckTranscript): string | false | undefined {
  const { by = [], from = [], any, obstacle } = settlement;
  const isMissing = (name: QuestionName) => check.get(name) === undefined;
  const isEnough = any && !by.every(isMissing);
  const unanswered = [...from, ...(isEnough ? [] : by)].filter(isMissing);
  if (unanswered.length > 0) return explainUnanswered(unanswered, any ? 'or' : 'and', check);
  const doubt = listQuestions(settlement).find((name) => check.doubts.has(name));
  if (doubt !== undefined) return check.doubts.get(doubt);
  const unread = from.find((name) => {
    const reply = check.get(name);
    return (reply?.records ?? reply?.id) === undefined;
  });
  return unread === undefined ? obstacle?.(check) : check.whyUnknown(unread);
}

function explainUnanswered(
  names: readonly QuestionName[],
  last: 'and' | 'or',
  check: CheckTranscript,
): string {
  const needs = names.map((name) => check.needs.get(name) ?? []);
  const each = last === 'and' ? needs.flat() : needs.flatMap((all) => joinWords(all, 'and') || []);
  const needed = joinWords([...new Set(each)], last);
  return [...check.listFailures(names), ...(needed === '' ? [] : [`it needs ${needed}`])].join(
    '; ',
  );
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
  return Object.entries<OptionForm>(options).flatMap(([name, form]) => {
    const isLike =
      form instanceof RegExp
        ? values.every((value) => form.test(value))
        : replies.every((reply) => form(reply, check));
    return isLike ? [name] : [];
  });
}

function hasViolation(reply: ProbeReply): boolean {
  return findBodyDifferences(reply).some(isViolation);
}

/** Judges every documented reply, and the Errors with other statuses that break the document. */
function judgeReplies(check: CheckTranscript): ReplyVerdict[] {
  const replies = check.everything;
  const deviations = replies.flatMap((reply) => findDifferences(reply, check));
  const subjects = [...DOCUMENTED_REPLIES, ...replies.flatMap(findOtherViolation)];
  const byName = new Map(subjects.map((subject) => [replyName(subject), subject]));
  return [...byName].map(([name, { operation, status }]) => {
    const differences = distinct(
      deviations.flatMap(({ about, ...difference }) => (about === name ? difference : [])),
    );
    const verdict = { operation, status, ...(differences.length > 0 && { differences }) };
    if (differences.some(isViolation)) return { ...verdict, verdict: 'different' };
    const isSeen = replies.some((reply) => replyName(reply) === name);
    if (isSeen) return { ...verdict, verdict: 'as-documented' };
    const names = QUESTION_NAMES.filter((question) => replyName(QUESTIONS[question]) === name);
    const why = [...check.listFailures(names), ...check.all(...names).map(String)].join('; ');
    return { ...verdict, verdict: 'not-tried', ...(why && { why }) };
  });
}

/** An Error that breaks the document with a status that it does not show. */
function findOtherViolation(reply: ProbeReply) {
  const { operation, status, question } = reply;
  if (operation === undefined || question.status !== undefined) return [];
  const isDocumented = status in operationShape(operation).replies;
  return isDocumented || !hasViolation(reply) ? [] : [{ operation, status }];
}

function findDifferences(reply: ProbeReply, check: CheckTranscript) {
  const question = QUESTIONS[reply.name];
  const about = (name: string | undefined, differences: readonly Deviation[]) =>
    differences.map((difference) => ({ ...difference, exchange: String(reply), about: name }));
  return [
    ...about(replyName(question), findWrongStatus(reply, check)),
    ...about(replyName(reply), findBodyDifferences(reply)),
    ...about(ruledReply(question), findRuleDifferences(reply, check)),
  ];
}

function findWrongStatus(reply: ProbeReply, check: CheckTranscript): Deviation[] {
  const { name, status } = reply;
  const { status: prescribed, excuse } = QUESTIONS[name];
  const isExpected = prescribed === undefined || status === prescribed;
  if (isExpected || excuse?.(reply, check)) return [];
  return [{ where: 'status', expected: `${prescribed}`, found: `${status}` }];
}

function findBodyDifferences(reply: ProbeReply): readonly Deviation[] {
  return reply.operation === undefined ? [] : replyDifferences(reply, reply.operation);
}

/** How a reply breaks the rules of its question: at every attempt in the same way, if it compares. */
function findRuleDifferences(reply: ProbeReply, check: CheckTranscript): readonly Deviation[] {
  const { rules = [], compares } = QUESTIONS[reply.name];
  // What cannot be read breaks every rule about its records.
  const isReadable = !findBodyDifferences(reply).some(
    ({ where, at = '$' }) => /body|type/.test(where) && at === '$',
  );
  if (!reply.accepted || !isReadable) return [];
  const apply = (attempt: ProbeReply) => rules.flatMap((rule) => rule(attempt, check));
  const attempts = compares === undefined ? [] : check.attempts(reply.name);
  return attempts.reduce((found, attempt) => {
    const again = apply(attempt);
    return found.filter((one) => again.some((other) => isDeepStrictEqual(one, other)));
  }, apply(reply));
}
