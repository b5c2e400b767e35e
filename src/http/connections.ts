import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What a server knows of a connection is kept in its socket, where requests find it at no cost. */
export interface Connection extends Socket {
  [OPENED]?: number;
  [LOOKS]?: number;
  [LATEST]?: ServerResponse | undefined;
}

/** A request that came over one. */
export interface ConnectionRequest extends IncomingMessage {
  socket: Connection;
}

const OPENED = Symbol('opened');

/** How often a connection was looked at since its latest request began. */
const LOOKS = Symbol('looks');

/** The response to the latest request, while it is under way or where it is the last one. */
const LATEST = Symbol('latest response');

/** When a connection was opened, by `performance.now()`; undefined where another server took it. */
export function openedAt(socket: Connection): number | undefined {
  return socket[OPENED];
}

/** The response to the latest request, where it may be under way or is the last one. */
export function latestOf(socket: Connection): ServerResponse | undefined {
  return socket[LATEST];
}

/** Notes that a request begins. */
export function noteRequest(socket: Connection): void {
  if (socket[LOOKS] !== 0) socket[LOOKS] = 0;
}

/** Notes the response to the latest request. */
export function noteLatest(request: ConnectionRequest, response: ServerResponse): void {
  // Kept only while it is needed: one that every connection held on to would outlive the young
  // generation, which then grows to several times its size.
  const over = response.writableFinished && response.shouldKeepAlive && !hasBody(request);
  const latest = over ? undefined : response;
  if (request.socket[LATEST] !== latest) request.socket[LATEST] = latest;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Whether a reply has begun, or waits for the one before it, and is not at its end. */
export function isReplying(latest: ServerResponse | undefined): latest is ServerResponse {
  if (latest === undefined || latest.writableFinished) return false;
  return latest.socket === null || latest.req.complete || latest.headersSent;
}

/** Whether nothing that follows a response on its connection is a request any more. */
export function isLast(latest: ServerResponse | undefined): boolean {
  return latest !== undefined && !latest.shouldKeepAlive;
}

/** Makes a response the last one on its connection; it says so where its headers are not out. */
export function endAfter(response: ServerResponse): void {
  const { socket } = response.req;
  response.shouldKeepAlive = false;
  // Which Node calls then. Its own would reset what a client has sent on before it heard of it.
  socket.destroySoon = () => closeWith(socket, '');
}

/** How long a client may take to close its side, in milliseconds. */
const LINGER = 1_000;

/**
 * Ends a connection. The client's side is read on for a while, lest a reset overtake the reply
 * (RFC 9112, section 9.6).
 */
export function closeWith(socket: Socket, text: string, linger = LINGER): void {
  if (socket.writableEnded) return;
  // When the client has closed its side as well, the socket closes by itself.
  socket.end(text);
  const timer = setTimeout(() => socket.destroy(), linger);
  socket.once('close', () => clearTimeout(timer));
}

/** Looks at a connection before it is closed as idle. */
const LOOKS_BEFORE_CLOSING = 3;

/** How often those at rest are closed while a server stops, in milliseconds. */
const SWEEP_EVERY = 20;

/** How long stopping may take in all, however slowly a client goes on to read. */
const LONGEST = 30_000;

/** How long the rest of a body may take while a server stops: a client that sends it at all has begun. */
const UNSENT = 1_000;

/** How long a connection at rest may then take to close its side: it has no reply to lose. */
const BRIEF_LINGER = 100;

/** The open connections of a server. */
export class Connections {
  /** Whether each request is the last of its connection. */
  stopping = false;
  readonly #server: Server;
  readonly #open = new Set<Connection>();
  #stoppedAt = 0;

  /**
   * @param idle how long there may be no request on a connection, in milliseconds and roughly. A
   *   look at all of them now and then costs less than the timer that Node sets with every reply
   */
  constructor(server: Server, idle: number) {
    this.#server = server;
    // Node's own, which `close` calls, cuts off replies that are given and not yet sent.
    server.closeIdleConnections = () => {};
    server.on('connection', (socket: Connection) => {
      socket[OPENED] = performance.now();
      socket[LOOKS] = 0;
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
    const timer = setInterval(() => this.#closeIdle(), idle / LOOKS_BEFORE_CLOSING).unref();
    server.once('close', () => clearInterval(timer));
  }

  /**
   * Takes no new ones, and closes each when its last request is answered.
   *
   * @param grace how long there may be no progress with that, in milliseconds
   */
  close(grace: number): Promise<void> {
    this.stopping = true;
    this.#stoppedAt = performance.now();
    for (const socket of this.#open) {
      const latest = socket[LATEST];
      if (latest !== undefined && !latest.headersSent) endAfter(latest);
      // Node looks at what the system has taken of a reply: it can need twice that to see nothing.
      socket.setTimeout(grace, () => socket.destroy());
    }
    return new Promise((resolve) => {
      const sweeps = setInterval(() => this.#closeResting(), SWEEP_EVERY);
      const end = setTimeout(() => this.#destroyAll(), LONGEST);
      this.#server.close(() => {
        clearInterval(sweeps);
        clearTimeout(end);
        resolve();
      });
      // After all that has arrived by now was read.
      setImmediate(() => setImmediate(() => this.#closeResting()));
    });
  }

  #closeIdle(): void {
    for (const socket of this.#open) {
      const looks = isReplying(socket[LATEST]) ? 0 : (socket[LOOKS] ?? 0) + 1;
      socket[LOOKS] = looks;
      if (looks > LOOKS_BEFORE_CLOSING) socket.destroy();
    }
  }

  /** Closes those on which nobody waits for a reply, nor sends the rest of a body. */
  #closeResting(): void {
    const late = performance.now() - this.#stoppedAt > UNSENT;
    for (const socket of this.#open) {
      // The latest is also the last to be written: where it is out, so are those before it.
      const latest = socket[LATEST];
      const rests =
        latest === undefined || latest.writableFinished || (late && !isReplying(latest));
      if (rests && socket.writableLength === 0) closeWith(socket, '', BRIEF_LINGER);
    }
  }

  #destroyAll(): void {
    for (const socket of this.#open) socket.destroy();
  }
}
