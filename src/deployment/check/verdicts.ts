import { isDeepStrictEqual } from 'node:util';
import { ASSUMPTION_IDS, type AssumptionId, isOption } from '../../contract/assumption-table.ts';
import { DOCUMENTED_REPLIES } from '../../contract/cases.ts';
import { type OperationId, operationShape } from '../../contract/operations.ts';
import { joinWords } from '../../words.ts';
import { type Deviation, distinct, isBreak, replyDifferences } from '../deployment-reply.ts';
import type { CheckTranscript, ProbeReply } from './check-transcript.ts';
import {
  findSettlement,
  listQuestions,
  QUESTIONS,
  replyName,
  ruledReply,
} from './questions/index.ts';
import { QUESTION_NAMES, type QuestionName } from './questions/names.ts';
import type { Form, Settlement } from './questions/question.ts';
import { OTHER_CLIENT, type ReplyVerdictName, type SavedVerdicts } from './verdict-shapes.ts';

export interface CheckReport {
  readonly assumptions: readonly AssumptionVerdict[];
  readonly replies: readonly ReplyVerdict[];
  /** Two replies to one request that are from unlike servers. */
  readonly unlike?: string | undefined;
  /** How long after a write, in seconds, reads did not show it. */
  readonly lag?: number | undefined;
  /** For a lag of how many seconds the verdicts hold that say that a write had no effect. */
  readonly holdsForLag?: number | undefined;
}

type AssumptionVerdict = SavedVerdicts['assumptions'][number];

/** Something about a reply that differs from the document, and the request that got it. */
export interface Difference extends Deviation {
  readonly exchange: string;
}

interface ReplyVerdict {
  readonly operation: OperationId;
  readonly status: number;
  readonly verdict: ReplyVerdictName;
  /** How it differs, and values that the document does not list. */
  readonly differences?: readonly Difference[];
  /** Why no request got a reply that could be judged, if any was sent. */
  readonly why?: string;
}

export function checkReport(check: CheckTranscript): CheckReport {
  const { lag, waited } = check;
  const seconds = check.withSeconds();
  const verdicts = ASSUMPTION_IDS.map((id) => ({ id, ...judgeAssumption(id, check) }));
  const others = verdicts.map(({ id, option }) => {
    const other = judgeAssumption(id, seconds);
    const isSame = option === undefined || [option, undefined].includes(other.option);
    if (isSame) return undefined;
    return `${id}=${option} by one reply and ${other.option} by the next: ${other.why}`;
  });
  const unlike = check.unlike ?? others.find((text) => text !== undefined);
  const assumptions = verdicts.map((verdict, at): AssumptionVerdict => {
    const { id, option } = verdict;
    const isSure = unlike === undefined || (option !== undefined && isAskedTwice(id, check));
    if (verdict.verdict === 'open' || (isSure && others[at] === undefined)) return verdict;
    const why = `the deployment answers a request in two ways: ${others[at] ?? unlike}`;
    return { id, verdict: 'open', why };
  });
  return {
    assumptions,
    replies: judgeReplies(check),
    unlike,
    lag: lag > 0 ? Math.ceil(lag) : undefined,
    holdsForLag: Number.isFinite(waited) ? Math.floor(waited) : undefined,
  };
}

function isAskedTwice(id: AssumptionId, check: CheckTranscript): boolean {
  return listQuestions(findSettlement(id)).some((name) => check.seconds.has(name));
}

/** The share of the assumptions that a check has to settle to say anything about a deployment. */
const MIN_SETTLED_SHARE = 1 / 4;

/** How many assumptions a check should have settled, if it settled fewer. */
export function findShortfall({ assumptions }: CheckReport): number | undefined {
  const wanted = Math.ceil(assumptions.length * MIN_SETTLED_SHARE);
  const { length } = assumptions.filter(({ verdict }) => verdict === 'settled');
  return length < wanted ? wanted : undefined;
}

export function isBroken({ replies }: CheckReport): boolean {
  return replies.some(({ differences = [] }) => differences.some(isBreak));
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
  if (evidence.some(hasBroken)) return open(`the replies break the document: ${sent}`);
  if (names.some((name) => isMoving(name, check))) return open(`${OTHER_CLIENT} writes: ${shown}`);
  const failures = check.listFailures(names).join('; ');
  return failures === '' ? { verdict: 'none-of-the-options', why: shown } : open(failures);
}

/**
 * Whether a reply and the list that it is compared with disagree. What another client writes between
 * two reads makes them disagree once, and not again in the same way.
 */
export function isDisputed(name: QuestionName, check: CheckTranscript): boolean {
  const { compares, settles } = QUESTIONS[name];
  const reply = check.get(name);
  if (compares === undefined || reply === undefined) return false;
  const isUnexplained =
    settles && judgeAssumption(settles, check).verdict === 'none-of-the-options';
  return isUnexplained || ruleDifferences(reply, check).length > 0;
}

/** Whether two attempts at a comparison met other records. */
function isMoving(name: QuestionName, check: CheckTranscript): boolean {
  if (QUESTIONS[name].compares === undefined) return false;
  const [before, last] = check.attempts(name).slice(-2);
  const isSame = isDeepStrictEqual([before?.beside, before?.json], [last?.beside, last?.json]);
  return last !== undefined && !isSame;
}

/** Why what was received cannot settle an assumption, if so. */
function findObstacle(settlement: Settlement, check: CheckTranscript): string | false | undefined {
  const { by = [], from = [], any, obstacle } = settlement;
  const isMissing = (name: QuestionName) => check.get(name) === undefined;
  const isEnough = any && !by.every(isMissing);
  const unanswered = [...from, ...(isEnough ? [] : by)].filter(isMissing);
  if (unanswered.length > 0) return whyUnanswered(unanswered, any ? 'or' : 'and', check);
  const doubt = listQuestions(settlement).find((name) => check.doubts.has(name));
  if (doubt !== undefined) return check.doubts.get(doubt);
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
  const replies = [...check.everything, ...check.seconds.values()];
  const deviations = replies.flatMap((reply) => findDifferences(reply, check));
  const subjects = [...DOCUMENTED_REPLIES, ...replies.flatMap(findOtherBreak)];
  const byName = new Map(subjects.map((subject) => [replyName(subject), subject]));
  return [...byName].map(([name, { operation, status }]) => {
    const differences = distinct(
      deviations.flatMap(({ about, ...difference }) => (about === name ? difference : [])),
    );
    const verdict = { operation, status, ...(differences.length > 0 && { differences }) };
    if (differences.some(isBreak)) return { ...verdict, verdict: 'different' };
    const isSeen = replies.some((reply) => replyName(reply) === name);
    if (isSeen) return { ...verdict, verdict: 'as-documented' };
    const names = QUESTION_NAMES.filter((question) => replyName(QUESTIONS[question]) === name);
    const rival = names.includes('cancel') ? check.rival : undefined;
    const why = check.listFailures(names).join('; ') || rival;
    return { ...verdict, verdict: 'not-tried', ...(why && { why }) };
  });
}

/** An Error that breaks the document with a status that it does not show. */
function findOtherBreak(reply: ProbeReply) {
  const { operation, status, question } = reply;
  if (operation === undefined || question.status !== undefined) return [];
  return status in operationShape(operation).replies || !hasBroken(reply)
    ? []
    : [{ operation, status }];
}

/** The differences that a reply shows, each with the documented reply that it is about. */
function findDifferences(reply: ProbeReply, check: CheckTranscript) {
  const question = QUESTIONS[reply.name];
  const isSecond = check.seconds.get(reply.name) === reply;
  const about = (name: string | undefined, differences: readonly Deviation[]) =>
    differences.map((difference) => ({ ...difference, exchange: String(reply), about: name }));
  return [
    ...about(replyName(question), findWrongStatus(reply, check)),
    ...about(replyName(reply), [...documentDifferences(reply), ...findFractions(reply)]),
    ...(isSecond ? [] : about(ruledReply(question), ruleDifferences(reply, check))),
  ];
}

/** How a reply breaks the rules of its question: at every attempt in the same way, if it compares. */
function ruleDifferences(reply: ProbeReply, check: CheckTranscript): readonly Deviation[] {
  const { rules = [], compares } = QUESTIONS[reply.name];
  // What cannot be read breaks every rule about its records.
  const isReadable = !documentDifferences(reply).some(
    ({ where, at = '$' }) => /body|type/.test(where) && at === '$',
  );
  if (!reply.accepted || !isReadable || check.cached.has(reply.name)) return [];
  const apply = (attempt: ProbeReply) => rules.flatMap((rule) => rule(attempt, check));
  const attempts = compares === undefined ? [] : check.attempts(reply.name);
  return attempts.reduce((found, attempt) => {
    const again = apply(attempt);
    return found.filter((one) => again.some((other) => isDeepStrictEqual(one, other)));
  }, apply(reply));
}

/** Integers that are written with a fraction or an exponent, which many clients cannot read. */
function findFractions({ body, json }: ProbeReply): Deviation[] {
  if (json === undefined) return [];
  const numbers = body.toString().replaceAll(/"(?:[^"\\]|\\.)*"/g, '');
  const [found] = /-?\d+(?:\.0+(?!\d)|(?:\.\d+)?[eE][+-]?\d+)/.exec(numbers) ?? [];
  if (found === undefined) return [];
  const expected = 'integers without a fraction or an exponent';
  return [{ where: 'type', at: '$', expected, found }];
}

/** A status that neither the document prescribes nor an assumption explains. */
function findWrongStatus(reply: ProbeReply, check: CheckTranscript): Deviation[] {
  const { name, status } = reply;
  const { status: prescribed, excuse } = QUESTIONS[name];
  const isOpen = prescribed === undefined || check.cached.has(name);
  if (isOpen || status === prescribed || excuse?.(reply, check)) return [];
  return [{ where: 'status', expected: `${prescribed}`, found: `${status}` }];
}
