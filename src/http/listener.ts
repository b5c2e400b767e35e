import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode, StatusOf } from '../contract/errors.ts';
import { BASE_PATH } from '../contract/operations.ts';
import { errorReply, Grounds } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import { noteOpened } from './connection.ts';
import { send, type Wire, written } from './encode.ts';
import { holdBack } from './expect.ts';
import { HostCheck } from './host.ts';
import type { ServiceHandler } from './service.ts';

/** How long a client may take, in milliseconds. */
export interface Timeouts {
  /** From the connection, or the reply before, to the end of a request's headers. */
  readonly headers: number;
  /** To the end of a request's body. */
  readonly request: number;
  /** How often both are looked at. */
  readonly checkEvery: number;
  /** Between two requests on a connection; longer than clients themselves keep one, and roughly. */
  readonly idle: number;
}

const TIMEOUTS: Timeouts = { headers: 10_000, request: 30_000, checkEvery: 1_000, idle: 300_000 };

export interface ListenerOptions extends Wire {
  readonly service: ServiceHandler;
  /** Loads the app that answers everything but the service's paths, when it is first wanted. */
  readonly loadApp: () => Promise<RequestListener>;
  /** Whose assumptions shape the replies to what is not even a request. */
  readonly world: World;
  readonly timeouts?: Partial<Timeouts> | undefined;
}

/**
 * Makes the server. Service paths go straight to the service's handler; only what is left waits for
 * the Express app, since Express costs every request that passes through it.
 */
export function createListener(options: ListenerOptions): Server {
  const { service, loadApp, world } = options;
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const hosts = new HostCheck();
  let app: Promise<RequestListener> | undefined;

  const answer = (request: ServiceRequest, response: ServerResponse): void => {
    if (request.socket[LOOKS] !== 0) request.socket[LOOKS] = 0;
    answerNow(request, response);
    // Kept only while it is needed: one that every connection held on to would outlive the young
    // generation, which then grows to several times its size.
    const latest = response.writableFinished && !hasBody(request) ? undefined : response;
    if (request.socket[LATEST] !== latest) request.socket[LATEST] = latest;
  };

  const answerNow = (request: ServiceRequest, response: ServerResponse): void => {
    const fault = hosts.faultOf(request);
    if (fault !== undefined) {
      response.shouldKeepAlive = false;
      sendError(response, 'invalid_input', invalid(world), fault);
      return;
    }
    if (!isServicePath(request.url ?? '')) {
      app ??= loadApp();
      app.then((listener) => listener(request, response)).catch((error) => fail(response, error));
      return;
    }
    try {
      service(request, response);
    } catch (error) {
      fail(response, error);
    }
  };

  const sendError = <C extends ErrorCode>(
    response: ServerResponse,
    code: C,
    status: StatusOf<C>,
    message: string,
  ): void => {
    const reply = errorReply(new Grounds(world.choices), code, status, message);
    send(response, { kind: 'reply', reply, delay: 0 }, AS_IT_IS, world, options);
  };

  /** A fault of the mock's own: told to whoever runs it, and kept from every other request. */
  const fail = (response: ServerResponse, error: unknown): void => {
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
    if (response.headersSent) response.destroy();
    else sendError(response, 'internal_error', 500, 'the mock itself failed');
  };

  const server = createServer({
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    connectionsCheckingInterval: timeouts.checkEvery,
    keepAliveTimeout: 0, // see closeIdle
    requireHostHeader: false, // Node would answer without an Error
  });
  // After Node's own listener for connections, which has added the one for 'drain' by then.
  server.on('connection', (socket: ServiceSocket) => {
    socket[ON_DRAIN] = socket.listeners('drain');
    socket[LOOKS] = 0;
    noteOpened(socket);
  });
  closeIdle(server, timeouts.idle);
  server.on('request', answer);
  server.on('checkContinue', (request: ServiceRequest, response) => {
    holdBack(request, response);
    answer(request, response);
  });
  // Other expectations may be passed over (RFC 9110, section 10.1.1).
  server.on('checkExpectation', answer);
  server.on('connect', (_request, socket: ServiceSocket) => {
    // Node has let go of the socket: nobody else would hear of a reset, or read on to its end.
    socket.on('error', () => socket.destroy()).resume();
    const message = 'CONNECT is not for this server';
    const allow = ['Allow', 'GET, HEAD, POST, PATCH, DELETE, OPTIONS'];
    const text = rawError('method_not_allowed', 405, message, world, options, allow);
    const latest = socket[LATEST];
    if (!isReplying(latest)) {
      closeWith(socket, text);
      return;
    }
    // Node has taken its own listener away, without which a long reply would never go on. It alone
    // knows which of several replies is being written.
    for (const onDrain of socket[ON_DRAIN] ?? []) socket.on('drain', () => onDrain.call(socket));
    latest.once('finish', () => closeWith(socket, text));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: ServiceSocket) => {
    refuse(error, socket, world, options);
  });
  return server;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** The service's own paths, in the default sandbox (`/v1…`) and in a named one (`/~NAME/…`). */
function isServicePath(url: string): boolean {
  if (url.startsWith('/~')) return !url.includes('/__mock');
  if (!url.startsWith(BASE_PATH)) return false;
  const next = url[BASE_PATH.length];
  return next === '/' || next === '?' || next === undefined;
}

/** The response to the latest request on a connection, while it is under way. */
const LATEST = Symbol('latest response');

/** Whether a connection's client has been told that it cannot be understood. */
const REFUSED = Symbol('refused');

/** Node's own listeners for 'drain' on a connection. */
const ON_DRAIN = Symbol('drain listeners');

/** How often a connection was looked at since its latest request began. */
const LOOKS = Symbol('looks');

interface ServiceSocket extends Socket {
  [LOOKS]?: number;
  [ON_DRAIN]?: ReturnType<Socket['listeners']>;
  [LATEST]?: ServerResponse | undefined;
  [REFUSED]?: boolean;
}

interface ServiceRequest extends IncomingMessage {
  socket: ServiceSocket;
}

/** Looks at a connection before it is closed as idle. */
const LOOKS_BEFORE_CLOSING = 3;

/**
 * Closes connections on which there was no request for so many milliseconds, or a little longer. A
 * look at all of them now and then costs less than the timer that Node sets with every reply.
 */
function closeIdle(server: Server, idle: number): void {
  const open = new Set<ServiceSocket>();
  server.on('connection', (socket: ServiceSocket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const look = (): void => {
    for (const socket of open) {
      const looks = isReplying(socket[LATEST]) ? 0 : (socket[LOOKS] ?? 0) + 1;
      socket[LOOKS] = looks;
      if (looks > LOOKS_BEFORE_CLOSING) socket.destroy();
    }
  };
  const timer = setInterval(look, idle / LOOKS_BEFORE_CLOSING).unref();
  server.once('close', () => clearInterval(timer));
}

/** Answers what could not be read as a request, after the replies that are still under way. */
function refuse(
  error: NodeJS.ErrnoException,
  socket: ServiceSocket,
  world: World,
  wire: Wire,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  // Each further byte of what could not be read is another error.
  if (socket[REFUSED] === true) return;
  socket[REFUSED] = true;
  const latest = socket[LATEST];
  if (latest?.writableEnded === true && !latest.req.complete) {
    // What is wrong is the rest of a request that has its reply.
    closeWith(socket, '');
  } else if (!isReplying(latest)) {
    closeWith(socket, refusalOf(error, world, wire));
  } else if (latest.req.complete) {
    latest.once('finish', () => closeWith(socket, refusalOf(error, world, wire)));
  } else socket.destroy();
}

/** Whether a reply has begun, or waits for the one before it, and is not at its end. */
function isReplying(latest: ServerResponse | undefined): latest is ServerResponse {
  if (latest === undefined || latest.writableFinished) return false;
  return latest.socket === null || latest.req.complete || latest.headersSent;
}

/** How long a refused client may take to close its side, in milliseconds. */
const LINGER = 1_000;

/** Ends a connection. The client's side is read on for a while, lest a reset overtake the reply. */
function closeWith(socket: Socket, text: string): void {
  socket.end(text);
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once('end', () => socket.destroySoon()).once('close', () => clearTimeout(timer));
}

function invalid({ choices }: World): 400 | 422 {
  return choices['invalid-input'] === '422' ? 422 : 400;
}

function refusalOf({ code, message }: NodeJS.ErrnoException, world: World, wire: Wire): string {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return rawError(
        'request_header_fields_too_large',
        431,
        'the request line and headers are larger than 16 KiB',
        world,
        wire,
      );
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return rawError('request_timeout', 408, 'the request did not arrive in time', world, wire);
    default: {
      const why = `the request is not HTTP: ${message.replace(/^Parse Error: /, '')}`;
      return rawError('invalid_input', invalid(world), why, world, wire);
    }
  }
}

/** A whole reply as text, for connections on which there is no response object to write with. */
function rawError<C extends ErrorCode>(
  code: C,
  status: StatusOf<C>,
  message: string,
  world: World,
  wire: Wire,
  more: readonly string[] = [],
): string {
  const reply = errorReply(new Grounds(world.choices), code, status, message, { headers: more });
  const { headers, body } = written(reply, AS_IT_IS, world, wire);
  const date = new Date(world.clock.now()).toUTCString();
  const all = [
    ...headers,
    'Content-Length',
    String(Buffer.byteLength(body)),
    'Connection',
    'close',
  ];
  // Node would have added it to what it writes itself.
  if (world.clock.real) all.push('Date', date);
  const lines = all.flatMap((name, index) => (index % 2 === 0 ? `${name}: ${all[index + 1]}` : []));
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}

/** Of a reply to what asks for nothing in particular. */
const AS_IT_IS = { head: false, crossOrigin: false };
