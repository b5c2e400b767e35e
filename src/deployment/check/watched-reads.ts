import type { CheckTranscript } from './check-transcript.ts';
import { QUESTION_NAMES, type QuestionName } from './questions/names.ts';
import { QUESTIONS } from './questions/questions.ts';
import { isDisputed } from './verdicts.ts';

/** Seconds that a read may be behind a write: one that shows no effect earlier proves nothing. */
const MAX_LAG_S = 15;

/** Seconds for which lists that disagree are read again. */
const MAX_DISPUTE_S = 30;

/** The reads to send again, those that lack a prescribed effect first. */
export function listOpenReads(check: CheckTranscript): QuestionName[] {
  const open = QUESTION_NAMES.filter(
    (name) => (lacksEffect(name, check) || isDisputed(name, check)) && !isConclusive(name, check),
  );
  return [...new Set([...QUESTION_NAMES.filter((name) => isBehind(name, check)), ...open])];
}

/** Puts in doubt what reads seem to show, if one never showed what was written. */
export function doubtOpenReads(check: CheckTranscript): void {
  const stale = QUESTION_NAMES.find((name) => isBehind(name, check));
  if (stale === undefined) return;
  for (const name of listOpenReads(check)) {
    check.doubts.set(name, `a read may not show what was written: ${check.get(stale)}`);
  }
}

/** Whether a read did not yet show an effect that the document prescribes. */
function isBehind(name: QuestionName, check: CheckTranscript): boolean {
  const wasShown = findShownTime(name, check) !== undefined;
  return QUESTIONS[name].isShown !== undefined && isReadable(name, check) && !wasShown;
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
  const { sentAt = 0 } = check.get(name) ?? {};
  if (QUESTIONS[name].compares !== undefined) {
    const [first] = check.attempts(name);
    return sentAt - (first?.sentAt ?? 0) >= MAX_DISPUTE_S * 1000;
  }
  if (sentAt - findWriteTime(check) < MAX_LAG_S * 1000) return false;
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

/** When the last write was accepted, in milliseconds. */
function findWriteTime(check: CheckTranscript): number {
  const writes = check.everything.filter(({ isWrite }) => isWrite);
  return Math.max(0, ...writes.map(({ receivedAt }) => receivedAt));
}
