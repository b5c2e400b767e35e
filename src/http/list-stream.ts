import type { ServerResponse } from 'node:http';
import { inTurn } from './faults/broken-connection.ts';

/** A reply that is sent chunk by chunk. */
interface Stream {
  readonly response: ServerResponse;
  /** The remaining chunks; the last one is the return value. */
  readonly rest: Generator<string, string>;
}

/** Streams whose clients accept more data. All servers of the process share this queue. */
const ready: Stream[] = [];

/**
 * Sends chunk after chunk until the client disconnects. Each turn of the event loop writes one
 * chunk of one stream, so other requests wait for one chunk at most, however many long replies are
 * under way.
 */
export function stream(
  response: ServerResponse,
  first: string,
  rest: Generator<string, string>,
): void {
  goOn({ response, rest }, response.write(first));
}

/** @param takesMore whether the client accepts more data */
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
    // The reply has begun: closing the connection tells the client that it is incomplete.
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
    response.destroy();
  }
}
