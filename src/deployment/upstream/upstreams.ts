import type { OpenUpstream, Upstream } from '../../sandbox/upstream.ts';
import type { UpstreamSettings } from './upstream-client.ts';

/** The upstreams of one server. Loads their client with the first one. */
export class Upstreams {
  readonly #settings: UpstreamSettings;
  readonly #opened: Upstream[] = [];

  constructor(settings: UpstreamSettings = {}) {
    this.#settings = settings;
  }

  readonly open: OpenUpstream = async (url, key) => {
    const { UpstreamClient } = await import('./upstream-client.ts');
    const upstream = new UpstreamClient(url, key, this.#settings);
    this.#opened.push(upstream);
    return upstream;
  };

  /** Closes all connections, including those in use. */
  close(): void {
    for (const upstream of this.#opened) upstream.close();
  }
}
