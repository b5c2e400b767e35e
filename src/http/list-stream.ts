import type { ServerResponse } from 'node:http';
import { inTurn } from './faults/broken-connection.ts';

/** A reply that is sent chunk by chunk. */
interface Stream {
  readonly response: ServerResponse;
  /** What is still to be sent; the last chunk is what it returns. */
  readonly rest: Generator<string, string>;
}

/** Streams whose clients accept more. All servers of the process share this queue. */
const ready: Stream[] = [];

/**
 * Sends chunk after chunk until the client leaves. Each turn of the event loop makes one chunk of one
 * stream, so that other requests never wait for more, however many long replies there are.
 */
export function stream(
  response: ServerResponse,
  first: string,
  rest: Generator<string, string>,
): void {
  goOn({ response, rest }, response.write(first));
}

/** @param takesMore whether the client accepts more */
function goOn(sent: Stream, takesMore: boolean): void {
  const { response } = sent;
  if (!takesMore) response.once('drain', () => makeReady(sent));
  else inTurn(response, () => makeReady(sent));
}

function makeReady(sent: Stream): void {
  ready.push(sent);
  if (ready.length === 1) setImmediate(takeTurn);
}

function takeTurn(): void {
  const next = ready.shift();
  if (ready.length > 0) setImmediate(takeTurn);
  if (next === undefined || next.response.destroyed) return;
  const { response, rest } = next;
  try {
    const { value, done } = rest.next();
    if (done === true) response.end(value);
    else goOn(next, response.write(value));
  } catch (error) {
    // The reply has begun, so the client can only be shown that it is incomplete.
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
    response.destroy();
  }
}
