import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError } from './rejections.ts';
import type { tlsUpgrade } from './tls/secure.ts';

/** How long a client may be silent, in milliseconds. */
export interface Timeouts {
  /** Before its first request. */
  readonly headers: number;
  /** After that, within a request or between two; longer than clients keep a connection themselves. */
  readonly idle: number;
  /** While the server stops. */
  readonly stop: number;
}

/** How long stopping may take, however slowly a client reads, in milliseconds. */
const LONGEST_STOP = 30_000;

/** No reply can be sent: the connection is reset, or fails in TLS. */
const BROKEN = /^(?:ECONNRESET|EPROTO|ERR_(?:SSL|TLS)_.*)$/;

/** The open connections of a server. */
export class Connections {
  readonly #timeouts: Timeouts;
  readonly #rejectionText: (error: ConnectionError, socket: Socket) => string;
  /** Never listens: it gets connections once it is known whether they are TLS. */
  readonly #http = createServer({
    keepAliveTimeout: 0,
    requireHostHeader: false,
    joinDuplicateHeaders: true, // so that a second Host shows
  });
  /** Each with the response to its latest request. */
  readonly #open = new Map<Socket, ServerResponse | undefined>();
  #isStopping = false;

  /** @param rejectionText the whole reply to what cannot be read */
  constructor(
    timeouts: Timeouts,
    answer: RequestListener,
    rejectionText: (error: ConnectionError, socket: Socket) => string,
  ) {
    this.#timeouts = timeouts;
    this.#rejectionText = rejectionText;
    const http = this.#http;
    http.maxHeadersCount = 0; // Node would drop the rest; their size is limited
    const receive: RequestListener = (request, response) => {
      const { socket } = request;
      if (this.#open.get(socket) === undefined) socket.setTimeout(timeouts.idle);
      this.#open.set(socket, response);
      if (this.#isStopping) response.setHeader('Connection', 'close');
      answer(request, response);
    };
    http.on('request', receive);
    // A server may ignore other expectations (RFC 9110, section 10.1.1).
    http.on('checkExpectation', receive);
    http.on('clientError', (error, socket: Socket) => this.#reject(socket, error));
    http.on('connect', (_request, socket: Socket) => {
      socket.on('error', () => socket.destroy()); // Node handles none from then on
      // Node has also taken the socket from a reply under way.
      if (isUnderWay(this.#open.get(socket))) socket.destroy();
      else this.#reject(socket, { code: 'CONNECT' });
    });
    http.on('timeout', (socket: Socket) => this.#giveUp(socket));
  }

  /** Answers the requests of a connection; with `upgrade`, once it knows whether they are in TLS. */
  accept(socket: Socket, upgrade?: ReturnType<typeof tlsUpgrade>): void {
    this.#open.set(socket, undefined);
    socket.once('close', () => this.#open.delete(socket));
    socket.setTimeout(this.#timeouts.headers);
    if (upgrade === undefined) return void this.#http.emit('connection', socket);
    upgrade(socket, (known) => {
      this.#open.delete(socket);
      this.accept(known);
    });
  }

  /** Answers what cannot be read, after the reply under way, and closes the connection. */
  #reject(socket: Socket, error: ConnectionError): void {
    const text = this.#rejectionText(error, socket);
    const response = this.#open.get(socket);
    if (BROKEN.test(error.code ?? '')) socket.destroy();
    else if (isUnderWay(response) && response.req.complete) {
      response.once('close', () => closeWith(socket));
    } else closeWith(socket, response?.headersSent && !response.req.complete ? '' : text);
  }

  /** Closes the connection of a client that was silent for too long, unless it waits for a reply. */
  #giveUp(socket: Socket): void {
    const response = this.#open.get(socket);
    const isRead = response?.req.complete === true;
    if (this.#isStopping) socket.destroy();
    else if (isRead ? !isUnderWay(response) : socket.bytesRead === 0) closeWith(socket);
    else if (!isRead) this.#reject(socket, { code: 'LATE' });
  }

  /** Finishes the replies under way, and closes every connection. */
  stop(): void {
    this.#isStopping = true;
    for (const [socket, response] of this.#open) {
      socket.setTimeout(this.#timeouts.stop);
      if (response?.headersSent) response.once('close', () => closeWith(socket));
      else response?.setHeader('Connection', 'close');
    }
    const closeIdle = (): void => {
      for (const [socket, response] of this.#open) if (!isUnderWay(response)) socket.destroySoon();
    };
    setImmediate(() => setImmediate(closeIdle)); // after all that has arrived is read
    setTimeout(() => this.#open.forEach((_, it) => void it.destroy()), LONGEST_STOP).unref();
  }
}

/** Node takes the socket from a response that is sent; one that waits for others has none yet. */
function isUnderWay(response: ServerResponse | undefined): response is ServerResponse {
  return response !== undefined && !(response.writableFinished && response.socket === null);
}

/** Milliseconds that a client has to read its last reply, or to send the rest of its request. */
export const LINGER = 1_000;

/**
 * Ends a connection, and goes on reading for a while: otherwise a reset can overtake the reply (RFC
 * 9112, section 9.6).
 */
export function closeWith(socket: Socket, text = ''): void {
  if (socket.writableEnded) return;
  socket.end(text).resume();
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once('close', () => clearTimeout(timer));
}
