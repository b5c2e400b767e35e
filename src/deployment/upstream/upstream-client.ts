import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import { DEFAULTS } from '../../defaults.ts';
import { codeOf } from '../../error-code.ts';
import {
  type Upstream,
  UpstreamError,
  type UpstreamReply,
  type UpstreamRequest,
} from '../../sandbox/upstream.ts';
import { reasonOf, SAFE } from '../deployment-client.ts';
import { type Way, type WayOptions, wayTo } from '../proxy.ts';
import { compareReply } from './drift.ts';

/** What all upstreams of a server share. */
export interface UpstreamSettings extends Omit<WayOptions, 'timeout'> {
  /** Milliseconds until a reply begins, and between its parts; 30 seconds by default. */
  readonly timeout?: number | undefined;
}

/** Passes requests on to a deployment over keep-alive connections. Follows no redirect. */
export class UpstreamClient implements Upstream {
  readonly url: string;
  readonly key: string | undefined;
  readonly #start: typeof http.request;
  readonly #way: Way;
  readonly #base: string;
  readonly #headers: readonly string[];
  readonly #timeout: number;

  /** @param url as `baseUrlOf` reads it */
  constructor(
    url: URL,
    key: string | undefined,
    { ca, variables, timeout = DEFAULTS.upstreamTimeout }: UpstreamSettings,
  ) {
    this.url = url.href.replace(/\/$/, '');
    this.key = key;
    this.#start = (url.protocol === 'https:' ? https : http).request;
    this.#timeout = timeout;
    this.#way = wayTo(url, { ca, variables, timeout });
    this.#base = this.#way.origin + url.pathname.replace(/\/$/, '');
    this.#headers = ['Host', url.host, ...Object.entries(this.#way.headers).flat()];
  }

  send(request: UpstreamRequest): Promise<UpstreamReply> {
    return new Promise((resolve, reject) => this.#send(request, resolve, reject));
  }

  readonly compare = compareReply;

  /** Holds its connections. */
  get agent(): http.Agent {
    return this.#way.agent;
  }

  close(): void {
    this.agent.destroy();
  }

  #send(
    request: UpstreamRequest,
    resolve: (reply: UpstreamReply) => void,
    reject: (error: UpstreamError) => void,
  ): void {
    const { method, target } = request;
    const headers = [...this.#headers, ...request.headers];
    const path = this.#base + target;
    const { host, port, agent } = this.#way;
    const sent = this.#start({ host, port, agent, timeout: this.#timeout, method, path, headers });
    sent.maxHeadersCount = 0; // Node would drop the rest; their size is limited
    let body: IncomingMessage | undefined;
    const stop = request.whenLeft(() => sent.destroy(new Error(LEFT)));
    sent.on('response', (reply) => {
      stop();
      const { statusCode: status = 0, statusMessage: phrase = '', rawHeaders: headers } = reply;
      if (status < 200) sent.destroy(new Error(`its status is ${status}`));
      else {
        body = reply;
        resolve({ status, phrase, headers, body });
      }
    });
    sent.on('upgrade', ({ statusCode }, socket) => {
      stop();
      socket.destroy();
      reject(new UpstreamError(`the upstream ${this.url} failed: its status is ${statusCode}`));
    });
    const onTimeout = (): void => {
      // A client that reads slowly pauses the body, and so does a delay.
      if (body?.isPaused()) {
        body.socket.setTimeout(this.#timeout, onTimeout);
        return;
      }
      const why = `the upstream ${this.url} sent nothing for ${this.#timeout} ms`;
      const late = new UpstreamError(why, true);
      reject(late);
      (body ?? sent).destroy(late);
    };
    sent.on('timeout', onTimeout);
    sent.on('error', (error) => {
      stop();
      // The deployment closed an idle connection just as it was used again.
      const stale = sent.reusedSocket && codeOf(error) === 'ECONNRESET' && body === undefined;
      if (stale && SAFE.test(method) && !isStream(request.body))
        this.#send(request, resolve, reject);
      else reject(new UpstreamError(`the upstream ${this.url} failed: ${reasonOf(error)}`));
    });
    if (isStream(request.body)) pump(request.body, sent);
    else sent.end(request.body);
  }
}

const LEFT = 'the client disconnected before it had the reply';

function isStream(body: UpstreamRequest['body']): body is Readable {
  return body !== undefined && !Buffer.isBuffer(body);
}

/** Sends a body while it arrives. A client that leaves in the middle ends the request. */
function pump(body: Readable, sent: ClientRequest): void {
  sent.once('close', () => body.unpipe(sent).resume());
  body.once('close', () => {
    if (!body.readableEnded)
      sent.destroy(new Error('the client disconnected before its request was complete'));
  });
  body.pipe(sent);
}
