import type { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { writeJson } from '../contract/json.ts';
import { writePieces } from '../http/write.ts';
import { type ClockState, isReal, timeOf } from '../service/clock.ts';
import { type ControlReply, refuse } from './endpoint.ts';

const JSON_TYPE = 'application/json';

/** Sends a reply of the control API. */
export function sendReply(
  response: ServerResponse,
  { status, headers = {}, body }: ControlReply,
  clock?: ClockState,
): void {
  response.statusCode = status;
  // A cache would miss changes in the sandbox.
  response.setHeader('Cache-Control', 'no-store');
  if (clock !== undefined && !isReal(clock)) {
    response.setHeader('Date', new Date(timeOf(clock)).toUTCString());
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  switch (body.kind) {
    case 'none':
      response.end();
      return;
    case 'json':
      sendWhole(response, writeJson(body.value), JSON_TYPE);
      return;
    case 'text':
      sendWhole(response, body.text, body.mediaType);
      return;
    case 'pieces':
      response.setHeader('Content-Type', JSON_TYPE);
      writePieces(response, body.pieces, (whole) => setLength(response, whole));
      return;
    case 'stream':
      response.setHeader('Content-Type', body.mediaType);
      response.flushHeaders();
      if (response.req.method === 'HEAD') response.end();
      else body.open(response);
  }
}

/** Answers 405 to what none of the `allow` methods has answered. */
export function refuseMethod(allow: string): RequestHandler {
  return ({ method }, response) => {
    const message = `${method} is not allowed here; ${allow} are`;
    sendReply(response, refuse('method_not_allowed', 405, message, { Allow: allow }));
  };
}

/** Node leaves out the text in a reply to HEAD. */
function sendWhole(response: ServerResponse, text: string, mediaType: string): void {
  response.setHeader('Content-Type', mediaType);
  setLength(response, text);
  response.end(text);
}

function setLength(response: ServerResponse, whole: string | undefined): void {
  if (whole !== undefined) response.setHeader('Content-Length', Buffer.byteLength(whole));
}
