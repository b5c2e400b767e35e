import type { IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { codeOf } from '../error-code.ts';
import { DEPLOYMENT_DEFAULTS } from './deployment-defaults.ts';
import { Pace, type Time } from './pace.ts';
import type { Variables } from './proxy.ts';
import { reasonOf, Transport } from './transport.ts';

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
  /** The most bytes of a reply's body. */
  readonly mostBytes?: number | undefined;
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

export interface DeploymentReply {
  readonly status: number;
  /** Names and values alternate, as they arrived. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** A deployment gave no reply that can be used. */
export class DeploymentError extends Error {
  override readonly name = 'DeploymentError';
}

/** How often a request is sent again after a 429, and the longest wait for it in seconds. */
const MOST_WAITS = 3;
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
  readonly #transport: Transport;
  #isLimited = false;

  constructor(options: DeploymentOptions) {
    const { url, ca, variables, rate = DEPLOYMENT_DEFAULTS.rate, time } = options;
    const { timeout = DEPLOYMENT_DEFAULTS.timeout } = options;
    this.url = url;
    this.#options = options;
    this.#pace = new Pace(rate, time);
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
    this.#isLimited ||= tries === MOST_WAITS || wait > LONGEST_WAIT;
    return this.#isLimited ? undefined : wait;
  }

  /** Lets no request start for this many milliseconds. */
  rest(milliseconds: number): void {
    this.#pace.rest(milliseconds);
  }

  /** Closes idle connections. */
  close(): void {
    this.#transport.agent.destroy();
  }

  async #sendOnce(request: DeploymentRequest): Promise<DeploymentReply | DeploymentError> {
    const { timeout = DEPLOYMENT_DEFAULTS.timeout, mostBytes = DEPLOYMENT_DEFAULTS.mostBytes } =
      this.#options;
    const signal = AbortSignal.timeout(timeout);
    try {
      const message = await this.#start(request, signal);
      const { statusCode: status = 0, rawHeaders: headers } = message;
      const body = decoded(await bodyOf(message, mostBytes), headers, mostBytes);
      return { status, headers, body };
    } catch (error) {
      const sent = `${request.method} ${this.url.href}${request.path}`;
      const why = signal.aborted ? `no reply within ${timeout} ms` : reasonOf(error);
      return new DeploymentError(`${sent}: ${why}`, signal.aborted ? {} : { cause: error });
    }
  }

  #start(request: DeploymentRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const { method, path: target, key = this.#options.key, body } = request;
    const headers = {
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
      ...(key == null ? {} : { Authorization: `Bearer ${key}` }),
      ...(body === undefined
        ? {}
        : { 'Content-Type': 'application/json', 'Content-Length': `${Buffer.byteLength(body)}` }),
      ...request.headers,
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

/** The first value of a header; `name` in lower case. */
export function headerOf(
  { headers }: Pick<DeploymentReply, 'headers'>,
  name: string,
): string | undefined {
  return headers.find((_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === name);
}

/** The seconds that `Retry-After` asks for, by a number or a date (RFC 9110, section 10.2.3). */
export function secondsToWait(reply: DeploymentReply): number | undefined {
  const value = headerOf(reply, 'retry-after') ?? '';
  if (/^\d+$/.test(value)) return Number(value);
  const now = Date.parse(headerOf(reply, 'date') ?? '') || Date.now();
  const until = Date.parse(value);
  return Number.isNaN(until) ? undefined : Math.max(0, (until - now) / 1000);
}

async function bodyOf(message: IncomingMessage, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message) {
    if (!Buffer.isBuffer(chunk)) continue;
    size += chunk.length;
    if (size > most) throw new Error(`the reply is larger than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

const DECODERS: Readonly<Record<string, typeof gunzipSync>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** Some deployments encode bodies although only `identity` is accepted. Unknown encodings stay. */
function decoded(body: Buffer, headers: readonly string[], most: number): Buffer {
  const encoding = headerOf({ headers }, 'content-encoding')?.trim().toLowerCase() ?? '';
  const decode = DECODERS[encoding];
  if (decode === undefined || body.length === 0) return body;
  try {
    return decode(body, { maxOutputLength: most });
  } catch (error) {
    throw new Error(`its body cannot be decoded as ${encoding}: ${reasonOf(error)}`);
  }
}
