import type { ServerResponse } from 'node:http';
import { writeJson } from '../contract/json.ts';
import { writeReply } from '../http/write.ts';
import type { ControlReply } from './endpoint.ts';

/** Sends a reply of the control API. */
export function sendReply(
  response: ServerResponse,
  { status, headers: own = {}, body }: ControlReply,
): void {
  // A cache would miss changes in the sandbox.
  const headers = Object.entries({ 'Cache-Control': 'no-store', ...own }).flat();
  if (body.kind !== 'none') {
    headers.push('Content-Type', 'mediaType' in body ? body.mediaType : 'application/json');
  }
  if (body.kind === 'stream') {
    response.writeHead(status, headers).flushHeaders();
    if (response.req.method === 'HEAD') response.end();
    else body.open(response);
    return;
  }
  const isJson = body.kind === 'json';
  const content = isJson ? { kind: body.kind, text: writeJson(body.value) } : body;
  writeReply(response, status, headers, content);
}
