import type { OpenUpstream, Upstream } from '../../sandbox/upstream.ts';

/** What all upstreams of a server share. */
export interface UpstreamSettings {
  /** A certificate to trust besides those that Node trusts, in PEM. */
  readonly ca?: string | undefined;
  /** Milliseconds until a reply begins, and between its parts; 30 seconds by default. */
  readonly timeout?: number | undefined;
}

/** The upstreams of one server. */
export class Upstreams {
  readonly #settings: UpstreamSettings;
  readonly #opened: Upstream[] = [];

  constructor(settings: UpstreamSettings = {}) {
    this.#settings = settings;
  }

  readonly open: OpenUpstream = async (text, key) => {
    // Few servers have one.
    const [{ baseUrlOf }, { UpstreamClient }] = await Promise.all([
      import('../deployment-client.ts'),
      import('./upstream-client.ts'),
    ]);
    const url = baseUrlOf(text);
    if (url === undefined) return undefined;
    const upstream = new UpstreamClient(url, key, this.#settings);
    this.#opened.push(upstream);
    return upstream;
  };

  /** Closes all connections, including those in use. */
  close(): void {
    for (const upstream of this.#opened) upstream.close();
  }
}
