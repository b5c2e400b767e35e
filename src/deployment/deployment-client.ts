import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { DEFAULTS } from '../defaults.ts';
import { codeOf } from '../error-code.ts';
import { type DeploymentReply, headerOf, secondsToWait } from './reply-parts.ts';
import { reasonOf, Transport, type Variables } from './transport.ts';

/** How to reach a deployment. */
export interface DeploymentOptions {
  /** The base URL, as `baseUrlOf` reads it. */
  readonly url: URL;
  readonly key?: string | undefined;
  /** Milliseconds until a reply must be complete. */
  readonly timeout?: number | undefined;
  /** The most requests that start in a second. */
  readonly rate?: number | undefined;
  /** A certificate to trust besides those that Node trusts, in PEM. */
  readonly ca?: string | undefined;
  /** Where `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` are looked up. */
  readonly variables?: Variables | undefined;
  readonly time?: Time | undefined;
}

export interface DeploymentRequest {
  readonly method: string;
  /** The path below the base URL, such as `/pets?limit=1`. */
  readonly path: string;
  /** The key to send; by default that of the deployment, none if null. */
  readonly key?: string | null | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
}

/** A deployment gave no reply that can be used. */
export class DeploymentError extends Error {
  override readonly name = 'DeploymentError';
}

/** How often a request is sent again after a 429, and the longest wait for it in seconds. */
const RETRIES_AFTER_429 = 3;
const LONGEST_WAIT = 60;

/** Seconds before each new try of a GET that met a passing failure. */
const RETRY_AFTER = [1, 2];

/** Methods that change nothing (RFC 9110, section 9.2.1). */
export const SAFE = /^(?:GET|HEAD|OPTIONS)$/;

/**
 * A client of a deployment: one request at a time is sent and answered. Follows no redirect, verifies
 * certificates and keeps to the rate.
 */
export class DeploymentClient {
  readonly url: URL;
  readonly #options: DeploymentOptions;
  readonly #pace: Pace;
  readonly #timeout: number;
  readonly #transport: Transport;
  #isLimited = false;

  constructor(options: DeploymentOptions) {
    const { url, ca, variables, rate = DEFAULTS.deploymentRate, time } = options;
    const { timeout = DEFAULTS.deploymentTimeout } = options;
    this.url = url;
    this.#options = options;
    this.#pace = new Pace(rate, time);
    this.#timeout = timeout;
    this.#transport = new Transport(url, { ca, variables, timeout });
  }

  /**
   * Sends a request and receives its whole reply. Waits and tries again after a 429 that asks for at
   * most a minute, and twice after a failure of a GET that can pass: a 5xx or a reset.
   *
   * @param patient whether to wait and try again
   * @throws DeploymentError if no whole reply arrives in time
   */
  async send(request: DeploymentRequest, patient = true): Promise<DeploymentReply> {
    for (let tries = 0; ; tries += 1) {
      await this.#pace.turn();
      const reply = await this.#sendOnce(request);
      const wait = patient ? this.#secondsBeforeRetry(request, reply, tries) : undefined;
      if (wait !== undefined) this.#pace.rest(wait * 1000);
      else if (reply instanceof DeploymentError) throw reply;
      else return reply;
    }
  }

  /** @returns undefined to take the reply */
  #secondsBeforeRetry(
    { method }: DeploymentRequest,
    reply: DeploymentReply | DeploymentError,
    tries: number,
  ): number | undefined {
    if (reply instanceof DeploymentError || isServerFailure(reply)) {
      const isPassing = !(reply instanceof DeploymentError) || codeOf(reply.cause) === 'ECONNRESET';
      const wait = RETRY_AFTER[tries];
      if (wait === undefined || !isPassing || !SAFE.test(method)) return undefined;
      const required = reply instanceof DeploymentError ? 0 : (secondsToWait(reply) ?? 0);
      return required > LONGEST_WAIT ? wait : Math.max(wait, required);
    }
    if (reply.status !== 429) {
      this.#isLimited = false;
      return undefined;
    }
    const wait = secondsToWait(reply) ?? 1;
    // Once waiting did not help, later requests do not wait as well.
    this.#isLimited ||= tries === RETRIES_AFTER_429 || wait > LONGEST_WAIT;
    return this.#isLimited ? undefined : wait;
  }

  /** Lets no request start for this many milliseconds. */
  rest(milliseconds: number): void {
    this.#pace.rest(milliseconds);
  }

  /** Closes idle connections. */
  close(): void {
    this.#transport.close();
  }

  async #sendOnce(request: DeploymentRequest): Promise<DeploymentReply | DeploymentError> {
    const { key = this.#options.key } = request;
    const signal = AbortSignal.timeout(this.#timeout);
    try {
      const message = await this.#start(request, key, signal);
      const { statusCode: status = 0, rawHeaders: headers } = message;
      const body = decoded(await buffer(message), headers);
      return withoutKey({ status, headers, body }, key);
    } catch (error) {
      const sent = `${request.method} ${this.url.href}${request.path}`;
      const why = signal.aborted ? `no reply within ${this.#timeout} ms` : reasonOf(error);
      return new DeploymentError(`${sent}: ${why}`, signal.aborted ? {} : { cause: error });
    }
  }

  #start(
    { method, path: target, headers: own, body }: DeploymentRequest,
    key: string | null | undefined,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const headers = {
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
      ...(key == null ? {} : { Authorization: `Bearer ${key}` }),
      ...(body === undefined
        ? {}
        : { 'Content-Type': 'application/json', 'Content-Length': `${Buffer.byteLength(body)}` }),
      ...own,
    };
    const sent = { method, target, headers: Object.entries(headers).flat(), signal };
    return new Promise((resolve, reject) => {
      this.#transport.start(sent, resolve, reject).end(body);
    });
  }
}

/** Whether a status tells of a failure that can pass. 501 is an answer: there is no such method. */
export function isServerFailure({ status }: Pick<DeploymentReply, 'status'>): boolean {
  return status >= 500 && status !== 501;
}

const DECODERS: Readonly<Record<string, typeof gunzipSync>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** Some deployments encode bodies although only `identity` is accepted. Unknown encodings stay. */
function decoded(body: Buffer, headers: readonly string[]): Buffer {
  const encoding = headerOf({ headers }, 'content-encoding')?.trim().toLowerCase() ?? '';
  const decode = DECODERS[encoding];
  if (decode === undefined || body.length === 0) return body;
  try {
    return decode(body);
  } catch (error) {
    throw new Error(`its body cannot be decoded as ${encoding}: ${reasonOf(error)}`);
  }
}

/** Characters of a key that is a secret. A shorter one can be a word of any reply. */
const SECRET_LENGTH = 8;

/** A reply without the key of its request, which an Error can repeat: no message shows it. */
function withoutKey(reply: DeploymentReply, key: string | null | undefined): DeploymentReply {
  if (key == null || key.length < SECRET_LENGTH) return reply;
  const spellings = [JSON.stringify(key).slice(1, -1), key];
  const hide = (text: string) =>
    spellings.reduce((hidden, spelling) => hidden.replaceAll(spelling, 'KEY'), text);
  const { status, headers, body } = reply;
  const isRepeated = spellings.some((spelling) => body.includes(spelling));
  return {
    status,
    headers: headers.map(hide),
    body: isRepeated ? Buffer.from(hide(body.toString('latin1')), 'latin1') : body,
  };
}

/** Reads the time and waits. Tests replace it, so that none has to wait. */
export interface Time {
  /** In milliseconds; only differences count. */
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<unknown>;
}

const REAL_TIME: Time = { now: () => performance.now(), wait: (ms) => setTimeout(ms) };

/** Spreads requests evenly, so that no more than `rate` start in a second. */
export class Pace {
  readonly #interval: number;
  readonly #time: Time;
  #next = Number.NEGATIVE_INFINITY;

  constructor(rate: number, time: Time = REAL_TIME) {
    this.#interval = 1000 / rate;
    this.#time = time;
  }

  /** Resolves when the next request may start. Callers are served in order. */
  async turn(): Promise<void> {
    const now = this.#time.now();
    const at = Math.max(now, this.#next);
    this.#next = at + this.#interval;
    if (at > now) await this.#time.wait(at - now);
  }

  /** Lets no request start for this many milliseconds. */
  rest(milliseconds: number): void {
    this.#next = Math.max(this.#next, this.#time.now() + milliseconds);
  }
}
