import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clearTimeout, setTimeout } from 'node:timers';
import { setImmediate } from 'node:timers/promises';
import { warn } from '../node-errors.ts';
import { without } from '../raw-headers.ts';
import type { ConnectionError } from './rejections.ts';
import type { Certificate } from './tls/certificate.ts';
import { createTlsServer, unwrapTls } from './tls/secure.ts';

/** How long the server waits for a client, in milliseconds. */
export interface Timeouts {
  /** For the head of a request. */
  readonly headers: number;
  /** For a whole request, for the next one, and for a client that does not read its reply. */
  readonly idle: number;
  /** For everything under way when the server stops. */
  readonly stop: number;
}

const UPGRADE: ReadonlySet<string> = new Set(['upgrade']);

/**
 * Creates an HTTP server whose connections end after the replies that they owe.
 *
 * @param rejectionText the whole reply to what cannot be read
 */
export function createHttpServer(
  timeouts: Timeouts,
  certificate: Certificate | undefined,
  answer: RequestListener,
  rejectionText: (error: ConnectionError) => string,
): { readonly server: Server; readonly close: () => Promise<void> } {
  const options = {
    headersTimeout: timeouts.headers,
    requestTimeout: Math.max(timeouts.headers, timeouts.idle),
    connectionsCheckingInterval: Math.ceil(timeouts.headers / 10),
    keepAliveTimeout: 0, // resets two timers for each request; `timeout` does with one
    requireHostHeader: false, // Node would reply without an Error
    joinDuplicateHeaders: true, // so that a second Host shows
  };
  const onPlain = (socket: Socket): void => reject({ code: 'PLAIN' }, socket);
  const server = certificate
    ? createTlsServer(options, certificate, onPlain)
    : createServer(options);
  server.timeout = timeouts.idle;
  server.maxConnections = countConnections();
  server.maxHeadersCount = 0; // Node would drop the rest; their size is limited

  /** Each open connection with the response to its latest request. */
  const latest = new Map<Socket, ServerResponse | undefined>();
  let isStopping = false;
  const add = (socket: Socket): void => {
    if (latest.has(socket)) return;
    latest.delete(unwrapTls(socket)); // TLS takes the place of TCP
    latest.set(socket, undefined);
    socket.on('error', () => {}).once('close', () => latest.delete(socket));
  };
  const receive: RequestListener = (request, response) => {
    latest.set(request.socket, response);
    if (isStopping) response.setHeader('Connection', 'close');
    answer(request, response);
  };
  const reject = (error: ConnectionError, socket: Socket): void => {
    const text = rejectionText(error);
    const response = latest.get(socket);
    if (isUnderWay(response) && response.req.complete) {
      response.once('close', () => closeWith(socket));
    } else {
      const isTooLate = response?.headersSent && !response.req.complete;
      closeWith(socket, isTooLate || socket.bytesRead === 0 ? '' : text);
    }
  };
  server.on('connection', add).on('secureConnection', add).on('request', receive);
  server.on('checkExpectation', receive); // a server may ignore others (RFC 9110, section 10.1.1)
  server.on('clientError', reject);
  server.on('connect', (_request, socket: Socket) => reject({ code: 'CONNECT' }, socket));
  server.on('timeout', (socket: Socket) => {
    const isWaiting = isUnderWay(latest.get(socket)) && socket.writableLength === 0;
    if (!isWaiting) socket.destroy();
  });
  // Node drops what follows a request to upgrade in its packet: all is read again, without that wish.
  server.on('upgrade', ({ method, url, httpVersion, rawHeaders }, socket: Socket, rest) => {
    const headers = without(rawHeaders, UPGRADE).map((text, at) => text + (at % 2 ? '\r\n' : ': '));
    const head = `${method} ${url} HTTP/${httpVersion}\r\n${headers.join('')}\r\n`;
    const response = latest.get(socket);
    const readAgain = (): void => {
      if (socket.destroyed) return;
      socket.unshift(Buffer.concat([Buffer.from(head, 'latin1'), rest]));
      server.emit(certificate ? 'secureConnection' : 'connection', socket);
    };
    if (isUnderWay(response)) response.once('close', readAgain);
    else readAgain();
  });
  // Node's own cuts off replies that are on their way to a slow client.
  server.closeIdleConnections = () => {
    for (const [socket, response] of latest) if (!isUnderWay(response)) socket.destroySoon();
  };

  const close = async (): Promise<void> => {
    isStopping = true;
    for (const [socket, response] of latest) {
      if (response?.headersSent) response.once('close', () => closeWith(socket));
      else response?.setHeader('Connection', 'close');
    }
    for (const _turn of [1, 2]) await setImmediate(); // what has arrived is read first
    const closed = once(server.close(), 'close');
    const cutOff = (): void => latest.forEach((_, socket) => void socket.destroy());
    const timer = setTimeout(cutOff, timeouts.stop);
    await closed;
    clearTimeout(timer);
  };
  return { server, close };
}

/**
 * Half the file descriptors, of which only Linux tells the number. The others are for connections to
 * a deployment, and for files: an import that fails for want of a descriptor fails for ever.
 */
function countConnections(): number {
  const limits = existsSync(LIMITS) ? readFileSync(LIMITS, 'utf8') : '';
  const descriptors = /^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY;
  return Math.floor(Number(descriptors) / 2);
}

const LIMITS = '/proc/self/limits';

/** Node takes the socket from a response that is sent; one that waits for others has none yet. */
function isUnderWay(response: ServerResponse | undefined): response is ServerResponse {
  return response !== undefined && !(response.writableFinished && response.socket === null);
}

/** For a client to read its last reply, or to send the rest of its request. */
export const LINGER_TIMEOUT_MS = 1_000;

/**
 * Ends a connection, and goes on reading for a while: otherwise a reset can overtake the reply (RFC
 * 9112, section 9.6).
 */
export function closeWith(socket: Socket, text = ''): void {
  if (socket.writableEnded || socket.destroyed) return;
  socket.end(text).resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_TIMEOUT_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** Calls `act` once the replies to earlier requests of the connection are sent. */
export function onTurn(response: ServerResponse, act: () => void): void {
  if (response.socket !== null) act();
  else {
    response.once('socket', (socket: Socket) => {
      try {
        act();
      } catch (error) {
        warn(error);
        socket.destroy();
      }
    });
  }
}

/** Replaces a response whose head failed, of which Node keeps a part: sends text, and closes. */
export function replaceWith(response: ServerResponse, text: string): void {
  const { method, socket } = response.req;
  const head = text.slice(0, text.indexOf('\r\n\r\n') + 4);
  onTurn(response, () => closeWith(socket, method === 'HEAD' ? head : text));
}
