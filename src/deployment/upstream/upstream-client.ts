import { DEFAULTS } from '../../defaults.ts';
import {
  type Upstream,
  UpstreamError,
  type UpstreamReply,
  type UpstreamRequest,
} from '../../sandbox/upstream.ts';
import { reasonOf, SilenceError, Transport, type TransportOptions } from '../transport.ts';
import { compareReply } from './drift.ts';

/** Passes requests on to a deployment. */
export class UpstreamClient implements Upstream {
  readonly url: string;
  readonly key: string | undefined;
  readonly compare = compareReply;
  readonly #transport: Transport;

  /** @param url as `baseUrlOf` reads it */
  constructor(url: URL, key: string | undefined, options: TransportOptions) {
    this.url = url.href.replace(/\/$/, '');
    this.key = key;
    this.#transport = new Transport(url, options, DEFAULTS.upstreamTimeout);
  }

  async send(request: UpstreamRequest): Promise<UpstreamReply> {
    try {
      const body = await this.#transport.send(request);
      const { statusCode: status = 0, statusMessage: phrase = '', rawHeaders: headers } = body;
      return { status, phrase, headers, body };
    } catch (error) {
      const why = `the upstream ${this.url} failed: ${reasonOf(error)}`;
      throw new UpstreamError(why, error instanceof SilenceError);
    }
  }

  close(): void {
    this.#transport.close();
  }
}
