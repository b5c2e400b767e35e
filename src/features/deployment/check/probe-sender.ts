import { findHeader, readRetryAfter } from '../../../core/raw-http.ts';
import { type DeploymentClient, DeploymentError, isServerFailure } from '../deployment-client.ts';
import type { DeploymentReply } from '../deployment-reply.ts';
import type { DeploymentFlags } from '../flags.ts';
import { SAFE_METHODS } from '../transport.ts';
import { describeProbe, planSequences } from './probes.ts';
import { type ProbeExchange, parseExchange, type Step } from './sequence-run.ts';

export type Sender = Pick<DeploymentClient, 'send' | 'time'>;

/** After so many requests in a row without an answer, check that the deployment still exists. */
const MAX_FAILURES = 3;

/** The most requests that a deployment gets in one check. */
const MAX_REQUESTS = { reads: 200, writes: 400 } as const;

/** A pause before a burst, so that no earlier request counts in the same second. */
const BURST_PAUSE_MS = 1100;

/** Sends probes within the limits of a check. Returns a text if there is no reply to judge. */
export class ProbeSender {
  readonly time: Sender['time'];
  /** When the last write ended. */
  lastWrite = Number.NEGATIVE_INFINITY;
  /** The deployment's time by the `Date` of its first reply. */
  clock = Date.now();
  /** How many requests in a row got no answer. */
  failures = 0;
  readonly #client: Sender;
  readonly #flags: DeploymentFlags;
  #requests = 0;
  /** Why no more probes are sent; undefined while they are. */
  #end: string | undefined;

  constructor(client: Sender, flags: DeploymentFlags) {
    this.#client = client;
    this.time = client.time;
    this.#flags = flags;
  }

  /** Sends a probe as often as it says. Returns its replies, or why there is none to judge. */
  async ask(step: Step): Promise<readonly ProbeExchange[] | string> {
    const { times } = step.probe;
    if (times > 1) await this.time.wait(BURST_PAUSE_MS);
    const startedAt = this.time.now();
    const first = await this.#exchange(step);
    if (typeof first === 'string') return first;
    const found = [first];
    let last = first;
    while (found.length < times && last.reply.status !== 429) {
      const next = await this.#exchange(step);
      if (typeof next === 'string') return next;
      found.push(next);
      last = next;
    }
    if (times === 1) return found;
    return explainBurst(last, found.length, (this.time.now() - startedAt) / 1000) ?? found;
  }

  async #exchange(step: Step): Promise<ProbeExchange | string> {
    const { probe, path } = step;
    if (this.#end !== undefined) return this.#end;
    const { invalidKey = [], readOnlyKey = [], writes } = this.#flags;
    const max = writes ? MAX_REQUESTS.writes : MAX_REQUESTS.reads;
    if (this.#requests >= max) return `the check has sent ${max} requests`;
    this.#requests += 1;
    const isFirst = this.#requests === 1;
    const keys = {
      none: null,
      unknown: 'petstore-mock-check-unknown-key',
      invalid: invalidKey[0],
      'read-only': readOnlyKey[0],
    };
    const { method, headers, body, times } = probe;
    const key = probe.key && keys[probe.key];
    const sentAt = this.time.now();
    try {
      const reply = await this.#client.send({ method, path, headers, body, key }, times === 1);
      const exchange = parseExchange(step, reply, sentAt - readAge(reply));
      if (isFirst) this.#noteFirst(exchange);
      const problem = explainNoAnswer(exchange);
      if (problem !== undefined) return await this.#fail(problem);
      this.failures = 0;
      return exchange;
    } catch (error) {
      if (!(error instanceof DeploymentError) || isFirst) throw error;
      return await this.#fail(error.message);
    } finally {
      if (!SAFE_METHODS.test(method)) this.lastWrite = this.time.now();
    }
  }

  #noteFirst(first: ProbeExchange): void {
    requireAccess(first);
    this.clock = Date.parse(findHeader(first.reply.headers, 'date') ?? '') || this.clock;
  }

  /** Finds out whether only some operations fail. Throws if the deployment no longer answers. */
  async #fail(problem: string): Promise<string> {
    this.failures += 1;
    const [probe] = planSequences(this.#flags)[0]?.probes ?? [];
    if (this.failures % MAX_FAILURES !== 0 || probe === undefined) return problem;
    const { method, path } = probe;
    const reply = await this.#client.send({ method, path });
    this.#end = explainNoAnswer(parseExchange({ at: 0, probe, path }, reply));
    return problem;
  }
}

/** The greatest possible age of a reply in milliseconds: `Age` is rounded down to seconds. */
function readAge({ headers }: DeploymentReply): number {
  const [age = 0] = /^[1-9]\d*$/.exec(findHeader(headers, 'age') ?? '') ?? [];
  return age === 0 ? 0 : (Number(age) + 1) * 1000;
}

/** The reason of a verdict that is open because the connection is slow. */
export const TOO_SLOW = 'too long to count';

/** Why a burst of requests does not show the rate limit; undefined if it does. */
function explainBurst(last: ProbeExchange, count: number, seconds: number): string | undefined {
  const { status, headers } = last.reply;
  if (status === 429) {
    if (Math.ceil(readRetryAfter(headers, Date.now()) ?? 0) !== 1) return explainLimit(last);
  } else {
    const announced = headers.find((name, at) => at % 2 === 0 && /^(?:x-)?ratelimit/i.test(name));
    if (announced !== undefined) return `${announced} announces a limit`;
  }
  if (seconds < 1) return undefined;
  return `${count} requests took ${seconds.toFixed(1)} s, ${TOO_SLOW}`;
}

/** A request and its status, in a form to repeat with curl. */
export function describeExchange({ probe, path, reply }: ProbeExchange): string {
  return `${describeProbe(probe, path)}: ${reply.status}`;
}

/** The reply with the seconds in its `Retry-After`, also if that is a date. */
function explainLimit(exchange: ProbeExchange): string {
  const wait = Math.ceil(readRetryAfter(exchange.reply.headers, Date.now()) ?? Number.NaN);
  return `${describeExchange(exchange)}, Retry-After ${Number.isNaN(wait) ? 'absent' : wait}`;
}

/** Why the reply proves nothing: it does not come from the service. */
function explainNoAnswer(exchange: ProbeExchange): string | undefined {
  const { probe, reply } = exchange;
  const { status, headers } = reply;
  const text = describeExchange(exchange);
  if (status === 429 && probe.times === 1) return explainLimit(exchange);
  if (isServerFailure(reply) || status === 304) return text;
  if (/^text\/html\b/i.test(findHeader(headers, 'content-type') ?? '')) {
    return `${text} with an HTML page, which is not of the service`;
  }
  const isWrite = !SAFE_METHODS.test(probe.method);
  const isOwnKey = probe.key === undefined || probe.key === 'read-only';
  const isRefused =
    (status === 401 && isOwnKey) ||
    (status === 403 && probe.key === undefined) ||
    (isWrite && (status === 405 || (status === 404 && probe.method === 'POST')));
  return isRefused ? `the key has no permission: ${text}` : undefined;
}

function requireAccess(first: ProbeExchange): void {
  const { status, headers } = first.reply;
  if (status < 300) return;
  const location = findHeader(headers, 'location');
  const hints: Readonly<Record<number, string>> = {
    401: 'the key is refused; give another with --key',
    403: 'the key is refused; give another with --key',
    404: 'is the base URL right? It ends in /v1',
  };
  const hint = location === undefined ? hints[status] : `it redirects to ${location}`;
  if (hint !== undefined) throw new DeploymentError(`${describeExchange(first)}: ${hint}`);
}
