import type { ServerResponse } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { inTurn } from './broken-connection.ts';
import type { DrawnOut } from './drawn-out.ts';
import { hasContent, type Written, writeHead } from './written-reply.ts';

/** How a body is spread over time. */
export interface Pace {
  readonly chunks: number;
  /** Milliseconds from the head to the last piece. */
  readonly over: number;
}

/** Sends the head at once, then the body in evenly spaced pieces. */
export function slowBody(
  response: ServerResponse,
  written: Written,
  pace: Pace,
  drawnOut: DrawnOut,
): void {
  inTurn(response, () => {
    const body = Buffer.from(written.body);
    writeHead(response, written, body.length);
    if (!hasContent(response, written) || body.length === 0) {
      response.end();
      return;
    }
    response.flushHeaders();
    sendSlowly(response, body, written.rest, pace, drawnOut);
  });
}

function sendSlowly(
  response: ServerResponse,
  body: Buffer,
  rest: Readable | undefined,
  { chunks, over }: Pace,
  drawnOut: DrawnOut,
): void {
  const start = performance.now();
  let sent = 0;
  let timer: NodeJS.Timeout | undefined;

  const sendRest = (): void => {
    clearTimeout(timer);
    // The last piece may be written and still be on its way to a slow client.
    if (response.writableEnded) return;
    if (rest === undefined) response.end(body.subarray(sent));
    else {
      response.write(body.subarray(sent));
      pipeline(rest, response, () => {});
    }
  };
  const sendDue = (): void => {
    const elapsed = performance.now() - start;
    // Paced by the clock: the delays of timers add up.
    const due = Math.floor((elapsed * chunks) / over);
    if (elapsed >= over || due >= chunks) {
      sendRest();
      return;
    }
    const to = Math.floor((body.length * due) / chunks);
    if (to > sent) response.write(body.subarray(sent, to));
    sent = Math.max(sent, to);
    timer = setTimeout(sendDue, ((due + 1) * over) / chunks - elapsed);
  };

  response.once('close', () => clearTimeout(timer));
  sendDue();
  if (!response.writableEnded) drawnOut.add(response, sendRest);
}
