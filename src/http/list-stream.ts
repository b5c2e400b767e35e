import type { ServerResponse } from 'node:http';
import { inTurn } from './faults/broken-connection.ts';

/** A reply that is sent chunk by chunk. */
interface Stream {
  readonly response: ServerResponse;
  /** What is still to be sent; the last chunk is what it returns. */
  readonly rest: Generator<string, string>;
}

/** Those whose clients take more. Every server of the process is in the one queue for its thread. */
const ready: Stream[] = [];

/**
 * Sends chunk after chunk, until the client leaves. In one turn of the event loop one chunk is made,
 * whosever it is: however many long replies there are, others wait for no more than that.
 */
export function stream(
  response: ServerResponse,
  first: string,
  rest: Generator<string, string>,
): void {
  goOn({ response, rest }, response.write(first));
}

/** @param takesMore whether the client has taken what was written */
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
    // The reply has begun: all that can be told is that it is not whole.
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
    response.destroy();
  }
}
