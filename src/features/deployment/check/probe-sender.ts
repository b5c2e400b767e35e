import { findHeader } from '../../../core/raw-http.ts';
import { type DeploymentClient, DeploymentError, isServerFailure } from '../deployment-client.ts';
import type { DeploymentReply } from '../deployment-reply.ts';
import { SAFE_METHODS } from '../transport.ts';
import { type CheckOptions, type Probe, STORIES } from './probes.ts';

export type Sender = Pick<DeploymentClient, 'send' | 'time'>;

export interface ProbeExchange {
  readonly probe: Probe;
  readonly path: string;
  readonly reply: DeploymentReply;
  /** What it shows is not newer, in milliseconds; a cache rounds its `Age` down. */
  readonly shownSince: number;
  readonly receivedAt: number;
}

/** Consecutive requests without an answer, after which a check looks whether the deployment is there. */
const MAX_FAILURES = 3;

/** What a deployment gets at most. */
const MAX_REQUESTS = { reads: 200, writes: 400 } as const;

/** So that no earlier request counts in the second of a burst. */
const BURST_PAUSE_MS = 1100;

/** Sends one probe at a time, and no more than a check may. */
export class ProbeSender {
  readonly time: Sender['time'];
  /** When the last write ended. */
  lastWrite = Number.NEGATIVE_INFINITY;
  readonly #client: Sender;
  readonly #options: CheckOptions;
  #requests = 0;
  #failures = 0;
  #end: string | undefined;

  constructor(client: Sender, options: CheckOptions) {
    this.#client = client;
    this.time = client.time;
    this.#options = options;
  }

  /** Whether the last request got no answer. */
  get isFailing(): boolean {
    return this.#failures > 0;
  }

  async ask(probe: Probe, path: string): Promise<readonly ProbeExchange[] | string> {
    if (probe.times > 1) return this.#burst(probe, path);
    const found = await this.exchange(probe, path);
    return typeof found === 'string' ? found : [found];
  }

  async #burst(probe: Probe, path: string): Promise<readonly ProbeExchange[] | string> {
    await this.time.wait(BURST_PAUSE_MS);
    const startedAt = this.time.now();
    const found: ProbeExchange[] = [];
    for (let sent = 0; sent < probe.times; sent += 1) {
      const exchange = await this.exchange(probe, path);
      if (typeof exchange === 'string') return exchange;
      found.push(exchange);
      if (exchange.reply.status === 429) break;
    }
    const last = found.at(-1);
    const seconds = ((last?.receivedAt ?? 0) - startedAt) / 1000;
    const headers = last?.reply.headers ?? [];
    const isLimited = last?.reply.status === 429;
    const wait = Number(findHeader(headers, 'retry-after') ?? Number.NaN);
    if (isLimited && wait !== 1)
      return `${last && describeExchange(last)}, Retry-After ${Number.isNaN(wait) ? 'absent' : wait}`;
    const announced = headers.find((name, at) => at % 2 === 0 && /^(?:x-)?ratelimit/i.test(name));
    if (!isLimited && announced !== undefined) return `${announced} announces a limit`;
    return seconds >= 1
      ? `${found.length} requests took ${seconds.toFixed(1)} s, too long to count`
      : found;
  }

  /** @returns the reply, or why there was none that says how the service answers the request */
  async exchange(probe: Probe, path: string, isFirst = false): Promise<ProbeExchange | string> {
    if (this.#end !== undefined) return this.#end;
    const { invalidKey = [], readOnlyKey = [], writes } = this.#options;
    const max = writes ? MAX_REQUESTS.writes : MAX_REQUESTS.reads;
    if (this.#requests >= max) return `the check has sent ${max} requests`;
    this.#requests += 1;
    const keys = {
      none: null,
      unknown: 'petstore-mock-check-unknown-key',
      invalid: invalidKey[0],
      'read-only': readOnlyKey[0],
    };
    const { method, headers, body } = probe;
    const request = { method, path, headers, body, key: probe.key && keys[probe.key] };
    const sentAt = this.time.now();
    try {
      const reply = await this.#client.send(request, probe.times === 1);
      const receivedAt = this.time.now();
      const [age] = /^\d+$/.exec(findHeader(reply.headers, 'age') ?? '') ?? [];
      const shownSince = sentAt - (Number(age ?? 0) > 0 ? (Number(age) + 1) * 1000 : 0);
      const exchange = { probe, path, reply, shownSince, receivedAt };
      if (isFirst) requireAccess(exchange);
      const problem = explainNoAnswer(exchange);
      if (problem === undefined) this.#failures = 0;
      else await this.#fail();
      return problem ?? exchange;
    } catch (error) {
      if (!(error instanceof DeploymentError) || isFirst) throw error;
      await this.#fail();
      return error.message;
    } finally {
      if (!SAFE_METHODS.test(method)) this.lastWrite = this.time.now();
    }
  }

  /** Finds out whether only some operations fail, or the deployment answers no more; throws if it is gone. */
  async #fail(): Promise<void> {
    this.#failures += 1;
    if (this.#failures % MAX_FAILURES !== 0) return;
    const [first] = STORIES[0]?.probes ?? [];
    if (first === undefined) return;
    const { method, path } = first;
    const reply = await this.#client.send({ method, path });
    this.#end = explainNoAnswer({ probe: first, path, reply, shownSince: 0, receivedAt: 0 });
  }
}

const MAX_SHOWN_BODY = 80;

/** A request in words to repeat with curl, and its status. */
export function describeExchange({ probe, path, reply }: ProbeExchange): string {
  const { method, body, words } = probe;
  const sent = body === undefined ? '' : ` ${body.trim().slice(0, MAX_SHOWN_BODY)}`;
  const size = body !== undefined && body.length > 1024 ? ` (${body.length} bytes)` : '';
  return `${method} ${path}${sent}${size}${words && ` ${words}`}: ${reply.status}`;
}

/** Replies that are none of the service prove nothing. */
function explainNoAnswer(exchange: ProbeExchange): string | undefined {
  const { probe, reply } = exchange;
  const { status, headers } = reply;
  const text = describeExchange(exchange);
  if (status === 429 && probe.times === 1) {
    return `${text}, Retry-After ${findHeader(headers, 'retry-after') ?? 'absent'}`;
  }
  if (isServerFailure(reply) || status === 304) return text;
  if (/^text\/html\b/i.test(findHeader(headers, 'content-type') ?? '')) {
    return `${text} with an HTML page, which is not of the service`;
  }
  const isRefused =
    (status === 403 && probe.key !== 'read-only') || (status === 401 && probe.key === undefined);
  const isNoWrite = status === 405 || (status === 404 && probe.method === 'POST');
  return isRefused || (isNoWrite && !SAFE_METHODS.test(probe.method))
    ? `the key has no permission: ${text}`
    : undefined;
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
