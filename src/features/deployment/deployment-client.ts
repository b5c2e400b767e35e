import { isUtf8 } from 'node:buffer';
import { setTimeout } from 'node:timers/promises';
import { DEFAULTS, LIMITS } from '../../core/limits.ts';
import { findHeader, readRetryAfter } from '../../core/raw-http.ts';
import { steadyNow } from '../../core/service/clock.ts';
import { errorCode } from '../../core/thrown.ts';
import type { DeploymentReply } from './deployment-reply.ts';
import { DEPLOYMENT_DEFAULTS } from './options.ts';
import {
  createTransport,
  decodeContent,
  explainFailure,
  SAFE_METHODS,
  type TransportOptions,
} from './transport.ts';

export interface DeploymentOptions extends TransportOptions {
  readonly url: URL;
  readonly key?: string | undefined;
  /** The most requests that may start in a second. */
  readonly rate?: number | undefined;
  readonly time?: Time | undefined;
}

export interface DeploymentRequest {
  readonly method: string;
  readonly path: string;
  /** The key to send: by default that of the deployment, with null none. */
  readonly key?: string | null | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
}

export class DeploymentError extends Error {
  override readonly name = 'DeploymentError';
}

/** `timeout` limits each pause in a reply. The whole reply may take this many times longer. */
const REPLY_TIMEOUT_FACTOR = 6;

/** Sends requests one at a time and within the rate. Verifies certificates, follows no redirect. */
export class DeploymentClient {
  readonly url: URL;
  readonly time: Time;
  readonly #key: string | undefined;
  readonly #pace: Pace;
  readonly #transport: ReturnType<typeof createTransport>;
  readonly #replyTimeoutMs: number;
  #isLimited = false;

  constructor(options: DeploymentOptions) {
    const { url, key, rate = DEPLOYMENT_DEFAULTS.rate, time = REAL_TIME } = options;
    const { timeout = DEFAULTS.deploymentTimeout } = options;
    this.url = url;
    this.#key = key;
    this.time = time;
    this.#replyTimeoutMs = timeout * REPLY_TIMEOUT_FACTOR;
    this.#pace = new Pace(rate, time);
    this.#transport = createTransport(url, { ...options, timeout });
  }

  /**
   * After a 429 that asks for at most a minute, tries again; after a 5xx or reset of a GET, twice.
   *
   * @param patient whether to wait and try again
   * @throws DeploymentError if no whole reply arrives in time
   */
  async send(request: DeploymentRequest, patient = true): Promise<DeploymentReply> {
    for (let tries = 0; ; tries += 1) {
      await this.#pace.turn();
      const reply = await this.#sendOnce(request);
      const wait = patient ? this.#secondsBeforeRetry(request, reply, tries) : undefined;
      if (wait !== undefined) this.#pace.pause(wait * 1000);
      else if (reply instanceof DeploymentError) throw reply;
      else return reply;
    }
  }

  #secondsBeforeRetry(
    { method }: DeploymentRequest,
    reply: DeploymentReply | DeploymentError,
    tries: number,
  ): number | undefined {
    const isLost = reply instanceof DeploymentError;
    if (isLost ? errorCode(reply.cause) === 'ECONNRESET' : isServerFailure(reply)) {
      return SAFE_METHODS.test(method) ? [1, 2][tries] : undefined;
    }
    if (isLost) return undefined;
    if (reply.status !== 429) {
      this.#isLimited = false;
      return undefined;
    }
    const wait = readRetryAfter(reply.headers, Date.now()) ?? 1;
    // If waiting has not helped once, later requests do not wait either.
    this.#isLimited ||= tries === 3 || wait > 60;
    return this.#isLimited ? undefined : wait;
  }

  close(): void {
    this.#transport.close();
  }

  async #sendOnce(request: DeploymentRequest): Promise<DeploymentReply | DeploymentError> {
    const { method, path: target, headers: own, body: sent, key = this.#key } = request;
    const fields = {
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
      'Cache-Control': 'no-cache',
      ...(key == null ? {} : { Authorization: `Bearer ${key}` }),
      ...(sent === undefined
        ? {}
        : { 'Content-Type': 'application/json', 'Content-Length': `${Buffer.byteLength(sent)}` }),
      ...own,
    };
    const signal = AbortSignal.timeout(this.#replyTimeoutMs);
    try {
      const { status, headers, content } = await this.#transport.send({
        method,
        target,
        headers: Object.entries(fields).flat(),
        body: sent,
        signal,
      });
      return withoutKey({ status, headers, body: decodeBody(content, headers) }, key);
    } catch (error) {
      const why = signal.aborted
        ? `its reply was not complete after ${this.#replyTimeoutMs} ms (${REPLY_TIMEOUT_FACTOR} times --timeout)`
        : explainFailure(error);
      const cause = signal.aborted ? signal.reason : error;
      return new DeploymentError(`${method} ${this.url.href}${target}: ${why}`, { cause });
    }
  }
}

/** Decodes a body. Some deployments compress it although only `identity` is accepted. */
function decodeBody(bytes: Uint8Array, headers: readonly string[]): Buffer {
  const body = decodeContent(bytes, headers, LIMITS.deploymentBody);
  if (body === undefined && !isUtf8(bytes)) {
    const coding = findHeader(headers, 'content-encoding');
    throw new Error(`its body cannot be decoded: expected no Content-Encoding, found ${coding}`);
  }
  return Buffer.from(body ?? bytes);
}

/** 501 is not a failure: it says that the method does not exist. */
export function isServerFailure({ status }: Pick<DeploymentReply, 'status'>): boolean {
  return status >= 500 && status !== 501;
}

/** The shortest key that is masked in replies. A shorter one may be an ordinary word. */
const SECRET_LENGTH = 8;

/** Masks the request's key in a reply, since an Error can repeat it and messages would show it. */
function withoutKey(reply: DeploymentReply, key: string | null | undefined): DeploymentReply {
  if (key == null || key.length < SECRET_LENGTH) return reply;
  const inJson = JSON.stringify(key).slice(1, -1);
  const hide = (text: string) => text.replaceAll(inJson, 'KEY').replaceAll(key, 'KEY');
  const body = Buffer.from(hide(reply.body.toString('latin1')), 'latin1');
  return { ...reply, headers: reply.headers.map(hide), body };
}

/** A clock in milliseconds, of which only differences matter. Tests replace it to be fast. */
export interface Time {
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<unknown>;
}

const REAL_TIME: Time = { now: steadyNow, wait: (ms) => setTimeout(ms) };

/** Starts requests at even intervals. */
export class Pace {
  readonly #interval: number;
  readonly #time: Time;
  #next = Number.NEGATIVE_INFINITY;

  constructor(rate: number, time: Time = REAL_TIME) {
    this.#interval = 1000 / rate;
    this.#time = time;
  }

  async turn(): Promise<void> {
    const now = this.#time.now();
    const at = Math.max(now, this.#next);
    this.#next = at + this.#interval;
    if (at > now) await this.#time.wait(at - now);
  }

  pause(milliseconds: number): void {
    this.#next = Math.max(this.#next, this.#time.now() + milliseconds);
  }
}
