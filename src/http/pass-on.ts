import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { DeploymentBody, StreamedBody } from '../service/reply.ts';

/** The most bytes held of a body, in either direction. */
export const MOST_HELD = 64 * 1024;

/** Streams a deployment's reply at the pace of the client. */
export function passOn(
  response: ServerResponse,
  status: number,
  headers: string[],
  { from, phrase, held: begun, onEnd, onBreak }: StreamedBody,
): void {
  const { req } = response;
  const length = contentLength(headers);
  const bare = req.method === 'HEAD' || status === 204 || status === 304;
  const chunked = length === undefined && req.httpVersion === '1.1' && !bare;
  response.sendDate = false; // the deployment's Date, or none
  const reason = UNSENDABLE.test(phrase) ? '' : phrase;
  response.writeHead(status, reason, chunked ? headers : without(headers, TRAILER));

  let size = 0;
  let held: Buffer[] | undefined = [];
  let last: Buffer | undefined;
  const take = (chunk: Buffer): void => {
    size += chunk.length;
    if (size > MOST_HELD) held = undefined;
    held?.push(chunk);
    // The last bytes: the client now has the whole reply.
    if (size === length) last = chunk;
    else if (!response.write(chunk)) {
      pause(from);
      response.once('drain', () => resume(from));
    }
  };
  const end = (): void => {
    if (last !== undefined) response.write(last);
    if (from.rawTrailers.length > 0) response.addTrailers(pairsOf(from.rawTrailers));
    response.end();
  };
  if (begun !== undefined) take(begun.bytes);
  if (begun?.whole) {
    end();
    return;
  }
  from.on('data', take);
  from.once('end', () => {
    if (onEnd === undefined) end();
    else onEnd(held && Buffer.concat(held), end);
  });
  const broken = ({ message }: Error): void => {
    onBreak?.(`the upstream broke the body off after ${size} bytes: ${message}`);
    response.destroy();
  };
  from.once('error', broken);
  // It can have broken off during a delay, which paused it.
  if (from.errored) broken(from.errored);
  else if (from.isPaused()) resume(from);
  // The body can be slow to begin.
  if (from.readableLength === 0 && !from.complete) response.flushHeaders();
}

function contentLength(headers: readonly string[]): number | undefined {
  const at = headers.findIndex((name, index) => index % 2 === 0 && LENGTH.test(name));
  return at < 0 ? undefined : Number(headers[at + 1]);
}

const LENGTH = /^content-length$/i;

/** What Node reads in a reason phrase, but refuses to send (RFC 9112, section 4). */
const UNSENDABLE = /[^\t -~\x80-\xff]/;

/** Only chunks can have trailers. */
const TRAILER: ReadonlySet<string> = new Set(['trailer']);

function pairsOf(headers: readonly string[]): [string, string][] {
  return headers.flatMap((name, at): [string, string][] =>
    at % 2 === 0 ? [[name, headers[at + 1] ?? '']] : [],
  );
}

/**
 * Reads a body up to the limit. The rest stays in the stream.
 *
 * @param broken called instead if it breaks off
 */
export function hold(
  from: DeploymentBody,
  then: (bytes: Buffer, whole: boolean) => void,
  broken: (problem: string) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const settle = (whole: boolean): void => {
    from.off('data', onData).off('end', onEnd).off('error', onError);
    then(Buffer.concat(chunks, Math.min(size, MOST_HELD)), whole);
  };
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    size += chunk.length;
    if (size <= MOST_HELD) return;
    from.pause();
    from.unshift(chunk.subarray(chunk.length - (size - MOST_HELD)));
    settle(false);
  };
  const onEnd = (): void => settle(true);
  const onError = ({ message }: Error): void =>
    broken(`the upstream broke the body off: ${message}`);
  from.on('data', onData).on('end', onEnd).on('error', onError);
}

/** Stops reading a body. Its connection is kept if all of it has arrived. */
export function discard(from: DeploymentBody): void {
  from.on('error', () => {});
  if (from.complete) resume(from);
  else from.destroy();
}

/** Pauses a body and its connection, which would otherwise read two chunks ahead. */
export function pause(from: DeploymentBody): void {
  from.pause();
  from.socket?.pause();
}

function resume(from: DeploymentBody): void {
  from.socket?.resume();
  from.resume();
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

/** Headers that belong to one connection (RFC 9110, sections 7.6.1 and 11.7). */
const OF_ONE_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/**
 * The headers that are passed on, as they were written: all but those of one connection, which
 * `Connection` can add to.
 *
 * @param headers names and values in turn
 * @param dropped names of others to leave out, in lower case
 */
export function passedOn(headers: readonly string[], dropped: ReadonlySet<string>): string[] {
  const named = headers
    .filter((_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'connection')
    .flatMap((value) => value.toLowerCase().split(','))
    .map((name) => name.trim());
  return without(headers, new Set([...OF_ONE_HOP, ...dropped, ...named]));
}

/** Leaves out headers by their names in lower case. */
export function without(headers: readonly string[], names: ReadonlySet<string>): string[] {
  return headers.filter((_, at) => !names.has(headers[at - (at % 2)]?.toLowerCase() ?? ''));
}
