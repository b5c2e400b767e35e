import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pour } from '../long-text.ts';
import type { PendingResponses } from '../pending-responses.ts';
import { hasContent, type WireReply, writeHead } from './breaking.ts';

/** How a body is spread over time. */
export interface BodyPace {
  readonly chunks: number;
  /** Milliseconds from the head to the last piece. */
  readonly over: number;
}

/** Sends the head at once, then the body in evenly spaced pieces. */
export function slowBody(
  response: ServerResponse,
  reply: WireReply,
  pace: BodyPace,
  pending: PendingResponses,
): void {
  const body = Buffer.from(reply.body);
  writeHead(response, reply, body.length);
  if (!hasContent(response, reply) || body.length === 0) {
    response.end();
    return;
  }
  response.flushHeaders();
  sendSlowly(response, body, reply.rest, pace, pending);
}

function sendSlowly(
  response: ServerResponse,
  body: Buffer,
  rest: Readable | undefined,
  { chunks, over }: BodyPace,
  pending: PendingResponses,
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
      pour(rest, response);
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
  if (!response.writableEnded) pending.add(response, sendRest);
}
