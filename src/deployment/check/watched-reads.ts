import { readCaching } from '../deployment-reply.ts';
import type { CheckTranscript } from './check-transcript.ts';
import { QUESTIONS } from './questions/index.ts';
import { QUESTION_NAMES, type QuestionName } from './questions/names.ts';
import { isDisputed } from './verdicts.ts';

/** Seconds that a read may be behind a write: one that shows no effect earlier proves nothing. */
const MAX_LAG_S = 15;

/** Seconds for which lists that disagree are read again: most caches that tell no age keep less. */
const MAX_DISPUTE_S = 30;

/** Seconds that a check waits for a cached reply to expire. */
const MAX_CACHED_S = 60;

/** The reads to send again, those that lack a prescribed effect first. */
export function listOpenReads(check: CheckTranscript): QuestionName[] {
  const open = QUESTION_NAMES.filter(
    (name) => (lacksEffect(name, check) || isDisputed(name, check)) && !isConclusive(name, check),
  );
  return [...new Set([...QUESTION_NAMES.filter((name) => isBehind(name, check)), ...open])];
}

/** Seconds for which a cache may go on answering as before; 0 if that is too long to wait. */
export function cachedFor(name: QuestionName, check: CheckTranscript): number {
  const { age, maxAge } = findCaching(name, check);
  const left = maxAge - (age ?? elapsedSeconds(name, check)) + 1;
  return maxAge === 0 || left > MAX_CACHED_S ? 0 : left;
}

/** Whether an attempt at a read showed what the document says that writes before it did. */
export function wasShown(name: QuestionName, check: CheckTranscript): boolean {
  return findShownTime(name, check) !== undefined;
}

/** Tells the transcript what the reads prove, once none is sent again. */
export function concludeReads(check: CheckTranscript): void {
  const stale = QUESTION_NAMES.find((name) => isBehind(name, check));
  for (const name of listOpenReads(check)) {
    if (!isFresh(name, check)) {
      check.cached.add(name);
      check.doubts.set(name, `a cache may have answered: ${check.get(name)}`);
    } else if (stale !== undefined) {
      check.doubts.set(name, `a read may not show what was written: ${check.get(stale)}`);
    }
  }
  for (const name of QUESTION_NAMES) {
    const [first, ...others] = check.attempts(name);
    if (first === undefined) continue;
    const shownAt = findShownTime(name, check) ?? 0;
    const late = [first, ...others].findLast(({ receivedAt }) => receivedAt < shownAt);
    const since = QUESTIONS[name].compares ? first.sentAt : findWriteTime(check, first.sentAt);
    if (late) check.lag = Math.max(check.lag, (late.receivedAt - since) / 1000);
    if (lacksEffect(name, check))
      check.waited = Math.min(check.waited, elapsedSeconds(name, check));
  }
}

function isBehind(name: QuestionName, check: CheckTranscript): boolean {
  return QUESTIONS[name].isShown !== undefined && isReadable(name, check) && !wasShown(name, check);
}

/** Whether a reply does not show what writes before it may have done. */
function lacksEffect(name: QuestionName, check: CheckTranscript): boolean {
  return isReadable(name, check) && QUESTIONS[name].isAffected?.(check) === false;
}

/** A reply that cannot be read shows nothing. */
function isReadable(name: QuestionName, check: CheckTranscript): boolean {
  const reply = check.get(name);
  return reply !== undefined && !(reply.accepted && !(reply.records ?? reply.record));
}

/** Whether no later read can show more: it was sent late enough, and after every prescribed effect. */
function isConclusive(name: QuestionName, check: CheckTranscript): boolean {
  const isCompared = QUESTIONS[name].compares !== undefined;
  const enough = isCompared ? MAX_DISPUTE_S : MAX_LAG_S;
  if (elapsedSeconds(name, check) < enough || !isFresh(name, check)) return false;
  if (isCompared) return true;
  const { sentAt = 0 } = check.get(name) ?? {};
  return QUESTION_NAMES.every((other) => {
    const isPrescribed = other !== name && QUESTIONS[other].isShown !== undefined;
    const isAsked = check.get(other) !== undefined;
    return !isPrescribed || !isAsked || (findShownTime(other, check) ?? sentAt) < sentAt;
  });
}

/** When a read first showed what the document prescribes. */
function findShownTime(name: QuestionName, check: CheckTranscript): number | undefined {
  const { isShown } = QUESTIONS[name];
  return check.attempts(name).find((reply) => isShown?.(reply, check))?.receivedAt;
}

/** Whether no cache can have made a reply before the writes that it has to show. */
function isFresh(name: QuestionName, check: CheckTranscript): boolean {
  const { age, maxAge } = findCaching(name, check);
  return elapsedSeconds(name, check) >= (age === undefined ? maxAge : age + 1);
}

function findCaching(name: QuestionName, check: CheckTranscript) {
  return readCaching(check.get(name) ?? { headers: [] });
}

/** Seconds from the last write, or from the first attempt at a comparison, until a read was sent. */
function elapsedSeconds(name: QuestionName, check: CheckTranscript): number {
  const { sentAt = 0 } = check.get(name) ?? {};
  const [first] = QUESTIONS[name].compares ? check.attempts(name) : [];
  return (sentAt - (first?.sentAt ?? findWriteTime(check))) / 1000;
}

/** When the last write was accepted, in milliseconds; those that were repeated count once. */
function findWriteTime(check: CheckTranscript, before = Number.POSITIVE_INFINITY): number {
  const times = QUESTION_NAMES.flatMap((name) => {
    const [write] = check.attempts(name);
    return write?.isWrite && write.receivedAt <= before ? write.receivedAt : [];
  });
  return Math.max(0, ...times);
}
