import { DEFAULTS } from '../../defaults.ts';
import { type Upstream, UpstreamError } from '../../sandbox/upstream.ts';
import { reasonOf, SilenceError, Transport, type TransportOptions } from '../transport.ts';
import { compareReply } from './drift.ts';

/**
 * Passes requests on to a deployment.
 *
 * @param base as `baseUrlOf` reads it
 */
export function upstreamAt(
  base: URL,
  key: string | undefined,
  options: TransportOptions,
): Upstream {
  const url = base.href.replace(/\/$/, '');
  const transport = new Transport(base, options, DEFAULTS.upstreamTimeout);
  return {
    url,
    key,
    compare: compareReply,
    close: () => transport.close(),
    async send(request) {
      try {
        const body = await transport.send(request);
        const { statusCode: status = 0, statusMessage: phrase = '', rawHeaders: headers } = body;
        return { status, phrase, headers, body };
      } catch (error) {
        const why = `the upstream ${url} failed: ${reasonOf(error)}`;
        throw new UpstreamError(why, error instanceof SilenceError);
      }
    },
  };
}
