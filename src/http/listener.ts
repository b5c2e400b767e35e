import {
  createServer,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode, StatusOf } from '../contract/error-codes.ts';
import { BASE_PATH } from '../contract/operations.ts';
import { errorReply, Grounds } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import {
  type Connection,
  type ConnectionRequest,
  Connections,
  closeWith,
  endAfter,
  isLast,
  isReplying,
  latestOf,
  noteLatest,
  noteRequest,
} from './connections.ts';
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
  /** Without progress in what is in flight when the server is asked to stop; up to twice that. */
  readonly stop: number;
}

const TIMEOUTS: Timeouts = {
  headers: 10_000,
  request: 30_000,
  checkEvery: 1_000,
  idle: 300_000,
  stop: 4_000, // Docker waits for 10 seconds
};

export interface ListenerOptions extends Wire {
  readonly service: ServiceHandler;
  /** Loads the app that answers everything but the service's paths, when it is first wanted. */
  readonly loadApp: () => Promise<RequestListener>;
  /** Whose assumptions shape the replies to what is not even a request. */
  readonly world: World;
  readonly timeouts?: Partial<Timeouts> | undefined;
}

/** A server, and the way to stop it. */
export interface Listener {
  readonly server: Server;
  /** Finishes what is in flight, as long as a client may take for it, then closes. */
  close(): Promise<void>;
}

/**
 * Makes the server. Service paths go straight to the service's handler; only what is left waits for
 * the Express app, since Express costs every request that passes through it.
 */
export function createListener(options: ListenerOptions): Listener {
  const { service, loadApp, world } = options;
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const hosts = new HostCheck();
  let app: Promise<RequestListener> | undefined;

  const answer = (request: ConnectionRequest, response: ServerResponse): void => {
    const { socket } = request;
    if (isLast(latestOf(socket)) || (connections.stopping && socket.writableEnded)) {
      // The client was told that nothing more is answered: to do it all the same would be a lie.
      request.resume();
      return;
    }
    if (connections.stopping) endAfter(response);
    noteRequest(socket);
    answerNow(request, response);
    noteLatest(request, response);
  };

  const answerNow = (request: ConnectionRequest, response: ServerResponse): void => {
    const fault = hosts.faultOf(request);
    if (fault !== undefined) {
      endAfter(response);
      sendError(response, 'invalid_input', invalid(world), fault);
      return;
    }
    if (request.httpVersionMajor !== 1) {
      endAfter(response);
      const message = `expected HTTP/1.1 or HTTP/1.0, found HTTP/${request.httpVersion}`;
      sendError(response, 'http_version_not_supported', 505, message);
      return;
    }
    const coding = request.headers['transfer-encoding'];
    if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
      endAfter(response);
      const message = `Transfer-Encoding: expected chunked, found ${coding.slice(0, 100)}`;
      sendError(response, 'transfer_coding_not_implemented', 501, message);
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
    keepAliveTimeout: 0, // see Connections
    requireHostHeader: false, // Node would answer without an Error
  });
  server.maxHeadersCount = 0; // Node would drop what is more; their size has its limit
  const connections = new Connections(server, timeouts.idle);
  // After Node's own listener for connections, which has added the one for 'drain' by then.
  server.on('connection', (socket: ServiceSocket) => {
    socket[ON_DRAIN] = socket.listeners('drain');
  });
  server.on('request', answer);
  server.on('checkContinue', (request: ConnectionRequest, response) => {
    endAfter(response);
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
    const latest = latestOf(socket);
    if (!isReplying(latest)) {
      if (!isLast(latest)) closeWith(socket, text);
      return;
    }
    // Node has taken its own listener away, without which a long reply would never go on. It alone
    // knows which of several replies is being written.
    for (const onDrain of socket[ON_DRAIN] ?? []) socket.on('drain', () => onDrain.call(socket));
    if (!isLast(latest)) latest.once('finish', () => closeWith(socket, text));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: ServiceSocket) => {
    refuse(error, socket, world, options);
  });
  return { server, close: () => connections.close(timeouts.stop) };
}

/** The service's own paths, in the default sandbox (`/v1…`) and in a named one (`/~NAME/…`). */
function isServicePath(url: string): boolean {
  if (url.startsWith('/~')) return !url.includes('/__mock');
  if (!url.startsWith(BASE_PATH)) return false;
  const next = url[BASE_PATH.length];
  return next === '/' || next === '?' || next === undefined;
}

/** Whether a connection's client has been told that it cannot be understood. */
const REFUSED = Symbol('refused');

/** Node's own listeners for 'drain' on a connection. */
const ON_DRAIN = Symbol('drain listeners');

interface ServiceSocket extends Connection {
  [ON_DRAIN]?: ReturnType<Socket['listeners']>;
  [REFUSED]?: boolean;
}

/** Answers what could not be read as a request, after the replies that are still under way. */
function refuse(
  error: NodeJS.ErrnoException,
  socket: ServiceSocket,
  world: World,
  wire: Wire,
): void {
  if (error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  // Each further byte of what could not be read is another error.
  if (socket[REFUSED] === true || socket.writableEnded) return;
  socket[REFUSED] = true;
  const latest = latestOf(socket);
  if (latest?.req.complete && isLast(latest)) {
    // Nobody listens to what comes behind the last request.
    endAfter(latest);
    if (!isReplying(latest)) closeWith(socket, '');
    return;
  }
  if (latest?.writableEnded === true && !latest.req.complete) {
    // What is wrong is the rest of a request that has its reply.
    closeWith(socket, '');
  } else if (!isReplying(latest)) {
    closeWith(socket, refusalOf(error, world, wire));
  } else if (latest.req.complete) {
    latest.once('finish', () => closeWith(socket, refusalOf(error, world, wire)));
  } else socket.destroy();
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
