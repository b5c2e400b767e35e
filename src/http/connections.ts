import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { OPENED } from '../evidence/exchange.ts';
import { carrierOf } from './tls/secure-server.ts';

export const LATEST = Symbol('latest response');

/** A connection with the server's own properties: those of a socket are the fastest to look up. */
export interface Connection extends Socket {
  /** The response to the latest request, while it is under way or if it is the last one. */
  [LATEST]?: ServerResponse | undefined;
  [OPENED]?: number;
}

/** A request on such a connection. */
export interface ConnectionRequest extends IncomingMessage {
  socket: Connection;
}

/** Notes the response to the latest request. */
export function noteLatest(request: ConnectionRequest, response: ServerResponse): void {
  const latest = isOver(request, response) ? undefined : response;
  if (request.socket[LATEST] !== latest) request.socket[LATEST] = latest;
}

/**
 * Forgets a response that is over. One on every connection would outlive V8's young generation and
 * make it grow to several times its size.
 */
export function forgetOver(request: ConnectionRequest, response: ServerResponse): void {
  const { socket } = request;
  if (socket[LATEST] === response && isOver(request, response)) socket[LATEST] = undefined;
}

/** Whether a request has arrived and been answered, and another one can follow. */
function isOver(request: IncomingMessage, response: ServerResponse): boolean {
  const hasArrived = request.complete || !hasBody(request);
  // Node 24 sets `writableFinished` only in a later tick.
  const isSent = response.writableEnded && response.writableLength === 0;
  return isSent && response.shouldKeepAlive && hasArrived;
}

/** Whether a request announces a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Whether a reply is under way, or queued behind an earlier one. */
export function isReplying(latest: ServerResponse | undefined): boolean {
  if (latest === undefined || latest.writableFinished) return false;
  return latest.socket === null || latest.req.complete || latest.headersSent;
}

/** Whether a response is the last on its connection. */
export function isLast(latest: ServerResponse | undefined): boolean {
  return latest !== undefined && !latest.shouldKeepAlive;
}

/**
 * Makes a response the last one on its connection. It announces that unless its headers are already
 * sent.
 */
export function endAfter(response: ServerResponse): void {
  const { socket } = response.req;
  response.shouldKeepAlive = false;
  // Node calls this after the response. Its own version closes at once: if the client is still
  // sending its body, the system answers with a reset, and the reply is lost on its way.
  socket.destroySoon = () => closeWith(socket, '');
}

/** How long a client may take to close its side, in milliseconds. */
const LINGER = 1_000;

/**
 * Ends a connection, and goes on reading for a while: otherwise a reset can overtake the reply (RFC
 * 9112, section 9.6).
 */
export function closeWith(socket: Socket, text: string, linger = LINGER): void {
  if (socket.writableEnded) return;
  socket.end(text);
  const timer = setTimeout(() => socket.destroy(), linger);
  socket.once('close', () => clearTimeout(timer));
}

/** How often idle connections are closed while a server stops, in milliseconds. */
const SWEEP_EVERY = 20;

/** How long stopping may take, however slowly a client reads, in milliseconds. */
const LONGEST = 30_000;

/** How long the rest of a body may take while a server stops, in milliseconds. */
const UNSENT = 1_000;

/** How long an idle connection may take to close its side; it has no reply to lose. */
const BRIEF_LINGER = 100;

/** The open connections of a server. */
export class Connections {
  /** Whether the server is stopping, so that each request is the last on its connection. */
  stopping = false;
  readonly #server: Server;
  /** The number of bytes that each had sent at the last check; -1 while a reply was due. */
  readonly #open = new Map<Connection, number>();

  /**
   * @param idle how long a connection may be without a request, in milliseconds; up to twice that.
   *   Checking all of them now and then costs less than the timer that Node sets after every reply
   */
  constructor(server: Server, idle: number) {
    this.#server = server;
    // Called by `close`. Node's version cuts off replies that a slow client is still reading.
    server.closeIdleConnections = () => {};
    server.on('connection', this.#add);
    // From here on, only what TLS carries counts.
    server.on('secureConnection', (socket: Connection) => {
      this.#open.delete(carrierOf(socket));
      this.#add(socket);
    });
    const timer = setInterval(() => this.#closeIdle(), idle).unref();
    server.once('close', () => clearInterval(timer));
  }

  readonly #add = (socket: Connection): void => {
    socket[OPENED] = performance.nodeTiming.idleTime;
    this.#open.set(socket, -1);
    socket.once('close', () => this.#open.delete(socket));
  };

  /**
   * Accepts no new connections, and closes each one after its last reply.
   *
   * @param grace how long a connection may make no progress, in milliseconds
   */
  close(grace: number): Promise<void> {
    this.stopping = true;
    const bodiesEnd = performance.now() + UNSENT;
    for (const socket of this.#open.keys()) {
      const latest = socket[LATEST];
      if (latest !== undefined && !latest.headersSent) endAfter(latest);
      // Node compares how much the system has accepted: it can take twice that to see no progress.
      socket.setTimeout(grace, () => socket.destroy());
    }
    const sweep = (): void => this.#closeResting(performance.now() > bodiesEnd);
    return new Promise((resolve) => {
      const sweeps = setInterval(sweep, SWEEP_EVERY);
      const end = setTimeout(() => this.#destroyAll(), LONGEST);
      this.#server.close(() => {
        clearInterval(sweeps);
        clearTimeout(end);
        resolve();
      });
      // After everything that has arrived so far is read.
      setImmediate(() => setImmediate(sweep));
    });
  }

  #closeIdle(): void {
    for (const [socket, before] of this.#open) {
      const now = isReplying(socket[LATEST]) ? -1 : socket.bytesRead;
      if (now === before && now !== -1) socket.destroy();
      else this.#open.set(socket, now);
    }
  }

  /**
   * Closes the connections that have no reply due and no body on its way.
   *
   * @param late whether the time for sending a body is over
   */
  #closeResting(late: boolean): void {
    for (const socket of this.#open.keys()) {
      // Replies go out in order: if the latest is out, all are.
      const latest = socket[LATEST];
      const rests =
        latest === undefined || latest.writableFinished || (late && !isReplying(latest));
      if (rests && socket.writableLength === 0) closeWith(socket, '', BRIEF_LINGER);
    }
  }

  #destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }
}
