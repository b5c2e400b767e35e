import { type DeploymentClient, DeploymentError, isServerFailure } from '../deployment-client.ts';
import { SAFE } from '../transport.ts';
import { QUESTIONS } from './all-questions.ts';
import { missing } from './check-plan.ts';
import { CheckTranscript, type ProbeReply, probeReply } from './check-transcript.ts';
import type { CheckOptions } from './question.ts';
import { QUESTION_NAMES, type QuestionName } from './question-names.ts';

/** What sends the requests of a check. */
export type Sender = Pick<DeploymentClient, 'send' | 'rest'>;

/** Consecutive requests without an answer after which a check makes sure that the deployment is there. */
const FAILURES_IN_A_ROW = 3;

/** Seconds before each repetition of a read that does not show the effect of writes. */
const WAITS = [2, 4, 8];

/** A key that no deployment has given out. */
const UNKNOWN_KEY = 'petstore-mock-check-unknown-key';

/**
 * Sends the requests of a check.
 *
 * @param progress called before each request, with what it is for and the share that is done
 * @throws DeploymentError if the deployment cannot be reached, refuses the key or answers nothing
 */
export async function runCheck(
  client: Sender,
  options: CheckOptions,
  progress: (text: string, share: number) => void = () => {},
): Promise<CheckTranscript> {
  const run = new CheckRun(client, options);
  /** Reads since the last write whose effect is not known to be shown. */
  let reads: QuestionName[] = [];
  for (const [at, name] of QUESTION_NAMES.entries()) {
    const report = (text: string) => progress(text, at / QUESTION_NAMES.length);
    await run.ask(name, report);
    if (QUESTIONS[name].isShown !== undefined) reads.push(name);
    const next = QUESTION_NAMES[at + 1];
    if (next !== undefined && QUESTIONS[next].isShown !== undefined) continue;
    await run.repeat(reads, report);
    reads = [];
  }
  const { transcript } = run;
  const isAnswered = transcript.everything.some(({ request }) => request.key === undefined);
  if (isAnswered) return transcript;
  throw new DeploymentError(
    `no request got an answer of the service: ${transcript.whyUnknown('pets100')}`,
  );
}

class CheckRun {
  readonly transcript = new CheckTranscript();
  readonly #client: Sender;
  readonly #options: CheckOptions;
  #failures = 0;
  /** Why no more requests are sent. */
  #end: string | undefined;
  /** How many of the waits an effect is worth that the document does not prescribe. */
  #waits = 2;

  constructor(client: Sender, options: CheckOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** Sends a request, if what it needs is given and known. */
  async ask(name: QuestionName, progress: (text: string) => void): Promise<void> {
    const { transcript } = this;
    const needed = missing(name, this.#options);
    if (needed.length > 0) return void transcript.needs.set(name, needed);
    if (this.#end !== undefined) return void transcript.failures.set(name, this.#end);
    const { needs, why } = QUESTIONS[name];
    if (needs !== undefined && this.#valueFor(name) === undefined) {
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
    this.#failures = reply === undefined ? this.#failures + 1 : 0;
    if (this.#failures > 0 && this.#failures % FAILURES_IN_A_ROW === 0) {
      // Whether only some operations fail, or the deployment answers no more; throws if it is gone.
      const found = await this.#exchange(QUESTION_NAMES[0]);
      if (typeof found === 'string') this.#end = found;
    }
  }

  /** Sends reads again that do not show the effect of writes, until they do or waited long enough. */
  async repeat(reads: readonly QuestionName[], progress: (text: string) => void): Promise<void> {
    const { transcript } = this;
    const isPromised = (name: QuestionName) => QUESTIONS[name].isPromised;
    const lacking = () => reads.filter((name) => isBehind(transcript, name));
    let waited = 0;
    for (const [at, wait] of WAITS.entries()) {
      const again = lacking().filter((name) => isPromised(name) || at < this.#waits);
      if (again.length === 0) break;
      progress(`waiting ${wait} s for the effect of writes`);
      this.#client.rest(wait * 1000);
      waited += wait;
      for (const name of again) await this.#send(name, waited);
      const isLate = again.some((name) => isPromised(name) && !isBehind(transcript, name));
      if (isLate) this.#waits = Math.max(this.#waits, at + 1);
    }
    for (const name of lacking()) {
      transcript.unaffected.add(name);
      if (isPromised(name)) transcript.stale ??= transcript.get(name);
    }
  }

  /** Sends a request as often as its definition says, and keeps the replies that answer it. */
  async #send(name: QuestionName, waited = 0): Promise<void> {
    const { each, times } = QUESTIONS[name];
    const found: (ProbeReply | string)[] = [];
    if (times !== undefined) {
      this.#client.rest(1100); // no earlier request counts in the second of the burst
      found.push(...(await Promise.all(Array.from({ length: times }, () => this.#exchange(name)))));
    } else {
      for (const order of each === undefined ? [undefined] : (this.#options[each] ?? [])) {
        found.push(await this.#exchange(name, order, waited));
      }
    }
    const replies = found.filter((it) => typeof it !== 'string');
    const reasons = new Set(found.filter((it) => typeof it === 'string'));
    // A burst counts only as a whole.
    this.transcript.set(name, times !== undefined && reasons.size > 0 ? [] : replies);
    if (reasons.size > 0) this.transcript.failures.set(name, [...reasons].join('; '));
  }

  /** @returns the reply, or why there was none that says how the service answers the request */
  async #exchange(name: QuestionName, order?: bigint, waited = 0): Promise<ProbeReply | string> {
    const question = QUESTIONS[name];
    const { method, path, body, headers, key, times } = question;
    const { invalidKey = [], readOnlyKey = [] } = this.#options;
    const keys = {
      none: null,
      unknown: UNKNOWN_KEY,
      invalid: invalidKey[0],
      'read-only': readOnlyKey[0],
    };
    const request = {
      method,
      path: path.replace('{}', String(order ?? this.#valueFor(name))),
      body,
      headers,
      key: key && keys[key],
    };
    try {
      const reply = await this.#client.send(request, times === undefined);
      const found = probeReply({ name, question, request, order, waited }, reply);
      return whyNoAnswer(found) ?? found;
    } catch (error) {
      if (!(error instanceof DeploymentError) || name === QUESTION_NAMES[0]) throw error;
      return error.message;
    }
  }

  #valueFor(name: QuestionName): bigint | string | undefined {
    return QUESTIONS[name].needs?.find(this.transcript, this.#options);
  }
}

/** Why a reply says nothing about how the service answers the request. */
function whyNoAnswer(reply: ProbeReply): string | undefined {
  const { status } = reply;
  const { method, times, key } = reply.question;
  if (status === 429 && times === undefined) {
    return `${reply}, Retry-After ${reply.header('retry-after') ?? 'absent'}`;
  }
  if (isServerFailure(reply)) return String(reply);
  const isRefused =
    status === 405 ||
    (status === 403 && key !== 'read-only') ||
    (status === 401 && key === undefined);
  return isRefused && !SAFE.test(method) ? `the key may not write: ${reply}` : undefined;
}

/** Whether a reply may be older than the writes before it. One that cannot be read shows nothing. */
function isBehind(check: CheckTranscript, name: QuestionName): boolean {
  const reply = check.get(name);
  if (reply === undefined || QUESTIONS[name].isShown?.(check)) return false;
  return !reply.accepted || (reply.records ?? reply.record) !== undefined;
}

/** @throws DeploymentError if the first reply shows that the rest makes no sense */
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
