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
import { errorBody } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import { basisHeader, type Wire } from './encode.ts';
import type { ServiceHandler } from './service.ts';

/** How long a client may take, in milliseconds. */
export interface Timeouts {
  /** From the connection, or the reply before, to the end of a request's headers. */
  readonly headers: number;
  /** To the end of a request's body. */
  readonly request: number;
  /** How often both are looked at. */
  readonly checkEvery: number;
}

const TIMEOUTS: Timeouts = { headers: 10_000, request: 30_000, checkEvery: 1_000 };

/** Longer than clients keep idle connections, so that a reused one is not closed under a request. */
const KEEP_ALIVE_MILLISECONDS = 75_000;

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
  let app: Promise<RequestListener> | undefined;

  const answer = (
    request: ServiceRequest,
    response: ServerResponse,
    awaitsContinue: boolean,
  ): void => {
    request.socket[LATEST] = response;
    if (isServicePath(request.url ?? '')) {
      service(request, response, awaitsContinue);
      return;
    }
    if (awaitsContinue) response.writeContinue();
    app ??= loadApp();
    app.then(
      (listener) => listener(request, response),
      (error: unknown) => response.destroy(error instanceof Error ? error : undefined),
    );
  };

  const server = createServer({
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    connectionsCheckingInterval: timeouts.checkEvery,
    keepAliveTimeout: KEEP_ALIVE_MILLISECONDS,
  });
  server.on('request', (request: ServiceRequest, response) => answer(request, response, false));
  server.on('checkContinue', (request: ServiceRequest, response) =>
    answer(request, response, true),
  );
  // Other expectations may be passed over (RFC 9110, section 10.1.1).
  server.on('checkExpectation', (request: ServiceRequest, response) =>
    answer(request, response, false),
  );
  server.on('connect', (_request, socket: Socket) => {
    socket.end(
      rawError('method_not_allowed', 405, 'CONNECT is not for this server', world, options),
    );
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: ServiceSocket) => {
    refuse(error, socket, world, options);
  });
  return server;
}

/** The service's own paths, in the default sandbox (`/v1…`) and in a named one (`/~NAME/…`). */
function isServicePath(url: string): boolean {
  if (url.startsWith('/~')) return !url.includes('/__mock');
  if (!url.startsWith(BASE_PATH)) return false;
  const next = url[BASE_PATH.length];
  return next === '/' || next === '?' || next === undefined;
}

/** The response to the latest request on a connection. */
const LATEST = Symbol('latest response');

interface ServiceSocket extends Socket {
  [LATEST]?: ServerResponse;
}

interface ServiceRequest extends IncomingMessage {
  socket: ServiceSocket;
}

/** Answers what could not be read as a request, unless that would run into another reply. */
function refuse(
  error: NodeJS.ErrnoException,
  socket: ServiceSocket,
  world: World,
  wire: Wire,
): void {
  const latest = socket[LATEST];
  const replyUnderWay =
    latest !== undefined && !latest.writableEnded && (latest.headersSent || latest.socket === null);
  if (error.code === 'ECONNRESET' || !socket.writable || replyUnderWay) {
    socket.destroy();
    return;
  }
  socket.end(refusalOf(error, world, wire));
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
      const status = world.choices['invalid-input'] === '422' ? 422 : 400;
      const why = `the request is not HTTP: ${message.replace(/^Parse Error: /, '')}`;
      return rawError('invalid_input', status, why, world, wire);
    }
  }
}

/** A whole reply as text, for connections on which there is no response object to write with. */
function rawError<C extends ErrorCode>(
  code: C,
  status: StatusOf<C>,
  message: string,
  { choices, clock }: World,
  { plain }: Wire,
): string {
  const body = JSON.stringify(errorBody(choices, code, status, message));
  const charset = choices['json-charset'] === 'utf-8' ? '; charset=utf-8' : '';
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: application/json${charset}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(plain ? [] : [`Mock-Basis: ${basisHeader({ kind: 'assumed', by: [] })}`]),
    `Date: ${new Date(clock.now()).toUTCString()}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
