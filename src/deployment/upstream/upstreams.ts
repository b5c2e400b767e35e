import type { Agent } from 'node:http';
import type { OpenUpstream } from '../../sandbox/upstream.ts';
import type { UpstreamClient, UpstreamSettings } from './upstream-client.ts';

/** The upstreams of one server. Loads their client with the first one. */
export class Upstreams {
  readonly #settings: UpstreamSettings;
  /**
   * By URL and key. A test may set the same one before each of its cases. Those that no sandbox and no
   * request holds are collected as garbage.
   */
  readonly #opened = new Map<string, WeakRef<UpstreamClient>>();
  readonly #forget = new FinalizationRegistry(({ name, agent }: { name: string; agent: Agent }) => {
    agent.destroy();
    if (this.#opened.get(name)?.deref() === undefined) this.#opened.delete(name);
  });

  constructor(settings: UpstreamSettings = {}) {
    this.#settings = settings;
  }

  readonly open: OpenUpstream = async (url, key) => {
    const { UpstreamClient } = await import('./upstream-client.ts');
    const name = JSON.stringify([url, key]);
    const known = this.#opened.get(name)?.deref();
    if (known !== undefined) return known;
    const upstream = new UpstreamClient(url, key, this.#settings);
    this.#opened.set(name, new WeakRef(upstream));
    this.#forget.register(upstream, { name, agent: upstream.agent });
    return upstream;
  };

  /** Closes all connections, including those in use. */
  close(): void {
    for (const upstream of this.#opened.values()) upstream.deref()?.close();
  }
}
