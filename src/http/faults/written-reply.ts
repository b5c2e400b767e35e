import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

/** A reply as it goes on the wire. */
export interface Written {
  readonly status: number;
  /** Names and values in turn, without `Content-Length` and `Transfer-Encoding`. */
  readonly headers: readonly string[];
  /** The content that GET would get, also in a reply to HEAD. */
  readonly body: string | Buffer;
  /** What follows the body, of a deployment's reply that is too large to be held. */
  readonly rest?: Readable | undefined;
}

/** Whether the reply comes with content (RFC 9110, section 6.4.1). */
export function hasContent(response: ServerResponse, { status }: Written): boolean {
  return response.req.method !== 'HEAD' && mayHaveContent(status);
}

/**
 * Writes a head that announces `length` bytes of content, if the status may have content. A rest adds
 * an unknown number.
 */
export function writeHead(response: ServerResponse, written: Written, length: number): void {
  const { status, headers, rest } = written;
  const promise =
    mayHaveContent(status) && rest === undefined ? ['Content-Length', String(length)] : [];
  response.writeHead(status, [...headers, ...promise]);
}

/** Whether replies with a status have content (RFC 9110, section 6.4.1). */
export function mayHaveContent(status: number): boolean {
  return status !== 204 && status !== 304;
}
