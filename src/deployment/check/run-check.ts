import {
  type DeploymentClient,
  DeploymentError,
  isServerFailure,
  SAFE,
} from '../deployment-client.ts';
import { type CheckOptions, missing, REQUESTS } from './check-plan.ts';
import { CheckTranscript } from './check-transcript.ts';
import { ProbeReply, REQUEST_NAMES, type RequestName, type Sending } from './probe-reply.ts';
import { BURST } from './request-parts.ts';

/** What sends the requests of a check. */
export type Sender = Pick<DeploymentClient, 'send' | 'rest'>;

/** Consecutive requests without an answer after which a check makes sure that the deployment is there. */
const FAILURES_IN_A_ROW = 3;

/** Seconds before a read is repeated that does not show the effect of writes, and the longest sum of them. */
const WAITS = [2, 4, 8];
const LONGEST_WAIT = { documented: 14, other: 6 };

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
  let reads: RequestName[] = [];
  for (const [at, name] of REQUEST_NAMES.entries()) {
    const report = (text: string) => progress(text, at / REQUEST_NAMES.length);
    await run.ask(name, report);
    if (REQUESTS[name].effect !== undefined) reads.push(name);
    const next = REQUEST_NAMES[at + 1];
    if (next !== undefined && REQUESTS[next].effect !== undefined) continue;
    await run.repeat(reads, report);
    reads = [];
  }
  const { transcript } = run;
  if (transcript.everything.some(({ request }) => request.key === undefined)) return transcript;
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
  /** The longest wait for an effect that the document does not prescribe. */
  #longest = LONGEST_WAIT.other;

  constructor(client: Sender, options: CheckOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** Sends a request, if what it needs is given and known. */
  async ask(name: RequestName, progress: (text: string) => void): Promise<void> {
    const { transcript } = this;
    const needed = missing(name, this.#options);
    if (needed.length > 0) return transcript.skip(name, needed);
    if (this.#end !== undefined) return transcript.fail(name, this.#end);
    const { needs, why } = REQUESTS[name];
    if (needs !== undefined && needs.find(transcript, this.#options.orders) === undefined) {
      const { after, description } = needs;
      const isRead = after === undefined || transcript.list(after) !== undefined;
      return isRead
        ? transcript.skip(name, [description])
        : transcript.fail(name, transcript.whyUnknown(after));
    }
    progress(why);
    await this.#send(name);
    const [first] = REQUEST_NAMES;
    if (name === first) requireAccess(transcript.get(name));
    this.#failures = transcript.get(name) === undefined ? this.#failures + 1 : 0;
    if (this.#failures > 0 && this.#failures % FAILURES_IN_A_ROW === 0) {
      // Whether only some operations fail, or the deployment answers no more.
      const reply = await this.#exchange('pets1');
      if (reply instanceof DeploymentError) throw reply;
      this.#end = this.#whyNoAnswer(reply);
    }
  }

  /** Sends reads again that do not show the effect of writes, until they do or waited long enough. */
  async repeat(reads: readonly RequestName[], progress: (text: string) => void): Promise<void> {
    const { transcript } = this;
    const isDocumented = (name: RequestName) => REQUESTS[name].effect?.documented;
    const lacking = () => reads.filter((name) => isBehind(transcript, name));
    let waited = 0;
    for (const wait of WAITS) {
      const longest = (name: RequestName) =>
        isDocumented(name) ? LONGEST_WAIT.documented : this.#longest;
      const again = lacking().filter((name) => waited < longest(name));
      if (again.length === 0) break;
      progress(`waiting ${wait} s for the effect of writes`);
      this.#client.rest(wait * 1000);
      waited += wait;
      for (const name of again) {
        await this.#send(name, waited);
        const isLate = isDocumented(name) && !lacking().includes(name);
        if (isLate) this.#longest = Math.max(this.#longest, waited);
      }
    }
    for (const name of lacking()) {
      transcript.unaffected.add(name);
      if (isDocumented(name)) transcript.stale ??= transcript.get(name);
    }
  }

  /** Sends a request as often as its definition says, and keeps the replies that answer it. */
  async #send(name: RequestName, waited = 0): Promise<void> {
    const { transcript } = this;
    const { each, times = 1 } = REQUESTS[name];
    const answers: ProbeReply[] = [];
    const reasons = new Set<string>();
    const keep = (it: ProbeReply | DeploymentError): void => {
      if (it instanceof DeploymentError && name === REQUEST_NAMES[0]) throw it;
      const reason = it instanceof DeploymentError ? it.message : this.#whyNoAnswer(it);
      if (reason !== undefined) reasons.add(reason);
      else if (it instanceof ProbeReply) answers.push(it);
      transcript.set(name, answers);
    };
    if (times > 1) {
      this.#client.rest((BURST.seconds + 0.1) * 1000);
      const burst = Array.from({ length: times }, () => this.#exchange(name));
      for (const it of await Promise.all(burst)) keep(it);
    } else {
      for (const order of each === undefined ? [undefined] : this.#options.orders[each]) {
        keep(await this.#exchange(name, order, waited));
      }
    }
    if (reasons.size === 0) return;
    transcript.fail(name, [...reasons].join('; '));
    // A burst counts only as a whole.
    if (times > 1) transcript.set(name, []);
  }

  /** Why a reply says nothing about how the service answers the request. */
  #whyNoAnswer(reply: ProbeReply): string | undefined {
    const { definition, status, request } = reply;
    const { operation, times, key } = definition;
    if (status === 429 && times === undefined) {
      return `${reply}, Retry-After ${reply.header('retry-after') ?? 'absent'}`;
    }
    if (isServerFailure(reply)) return String(reply);
    if (SAFE.test(request.method)) return undefined;
    const isKeyValid = key === undefined || key === 'read-only';
    const isRefused = status === 403 || status === 405 || (status === 401 && isKeyValid);
    const hasWritten = this.transcript.everything.some(
      (it) =>
        it.definition.operation === operation &&
        it.request.key === undefined &&
        (it.accepted || it.status === 404 || it.status === 409),
    );
    return isRefused && !hasWritten ? `the key may not write: ${reply}` : undefined;
  }

  async #exchange(
    name: RequestName,
    order?: bigint,
    waited = 0,
  ): Promise<ProbeReply | DeploymentError> {
    const sending = this.#sendingOf(name, order, waited);
    try {
      const reply = await this.#client.send(sending.request, REQUESTS[name].times === undefined);
      return new ProbeReply(sending, reply);
    } catch (error) {
      if (error instanceof DeploymentError) return error;
      throw error;
    }
  }

  #sendingOf(name: RequestName, order: bigint | undefined, waited: number): Sending {
    const definition = REQUESTS[name];
    const { method, path, needs, body, headers, key } = definition;
    const value = needs?.find(this.transcript, this.#options.orders) ?? `${order}`;
    const keys = {
      none: null,
      unknown: UNKNOWN_KEY,
      invalid: this.#options.invalidKey,
      'read-only': this.#options.readOnlyKey,
    };
    const request = {
      method,
      path: path.replace('{}', value),
      body,
      headers,
      key: key && keys[key],
    };
    return { name, definition, request, order, waited };
  }
}

/** Whether a reply may be older than the writes before it. One that cannot be read shows nothing. */
function isBehind(check: CheckTranscript, name: RequestName): boolean {
  const reply = check.get(name);
  if (reply === undefined || REQUESTS[name].effect?.isShown(check)) return false;
  return !reply.accepted || reply.records !== undefined || reply.record !== undefined;
}

/** A key that no deployment has given out. */
const UNKNOWN_KEY = 'petstore-mock-check-unknown-key';

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
