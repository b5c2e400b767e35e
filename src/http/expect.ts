import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Requests whose body the client holds back until it is asked for (RFC 9110, section 10.1.1) and
 * nobody has asked yet.
 */
const heldBack = new WeakSet<IncomingMessage>();

/** Notes that a client holds its body back. */
export function holdBack(request: IncomingMessage, response: ServerResponse): void {
  heldBack.add(request);
  // A body that was never asked for may come all the same or not: no next request can follow.
  response.shouldKeepAlive = false;
}

/** Asks for the body where the client holds it back. */
export function askForBody(request: IncomingMessage, response: ServerResponse): void {
  // The header is looked at first, since hardly any request has it.
  if (request.headers.expect === undefined || !heldBack.delete(request)) return;
  response.shouldKeepAlive = true;
  response.writeContinue();
}
