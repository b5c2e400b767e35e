import { type DeploymentClient, DeploymentError, isServerFailure } from '../deployment-client.ts';
import { SAFE_METHODS } from '../transport.ts';
import { CheckTranscript, createProbeReply, type ProbeReply } from './check-transcript.ts';
import { QUESTION_NAMES, type QuestionName } from './questions/names.ts';
import type { CheckOptions } from './questions/question.ts';
import { listNeeds, QUESTIONS } from './questions/questions.ts';
import { isDisputed } from './verdicts.ts';

export type Sender = Pick<DeploymentClient, 'send' | 'time'>;

/** Consecutive requests without an answer, after which a check looks whether the deployment is there. */
const MAX_FAILURES = 3;

/** Seconds before each repetition of reads that do not show what was expected. */
const RETRY_WAITS_S = [2, 4, 9, 15];

const UNKNOWN_KEY = 'petstore-mock-check-unknown-key';

/**
 * @param progress called before each request, with what it is for and the share that is done
 * @throws DeploymentError if the deployment cannot be reached, refuses the key or answers nothing
 */
export async function runCheck(
  client: Sender,
  options: CheckOptions,
  progress: (text: string, share: number) => void = () => {},
): Promise<CheckTranscript> {
  const run = new CheckRun(client, options);
  for (const [at, name] of QUESTION_NAMES.entries()) {
    await run.ask(name, (text) => progress(text, at / QUESTION_NAMES.length));
  }
  await run.repeat((text) => progress(text, 1));
  const { transcript } = run;
  const isAnswered = transcript.everything.some(({ request }) => request.key === undefined);
  if (isAnswered) return transcript;
  throw new DeploymentError(
    `no request got an answer from the service: ${transcript.whyUnknown('pets100')}`,
  );
}

class CheckRun {
  readonly transcript = new CheckTranscript();
  readonly #client: Sender;
  readonly #options: CheckOptions;
  #failures = 0;
  #end: string | undefined;

  constructor(client: Sender, options: CheckOptions) {
    this.#client = client;
    this.#options = options;
  }

  async ask(name: QuestionName, progress: (text: string) => void): Promise<void> {
    const { transcript } = this;
    const needed = listNeeds(name, this.#options);
    if (needed.length > 0) return void transcript.needs.set(name, needed);
    if (this.#end !== undefined) return void transcript.failures.set(name, this.#end);
    const { needs, why } = QUESTIONS[name];
    if (needs !== undefined && this.#findNeed(name) === undefined) {
      const { after, description } = needs;
      const isRead = after === undefined || transcript.get(after)?.records !== undefined;
      if (isRead) transcript.needs.set(name, [description]);
      else transcript.failures.set(name, transcript.whyUnknown(after));
      return;
    }
    progress(why);
    await this.#send(name);
    const reply = transcript.get(name);
    if (name === QUESTION_NAMES[0]) requireAccess(reply);
    if (isDisputed(name, transcript)) await this.#sendAgain(name);
    this.#failures = reply === undefined ? this.#failures + 1 : 0;
    if (this.#failures > 0 && this.#failures % MAX_FAILURES === 0) {
      // Whether only some operations fail, or the deployment answers no more; throws if it is gone.
      const found = await this.#exchange(QUESTION_NAMES[0]);
      if (typeof found === 'string') this.#end = found;
    }
  }

  /** Sends reads again until they show the effects of writes, or certainly never will. */
  async repeat(progress: (text: string) => void): Promise<void> {
    let waitedSeconds = 0;
    for (const seconds of RETRY_WAITS_S) {
      const open = listOpenReads(this.transcript);
      if (open.length === 0) break;
      progress(`waiting ${seconds} s for the effect of writes`);
      await this.#client.time.wait(seconds * 1000);
      waitedSeconds += seconds;
      for (const name of open) await this.#sendAgain(name, waitedSeconds);
    }
    concludeReads(this.transcript);
  }

  async #sendAgain(name: QuestionName, waitedSeconds = 0): Promise<void> {
    const { compares } = QUESTIONS[name];
    if (compares !== undefined) await this.#send(compares, waitedSeconds);
    await this.#send(name, waitedSeconds);
  }

  async #send(name: QuestionName, waitedSeconds = 0): Promise<void> {
    const { transcript } = this;
    const { each, times, spares } = QUESTIONS[name];
    const found: (ProbeReply | string)[] = [];
    if (times !== undefined) {
      await this.#client.time.wait(1100); // no earlier request counts in the second of the burst
      const burst = Array.from({ length: times }, () => this.#exchange(name));
      found.push(...(await Promise.all(burst)));
    } else {
      for (const order of each === undefined ? [undefined] : (this.#options[each] ?? [])) {
        const spared = order === undefined ? undefined : spares?.(transcript, order);
        found.push(spared ?? (await this.#exchange(name, order, waitedSeconds)));
      }
    }
    const replies = found.filter((reply) => typeof reply !== 'string');
    const reasons = new Set(found.filter((reply) => typeof reply === 'string'));
    // A burst counts only as a whole.
    transcript.set(name, times !== undefined && reasons.size > 0 ? [] : replies);
    if (reasons.size > 0) transcript.failures.set(name, [...reasons].join('; '));
  }

  /** @returns the reply, or why there was none that says how the service answers the request */
  async #exchange(
    name: QuestionName,
    order?: bigint,
    waitedSeconds = 0,
  ): Promise<ProbeReply | string> {
    const question = QUESTIONS[name];
    const { method, path, body, headers, key, times, compares } = question;
    const { invalidKey = [], readOnlyKey = [] } = this.#options;
    const keys = {
      none: null,
      unknown: UNKNOWN_KEY,
      invalid: invalidKey[0],
      'read-only': readOnlyKey[0],
    };
    const request = {
      method,
      path: path.replace('{}', String(order ?? this.#findNeed(name))),
      body,
      headers,
      key: key && keys[key],
    };
    const beside = compares && this.transcript.get(compares)?.records;
    const sentAt = this.#client.time.now();
    try {
      const reply = await this.#client.send(request, times === undefined);
      const receivedAt = this.#client.time.now();
      const sending = { name, question, request, order, waitedSeconds, beside, sentAt, receivedAt };
      const found = createProbeReply(sending, reply);
      return explainNoAnswer(found) ?? found;
    } catch (error) {
      if (!(error instanceof DeploymentError) || name === QUESTION_NAMES[0]) throw error;
      return error.message;
    }
  }

  #findNeed(name: QuestionName): bigint | string | undefined {
    return QUESTIONS[name].needs?.find(this.transcript, this.#options);
  }
}

function explainNoAnswer(reply: ProbeReply): string | undefined {
  const { status, accepted } = reply;
  const { method, times, key } = reply.question;
  if (status === 429 && times === undefined) {
    return `${reply}, Retry-After ${reply.header('retry-after') ?? 'absent'}`;
  }
  if (isServerFailure(reply)) return String(reply);
  const isHtml = /^text\/html\b/i.test(reply.header('content-type') ?? '');
  if (isHtml && (accepted || (status === 404 && !SAFE_METHODS.test(method)))) {
    return `${reply} with an HTML page, which is not of the service`;
  }
  const isRefused =
    status === 405 ||
    (status === 404 && method === 'POST') ||
    (status === 403 && key !== 'read-only') ||
    (status === 401 && key === undefined);
  return isRefused && !SAFE_METHODS.test(method)
    ? `the key has no permission to write: ${reply}`
    : undefined;
}

function requireAccess(first: ProbeReply | undefined): void {
  if (first === undefined || first.accepted) return;
  const location = first.header('location');
  const hints: Readonly<Record<number, string>> = {
    401: 'the key is refused; give another with --key',
    403: 'the key is refused; give another with --key',
    404: 'is the base URL right? It ends in /v1',
  };
  const hint = location === undefined ? hints[first.status] : `it redirects to ${location}`;
  if (hint !== undefined) throw new DeploymentError(`${first}: ${hint}`);
}

/** Seconds that a read may be behind a write: one that shows no effect earlier proves nothing. */
const MAX_LAG_S = 15;

/** Lists that still disagree after so many seconds do disagree. */
const MAX_DISPUTE_S = 30;

/** The reads to send again, those that lack a prescribed effect first. */
function listOpenReads(check: CheckTranscript): QuestionName[] {
  const open = QUESTION_NAMES.filter(
    (name) => (lacksEffect(name, check) || isDisputed(name, check)) && !isConclusive(name, check),
  );
  return [...new Set([...QUESTION_NAMES.filter((name) => isBehind(name, check)), ...open])];
}

/** Tells the transcript what the reads prove, once none is sent again. */
function concludeReads(check: CheckTranscript): void {
  const stale = QUESTION_NAMES.find((name) => isBehind(name, check));
  for (const name of listOpenReads(check)) {
    const read = check.get(stale ?? name);
    check.doubts.set(name, `a read may not show what was written: ${read}`);
  }
  for (const name of QUESTION_NAMES.filter((name) => lacksEffect(name, check))) {
    check.minWaitSeconds = Math.min(check.minWaitSeconds, countSeconds(name, check));
  }
}

function isBehind(name: QuestionName, check: CheckTranscript): boolean {
  const isWatched = QUESTIONS[name].isShown !== undefined && isReadable(name, check);
  return isWatched && findShownTime(name, check) === undefined;
}

function lacksEffect(name: QuestionName, check: CheckTranscript): boolean {
  return isReadable(name, check) && QUESTIONS[name].isAffected?.(check) === false;
}

/** A reply that cannot be read shows nothing. */
function isReadable(name: QuestionName, check: CheckTranscript): boolean {
  const reply = check.get(name);
  return reply !== undefined && !(reply.accepted && !(reply.records ?? reply.record));
}

/** Whether no later read can show more: it is late enough, and after every prescribed effect. */
function isConclusive(name: QuestionName, check: CheckTranscript): boolean {
  const isCompared = QUESTIONS[name].compares !== undefined;
  if (countSeconds(name, check) < (isCompared ? MAX_DISPUTE_S : MAX_LAG_S)) return false;
  if (isCompared) return true;
  const { shownSince = 0 } = check.get(name) ?? {};
  return QUESTION_NAMES.every((other) => {
    const isPrescribed = other !== name && QUESTIONS[other].isShown !== undefined;
    const isAsked = check.get(other) !== undefined;
    return !isPrescribed || !isAsked || (findShownTime(other, check) ?? shownSince) < shownSince;
  });
}

function findShownTime(name: QuestionName, check: CheckTranscript): number | undefined {
  const { isShown } = QUESTIONS[name];
  return check.attempts(name).find((reply) => isShown?.(reply, check))?.receivedAt;
}

/** Seconds from the last write, or from the first attempt at a comparison, until what a read shows. */
function countSeconds(name: QuestionName, check: CheckTranscript): number {
  const [first] = QUESTIONS[name].compares ? check.attempts(name) : [];
  const writes = check.everything.filter(({ isWrite }) => isWrite);
  const lastWrite = Math.max(0, ...writes.map(({ receivedAt }) => receivedAt));
  return ((check.get(name)?.shownSince ?? 0) - (first?.sentAt ?? lastWrite)) / 1000;
}
