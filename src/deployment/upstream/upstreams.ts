import { asError } from '../../node-errors.ts';
import { type OpenUpstream, type Upstream, UpstreamError } from '../../sandbox/upstream.ts';
import type { TransportOptions } from '../transport.ts';

export type Upstreams = ReturnType<typeof createUpstreams>;

/** The upstreams of one server. Loads their client with the first one. */
export function createUpstreams(options: TransportOptions = {}) {
  /** By URL and key: a test may set the same one before each of its cases. */
  const upstreams = new Map<string, Upstream>();

  const open: OpenUpstream = async (base, key) => {
    const { createTransport, explainFailure, ReplyTimeoutError } = await import('../transport.ts');
    const { compareReply: compare } = await import('./drift.ts');
    const name = JSON.stringify([base, key]);
    const known = upstreams.get(name);
    if (known !== undefined) return known;
    const url = base.href.replace(/\/$/, '');
    const { send: sendOnce, close } = createTransport(base, options);
    const send: Upstream['send'] = (request) =>
      sendOnce(request).catch((thrown) => {
        const isTimeout = [thrown, asError(thrown).cause].some(
          (error) => error instanceof ReplyTimeoutError,
        );
        const why = `the upstream ${url} failed: ${explainFailure(thrown)}`;
        throw new UpstreamError(why, isTimeout);
      });
    const upstream = { url, key, compare, send, close };
    upstreams.set(name, upstream);
    return upstream;
  };

  /** Closes all connections, including those in use. */
  const close = (): void => {
    for (const upstream of upstreams.values()) upstream.close();
  };

  return { open, close };
}
