import type { OpenUpstream, Upstream } from '../../sandbox/upstream.ts';
import type { TransportOptions } from '../transport.ts';

/** The upstreams of one server. Loads their client with the first one. */
export class Upstreams {
  readonly #settings: TransportOptions;
  /** By URL and key: a test may set the same one before each of its cases. */
  readonly #opened = new Map<string, Upstream>();

  constructor(settings: TransportOptions = {}) {
    this.#settings = settings;
  }

  readonly open: OpenUpstream = async (url, key) => {
    const { upstreamAt } = await import('./upstream-client.ts');
    const name = JSON.stringify([url, key]);
    const upstream = this.#opened.get(name) ?? upstreamAt(url, key, this.#settings);
    this.#opened.set(name, upstream);
    return upstream;
  };

  /** Closes all connections, including those in use. */
  close(): void {
    for (const upstream of this.#opened.values()) upstream.close();
  }
}
