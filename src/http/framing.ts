import type { ServerResponse } from 'node:http';
import { mayHaveContent } from '../service/reply.ts';

/** The header that announces the length of a reply, unless its status forbids it (RFC 9110, section 8.6). */
export function framingHeaders(status: number, length: number): string[] {
  return mayHaveContent(status) ? ['Content-Length', String(length)] : [];
}

/** Whether the reply comes with content (RFC 9110, section 6.4.1). */
export function hasContent(response: ServerResponse, status: number): boolean {
  return response.req.method !== 'HEAD' && mayHaveContent(status);
}
