import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { DEFAULTS } from '../../defaults.ts';
import { codeOf } from '../../error-code.ts';
import {
  type Upstream,
  UpstreamError,
  type UpstreamReply,
  type UpstreamRequest,
} from '../../sandbox/upstream.ts';
import { SAFE } from '../deployment-client.ts';
import { reasonOf, Transport, type TransportOptions } from '../transport.ts';
import { compareReply } from './drift.ts';

/** What all upstreams of a server share. */
export interface UpstreamSettings extends Omit<TransportOptions, 'timeout'> {
  /** Milliseconds until a reply begins, and between its parts; 30 seconds by default. */
  readonly timeout?: number | undefined;
}

/** Passes requests on to a deployment. */
export class UpstreamClient implements Upstream {
  readonly url: string;
  readonly key: string | undefined;
  readonly #transport: Transport;
  readonly #timeout: number;

  /** @param url as `baseUrlOf` reads it */
  constructor(
    url: URL,
    key: string | undefined,
    { ca, variables, timeout = DEFAULTS.upstreamTimeout }: UpstreamSettings,
  ) {
    this.url = url.href.replace(/\/$/, '');
    this.key = key;
    this.#timeout = timeout;
    this.#transport = new Transport(url, { ca, variables, timeout });
  }

  send(request: UpstreamRequest): Promise<UpstreamReply> {
    return new Promise((resolve, reject) => {
      try {
        this.#send(request, resolve, reject);
      } catch (error) {
        reject(this.#failure(error));
      }
    });
  }

  readonly compare = compareReply;

  close(): void {
    this.#transport.close();
  }

  #failure(error: unknown): UpstreamError {
    return new UpstreamError(`the upstream ${this.url} failed: ${reasonOf(error)}`);
  }

  #send(
    request: UpstreamRequest,
    resolve: (reply: UpstreamReply) => void,
    reject: (error: UpstreamError) => void,
  ): void {
    let body: IncomingMessage | undefined;
    const onReply = (reply: IncomingMessage): void => {
      stop();
      const { statusCode: status = 0, statusMessage: phrase = '', rawHeaders: headers } = reply;
      if (status < 200) sent.destroy(new Error(`its status is ${status}`));
      else {
        body = reply;
        resolve({ status, phrase, headers, body });
      }
    };
    const onError = (error: Error): void => {
      stop();
      // The deployment closed an idle connection just as it was used again.
      const stale = sent.reusedSocket && codeOf(error) === 'ECONNRESET' && body === undefined;
      if (stale && SAFE.test(request.method) && !isStream(request.body)) {
        this.#send(request, resolve, reject);
      } else reject(this.#failure(error));
    };
    const sent = this.#transport.start(request, onReply, onError);
    sent.maxHeadersCount = 0; // Node would drop the rest; their size is limited
    const stop = request.whenLeft(() => sent.destroy(new Error(LEFT)));
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
