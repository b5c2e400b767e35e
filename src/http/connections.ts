import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ClientError, CONNECT, isBroken, LATE } from './client-error.ts';

interface State {
  /** The response under way. Pipelined requests wait until it is over. */
  current: ServerResponse | undefined;
  readonly next: () => void;
  readonly waiting: [IncomingMessage, ServerResponse][];
  /** How many bytes had arrived when it began to wait for a request; undefined until a check. */
  bytes: number | undefined;
  /** Whether a request must arrive soon: it has begun, or there was none yet. */
  isDue: boolean;
  /** At which check it began what it does now. */
  since: number;
  /** Whether it ends with the response under way. */
  isLast: boolean;
}

interface ConnectionsOptions {
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void;
  /** The reply to bytes that are not a request. */
  readonly replyTo: (error: ClientError) => string;
  /** Milliseconds that a client may take, and between two checks of that. */
  readonly limits: Readonly<Record<'headers' | 'request' | 'idle' | 'checkEvery', number>>;
}

/** Milliseconds that a client has to read its last reply, or to send the rest of its request. */
export const LINGER = 1_000;

/** How long stopping may take, however slowly a client reads, in milliseconds. */
const LONGEST_STOP = 30_000;

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
  readonly #options: ConnectionsOptions;
  readonly #open = new Map<Socket, State>();
  readonly #timer: NodeJS.Timeout;
  #checks = 0;
  #isStopping = false;

  constructor(server: Server, options: ConnectionsOptions) {
    this.#options = options;
    server.on('request', this.#take);
    // A server may ignore other expectations (RFC 9110, section 10.1.1).
    server.on('checkExpectation', this.#take);
    server.on('clientError', (error: ClientError, socket: Socket) => this.refuse(socket, error));
    this.#timer = setInterval(() => this.#check(), options.limits.checkEvery).unref();
  }

  /** @param carrier its TCP connection, which was added before */
  add(socket: Socket, carrier?: Socket): void {
    if (carrier !== undefined) this.#open.delete(carrier);
    const next = (): void => this.#next(socket, state);
    const now = { bytes: socket.bytesRead, isDue: true, since: this.#checks, isLast: false };
    const state: State = { current: undefined, next, waiting: [], ...now };
    this.#open.set(socket, state);
    socket.once('close', () => this.#open.delete(socket));
  }

  readonly #take = (request: IncomingMessage, response: ServerResponse): void => {
    const state = this.#open.get(request.socket);
    if (state === undefined || state.isLast) return;
    if (state.current === undefined) this.#answer(state, request, response);
    else {
      state.waiting.push([request, response]);
      // Else a client could fill the memory with requests. Node reads on after each of them.
      process.nextTick(() => state.waiting.length > 0 && request.socket.pause());
    }
  };

  #answer(state: State, request: IncomingMessage, response: ServerResponse): void {
    state.current = response;
    state.since = this.#checks;
    response.on('close', state.next);
    if (this.#isStopping) response.setHeader('Connection', 'close');
    this.#options.answer(request, response);
  }

  #next(socket: Socket, state: State): void {
    state.current = state.bytes = undefined;
    state.isDue = false;
    state.since = this.#checks;
    if (state.isLast || this.#isStopping) closeWith(socket);
    const next = state.waiting.shift();
    if (next === undefined || !socket.writable) return;
    if (state.waiting.length === 0) socket.resume();
    this.#answer(state, ...next);
  }

  /** Answers what cannot be read, after the reply under way, and closes the connection. */
  refuse(socket: Socket, error: ClientError): void {
    const state = this.#open.get(socket);
    // Node lets go of the connection at CONNECT, and of the reply under way.
    const isLost = isBroken(error) || (error === CONNECT && state?.current !== undefined);
    if (state === undefined || isLost) socket.destroy();
    else if (!state.isLast) {
      state.isLast = true;
      const { current, bytes } = state;
      const isSilent = current?.headersSent ?? socket.bytesRead === bytes;
      if (!current?.req.complete) closeWith(socket, isSilent ? '' : this.#options.replyTo(error));
    }
  }

  /** Closes the connections of clients that take too long. */
  #check(): void {
    const { checkEvery, headers, idle, request } = this.#options.limits;
    this.#checks += 1;
    for (const [socket, state] of this.#open) {
      const { current } = state;
      if (current === undefined) {
        state.bytes ??= socket.bytesRead;
        if (!state.isDue && socket.bytesRead !== state.bytes) {
          state.isDue = true;
          state.since = this.#checks;
        }
      }
      const limit = current !== undefined ? request : state.isDue ? headers : idle;
      const isLate = (this.#checks - state.since) * checkEvery > limit;
      if (isLate && !current?.req.complete) this.refuse(socket, LATE);
    }
  }

  /**
   * Finishes the replies under way, and closes every connection.
   *
   * @param grace how long a connection may make no progress, in milliseconds
   * @returns call it once all are closed
   */
  stop(grace: number): () => void {
    this.#isStopping = true;
    for (const [socket, { current }] of this.#open) {
      if (current?.headersSent === false) current.setHeader('Connection', 'close');
      socket.setTimeout(grace, () => socket.destroy());
    }
    const closeResting = (): void => {
      for (const [socket, { current }] of this.#open) {
        if (current === undefined) closeWith(socket, '', LINGER / 10);
      }
    };
    setImmediate(() => setImmediate(closeResting)); // after all that has arrived is read
    const longest = setTimeout(() => {
      for (const socket of this.#open.keys()) socket.destroy();
    }, LONGEST_STOP);
    return () => [this.#timer, longest].forEach(clearTimeout);
  }
}
