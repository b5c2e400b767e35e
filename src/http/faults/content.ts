import type { ServerResponse } from 'node:http';
import type { Written } from './written.ts';

/** Whether the reply comes with content (RFC 9110, section 6.4.1). */
export function hasContent(response: ServerResponse, { status }: Written): boolean {
  return response.req.method !== 'HEAD' && mayHaveContent(status);
}

/** Writes a head that promises `length` bytes of content, if the status may have content. */
export function writeHead(response: ServerResponse, written: Written, length: number): void {
  const { status, headers } = written;
  const promise = mayHaveContent(status) ? ['Content-Length', String(length)] : [];
  response.writeHead(status, [...headers, ...promise]);
}

function mayHaveContent(status: number): boolean {
  return status !== 204 && status !== 304;
}
