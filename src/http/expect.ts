import type { IncomingMessage, ServerResponse } from 'node:http';

/** Requests whose client holds the body back until asked for it (RFC 9110, section 10.1.1). */
const heldBack = new WeakSet<IncomingMessage>();

/** Records that a client holds its body back. */
export function holdBack(request: IncomingMessage, response: ServerResponse): void {
  heldBack.add(request);
  // A client may or may not send a body that it was not asked for: no request can follow.
  response.shouldKeepAlive = false;
}

/** Asks for the body if the client holds it back. */
export function askForBody(request: IncomingMessage, response: ServerResponse): void {
  // The header first, since hardly any request has it.
  if (request.headers.expect === undefined || !heldBack.delete(request)) return;
  response.shouldKeepAlive = true;
  response.writeContinue();
}
