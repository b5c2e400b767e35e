import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clearTimeout, setTimeout } from 'node:timers';
import type { Exchange } from '../../core/sandbox/exchange.ts';
import { type BrokenReply, breakReply, type SlowPiece } from '../../core/scenario/broken-reply.ts';
import { type ConnectionTable, effectOf, isMessageFault } from '../../core/scenario/fault-table.ts';
import { MAX_DELAY_MS } from '../../core/service/settings-shapes.ts';
import { isRowName } from '../../core/tables.ts';
import { unwrapTls } from './tls.ts';
import { closeWith, type PendingResponses, sendReply } from './write.ts';

/** What each does to a connection, before the reply is sent if there is one. */
const ON_CONNECTION: ConnectionTable<
  (response: ServerResponse, pending: PendingResponses) => void
> = {
  reset: resetConnection,
  close: endConnection,
  hang: (response, pending) =>
    pending.delay(response, MAX_DELAY_MS, () => void response.req.socket.destroy()),
  'stale-connection': ({ req }) => void staleConnections.add(req.socket),
};

/** Connections that will reset the next request, although clients consider them open. */
export const staleConnections = new WeakSet<Socket>();

/** Writes the reply, or breaks it as its fault says. When its response ends, no timer and no socket is left. */
export function sendExchange(
  { fault, reply }: Pick<Exchange, 'fault' | 'reply'>,
  response: ServerResponse,
  pending: PendingResponses,
): void {
  if (fault && isRowName(ON_CONNECTION, fault.kind)) ON_CONNECTION[fault.kind](response, pending);
  if (effectOf(fault).sender === 'nobody') return;
  if (reply === undefined) throw new Error('An exchange has neither a reply nor a fault.');
  const { method = '', httpVersion } = response.req;
  const broken = isMessageFault(fault) && breakReply(fault, reply, method, httpVersion !== '1.0');
  if (!broken) sendReply(response, reply);
  else if (broken.isCut) cutOff(response, broken);
  else if (broken.pieces === undefined) writeHead(response, broken).end(broken.content);
  else sendSlowly(response, broken, broken.pieces, pending);
}

export function resetConnection({ req: { socket } }: ServerResponse): void {
  try {
    unwrapTls(socket).resetAndDestroy();
  } catch {
    // An embedding app may listen on a Unix socket, which has no TCP reset.
    socket.destroy();
  }
}

function writeHead(response: ServerResponse, { status, headers }: BrokenReply): ServerResponse {
  return response.writeHead(status, [...headers]);
}

/** Writes to the socket itself, because the response would end the message correctly. */
function cutOff(response: ServerResponse, broken: BrokenReply): void {
  const { socket } = response.req;
  const { status, content, badChunk } = broken;
  if (content === undefined) {
    // Cut within the status line: after it, some clients consider the head complete.
    socket.write(`HTTP/1.1 ${String(status).slice(0, 1)}`);
  } else {
    writeHead(response, broken).flushHeaders();
    if (badChunk === undefined) socket.write(content);
    else {
      const { length } = content;
      if (length > 0) socket.write(formatChunk(length.toString(16), content));
      socket.write(formatChunk('xyz', badChunk));
    }
  }
  endConnection(response);
}

function formatChunk(size: string, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${size}\r\n`), content, Buffer.from('\r\n')]);
}

/** Sends the head at once, and each piece of the body at its time. */
function sendSlowly(
  response: ServerResponse,
  broken: BrokenReply,
  pieces: readonly SlowPiece[],
  pending: PendingResponses,
): void {
  writeHead(response, broken).flushHeaders();
  const left = new Set(pieces);
  const send = (piece: SlowPiece): void => {
    if (!left.delete(piece)) return;
    if (left.size > 0) response.write(piece.bytes);
    else response.end(piece.bytes);
  };
  const timers = pieces.map((piece) => setTimeout(send, piece.after, piece));
  response.once('close', () => timers.forEach(clearTimeout));
  pending.add(response, () => left.forEach(send));
}

/** Closes the connection with a FIN, not a reset, after everything written is sent. */
function endConnection({ req }: ServerResponse): void {
  closeWith(req.socket);
  req.resume();
}
