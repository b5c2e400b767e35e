import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Node's error for bytes that are not a request, or one of those below. */
export interface ClientError extends NodeJS.ErrnoException {
  /** The bytes that were read last. */
  readonly rawPacket?: Buffer;
}

const errorOf = (code: string): ClientError => Object.assign(new Error(code), { code });
const LATE = errorOf('LATE');
export const CONNECT = errorOf('CONNECT');
export const PLAIN_HTTP = errorOf('PLAIN_HTTP');

interface Connection {
  /** To the latest request. */
  response: ServerResponse | undefined;
  /** Bytes that had arrived at the last check. */
  bytes: number;
  /** Milliseconds without another byte, as far as the mock waits for one. */
  quiet: number;
}

/** How long stopping may take, however slowly a client reads, in milliseconds. */
const LONGEST_STOP = 30_000;

/** No reply can be sent: the connection is reset, or fails in TLS. */
const BROKEN = /^(?:ECONNRESET|EPROTO|ERR_(?:SSL|TLS)_.*)$/;

/** Milliseconds that a client has to read its last reply, or to send the rest of its request. */
const LINGER = 1_000;

/**
 * Ends a connection, and goes on reading for a while: otherwise a reset can overtake the reply (RFC
 * 9112, section 9.6).
 */
export function closeWith(socket: Socket, text = '', linger = LINGER): void {
  if (socket.writableEnded) return;
  socket.end(text).resume();
  const timer = setTimeout(() => socket.destroy(), linger);
  socket.once('close', () => clearTimeout(timer));
}

/** The open connections of a server. Each is answered one request at a time. */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #replyTo: (error: ClientError) => string;
  #isStopping = false;

  /** @param replyTo the reply to bytes that are not a request */
  constructor(server: Server, answer: RequestListener, replyTo: (error: ClientError) => string) {
    this.#replyTo = replyTo;
    const take: RequestListener = (request, response) => {
      const connection = this.#open.get(request.socket);
      if (connection === undefined) return;
      const { response: former } = connection;
      connection.response = response;
      const act = (): void => {
        if (!request.socket.writable) return; // the former reply was the last one
        if (this.#isStopping) response.setHeader('Connection', 'close');
        answer(request, response);
      };
      if (isUnderWay(former)) former.once('close', act);
      else act();
    };
    server.on('request', take);
    // A server may ignore other expectations (RFC 9110, section 10.1.1).
    server.on('checkExpectation', take);
    server.on('clientError', (error: ClientError, socket: Socket) => this.refuse(socket, error));
  }

  /** @param carrier its TCP connection, which was added before */
  add(socket: Socket, carrier?: Socket): void {
    if (carrier !== undefined) this.#open.delete(carrier);
    this.#open.set(socket, { response: undefined, bytes: 0, quiet: 0 });
    socket.once('close', () => this.#open.delete(socket));
  }

  /** Answers what cannot be read, after the reply under way, and closes the connection. */
  refuse(socket: Socket, error: ClientError): void {
    const { response } = this.#open.get(socket) ?? {};
    const isOwed = isUnderWay(response) && response.req.complete;
    // Node lets go of the connection at CONNECT, and of the reply under way.
    if (BROKEN.test(error.code ?? '') || (isOwed && error === CONNECT)) socket.destroy();
    else if (isOwed) {
      socket.pause();
      response.once('close', () => closeWith(socket));
    } else {
      const isAnswered = response?.headersSent && !response.req.complete;
      closeWith(socket, isAnswered ? '' : this.#replyTo(error));
    }
  }

  /**
   * Closes the connections of clients that have sent nothing for so many milliseconds.
   *
   * @param passed milliseconds since the last check
   */
  check(
    passed: number,
    { headers, request, idle }: Record<'headers' | 'request' | 'idle', number>,
  ): void {
    for (const [socket, connection] of this.#open) {
      const { response, bytes } = connection;
      const isRead = response?.req.complete === true;
      connection.bytes = socket.bytesRead;
      if (bytes !== socket.bytesRead || (isRead && isUnderWay(response))) connection.quiet = 0;
      else connection.quiet += passed;
      const limit = isRead ? idle : response === undefined ? headers : request;
      if (connection.quiet <= limit) continue;
      if (isRead || bytes === 0) closeWith(socket);
      else this.refuse(socket, LATE);
    }
  }

  /**
   * Finishes the replies under way, and closes every connection.
   *
   * @param grace how long a connection may make no progress, in milliseconds
   */
  stop(grace: number): void {
    this.#isStopping = true;
    for (const [socket, { response }] of this.#open) {
      socket.setTimeout(grace, () => socket.destroy());
      if (response?.headersSent) response.once('close', () => closeWith(socket));
      else response?.setHeader('Connection', 'close');
    }
    const closeResting = (): void => {
      for (const [socket, { response }] of this.#open) {
        if (!isUnderWay(response)) closeWith(socket, '', LINGER / 10);
      }
    };
    setImmediate(() => setImmediate(closeResting)); // after all that has arrived is read
    setTimeout(
      () => this.#open.forEach((_, socket) => void socket.destroy()),
      LONGEST_STOP,
    ).unref();
  }
}

/** Node takes the socket from a response that is sent. */
function isUnderWay(response: ServerResponse | undefined): response is ServerResponse {
  return response !== undefined && !(response.writableEnded && response.socket === null);
}

/** Ends a response whose content is written, for the same reason once its request is read. */
export function endAfterRequest(response: ServerResponse): void {
  const { req } = response;
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers;
  // Without a body a request is complete, but Node says so only later.
  if (req.complete || (length === undefined && coding === undefined)) {
    response.end();
    return;
  }
  const end = (): void => void response.end();
  setTimeout(end, LINGER).unref();
  req.once('end', end).once('close', end).resume();
}
