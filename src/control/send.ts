import type { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { writeJson } from '../contract/json.ts';
import { writeReply } from '../http/write.ts';
import { type ClockState, isReal, timeOf } from '../service/clock.ts';
import { type ControlReply, refuse } from './endpoint.ts';

/** Sends a reply of the control API. */
export function sendReply(
  response: ServerResponse,
  { status, headers: own = {}, body }: ControlReply,
  clock?: ClockState,
): void {
  // A cache would miss changes in the sandbox.
  const headers = ['Cache-Control', 'no-store', ...Object.entries(own).flat()];
  if (clock !== undefined && !isReal(clock)) {
    headers.push('Date', new Date(timeOf(clock)).toUTCString());
  }
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

/** Answers 405 to what none of the `allow` methods has answered. */
export function refuseMethod(allow: string): RequestHandler {
  return ({ method }, response) => {
    const message = `${method} is not allowed here; ${allow} are`;
    sendReply(response, refuse('method_not_allowed', 405, message, { Allow: allow }));
  };
}
