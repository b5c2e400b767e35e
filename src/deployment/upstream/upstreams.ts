import { asError } from '../../node-errors.ts';
import { type OpenUpstream, type Upstream, UpstreamError } from '../../sandbox/upstream.ts';
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
    const { createTransport, explainFailure, ReplyTimeoutError } = await import('../transport.ts');
    const { compareReply: compare } = await import('./drift.ts');
    const name = JSON.stringify([base, key]);
    const known = this.#upstreams.get(name);
    if (known !== undefined) return known;
    const url = base.href.replace(/\/$/, '');
    const transport = createTransport(base, this.#settings);
    const send: Upstream['send'] = (request) =>
      transport.send(request).catch((thrown) => {
        const isTimeout = [thrown, asError(thrown).cause].some(
          (error) => error instanceof ReplyTimeoutError,
        );
        const why = `the upstream ${url} failed: ${explainFailure(thrown)}`;
        throw new UpstreamError(why, isTimeout);
      });
    const upstream = { url, key, compare, send, close: () => transport.close() };
    this.#upstreams.set(name, upstream);
    return upstream;
  };

  /** Closes all connections, including those in use. */
  close(): void {
    for (const upstream of this.#upstreams.values()) upstream.close();
  }
}
