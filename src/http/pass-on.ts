import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { warn } from '../node-errors.ts';
import { headerOf, without } from '../raw-headers.ts';
import type { DeploymentBody, StreamedBody } from '../service/reply.ts';
import { hasContent } from './framing.ts';

/** The most bytes held of a body, in either direction. */
export const MOST_HELD = 64 * 1024;

/** What Node reads in a reason phrase, but refuses to send (RFC 9112, section 4). */
const UNSENDABLE = /[^\t -~\x80-\xff]/;

/** Streams a deployment's reply at the pace of the client. */
export function passOn(
  response: ServerResponse,
  status: number,
  headers: string[],
  body: StreamedBody,
): void {
  const { req } = response;
  const length = headerOf(headers, 'content-length');
  const chunked = length === undefined && req.httpVersion === '1.1' && hasContent(response, status);
  response.sendDate = false; // the deployment's Date, or none
  const reason = UNSENDABLE.test(body.phrase) ? '' : body.phrase;
  // Only chunks can have trailers.
  response.writeHead(status, reason, chunked ? headers : without(headers, new Set(['trailer'])));
  pour(response, body, Number(length)).catch((error) => {
    warn(error);
    response.destroy();
  });
}

/** @param length NaN if it is unknown */
async function pour(response: ServerResponse, body: StreamedBody, length: number): Promise<void> {
  const { from, held: begun, onEnd, onBreak } = body;
  const content: Buffer[] = [];
  let size = 0;
  let last: Buffer | undefined;
  const take = async (chunk: Buffer): Promise<void> => {
    size += chunk.length;
    if (size <= MOST_HELD) content.push(chunk);
    // The client may have the whole reply only after it was recorded.
    if (size === length) last = chunk;
    else if (!response.write(chunk)) await once(response, 'drain');
  };
  try {
    if (begun !== undefined) await take(begun.bytes);
    // The body can be slow to begin.
    else if (from.readableLength === 0 && !from.complete) response.flushHeaders();
    if (!begun?.whole) for await (const chunk of from) await take(chunk);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    onBreak?.(`the upstream broke the body off after ${size} bytes: ${why}`);
    response.destroy();
    return;
  }
  const whole = size <= MOST_HELD ? Buffer.concat(content) : undefined;
  if (onEnd !== undefined && !(await onEnd(whole))) {
    response.destroy();
    return;
  }
  if (last !== undefined) response.write(last);
  const { rawTrailers } = from;
  response.addTrailers(
    rawTrailers.flatMap((name, at): [string, string][] =>
      at % 2 === 0 ? [[name, rawTrailers[at + 1] ?? '']] : [],
    ),
  );
  response.end();
}

/** Reads the start of a body. The rest stays in the stream. */
export async function readStart(
  from: DeploymentBody,
): Promise<{ readonly bytes: Buffer; readonly whole: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of from.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MOST_HELD) return { bytes: Buffer.concat(chunks), whole: false };
  }
  return { bytes: Buffer.concat(chunks), whole: true };
}

/**
 * Calls back if the client disconnects.
 *
 * @returns cancels the callback
 */
export function whenLeft(socket: Socket, act: () => void): () => void {
  socket.once('close', act);
  if (socket.destroyed) act();
  return () => socket.off('close', act);
}
