import { DEFAULTS } from '../../defaults.ts';
import { asError } from '../../node-errors.ts';
import {
  LEFT,
  MAX_UPSTREAM_BODY,
  type OpenUpstream,
  type Upstream,
  UpstreamError,
} from '../../sandbox/upstream.ts';
import type { TransportOptions } from '../transport.ts';

/** The upstreams of one server. Loads their client with the first one. */
export class Upstreams {
  readonly #settings: TransportOptions;
  /** By URL and key: a test may set the same one before each of its cases. */
  readonly #upstreams = new Map<string, Upstream>();

  constructor(settings: TransportOptions = {}) {
    this.#settings = settings;
  }

  readonly open: OpenUpstream = async (base, key) => {
    const { explainFailure, ReplyTimeoutError, Transport } = await import('../transport.ts');
    const { compareReply: compare } = await import('./drift.ts');
    const name = JSON.stringify([base, key]);
    const known = this.#upstreams.get(name);
    if (known !== undefined) return known;
    const url = base.href.replace(/\/$/, '');
    const transport = new Transport(base, this.#settings, DEFAULTS.upstreamTimeout);
    const isTimeout = (error: unknown): boolean =>
      error instanceof ReplyTimeoutError || asError(error).cause instanceof ReplyTimeoutError;
    const send: Upstream['send'] = async (request) => {
      try {
        const { onDisconnect, ...rest } = request;
        const message = await transport.send({ ...rest, whenLeft: onDisconnect });
        const { statusCode: status = 0, statusMessage: phrase = '', rawHeaders: headers } = message;
        // Node reads any three digits.
        if (status < 200) throw new Error(`its status is ${status}`);
        const cancel = onDisconnect(() => message.destroy(new Error(LEFT)));
        const content = await collect(message).finally(cancel);
        return { status, phrase, headers, content };
      } catch (error) {
        const why = `the upstream ${url} failed: ${explainFailure(error)}`;
        throw new UpstreamError(why, isTimeout(error));
      }
    };
    const upstream = { url, key, compare, send, close: () => transport.close() };
    this.#upstreams.set(name, upstream);
    return upstream;
  };

  /** Closes all connections, including those in use. */
  close(): void {
    for (const upstream of this.#upstreams.values()) upstream.close();
  }
}

/** A whole body. Throws if it breaks off, or is larger than the mock keeps. */
async function collect(message: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of message) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_UPSTREAM_BODY) break;
    }
  } catch (error) {
    const why = asError(error).message;
    throw new Error(`it broke the body off after ${size} bytes: ${why}`, { cause: error });
  }
  if (size <= MAX_UPSTREAM_BODY) return Buffer.concat(chunks, size);
  throw new Error(`its body is larger than ${MAX_UPSTREAM_BODY} bytes`);
}
