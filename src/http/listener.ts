import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { BASE_PATH } from '../contract/operations.ts';
import type { World } from '../service/world.ts';
import {
  type Connection,
  type ConnectionRequest,
  Connections,
  closeWith,
  endAfter,
  hasBody,
  isLast,
  isReplying,
  LATEST,
  noteLatest,
} from './connections.ts';
import { EdgeErrors } from './edge-errors.ts';
import type { Wire } from './encode.ts';
import { requestError } from './request-check.ts';
import type { ServiceHandler } from './service.ts';
import { keepTickShape } from './tick-shape.ts';
import type { Certificate } from './tls/certificate.ts';
import { createSecureServer } from './tls/secure-server.ts';
import { type ClientError, otherProtocol, refuseUnreadable } from './unreadable.ts';

/** How long a client may take, in milliseconds. */
export interface Timeouts {
  /** From the connection, or the previous reply, to the end of a request's headers. */
  readonly headers: number;
  /** To the end of a request's body. */
  readonly request: number;
  /** How often both are checked. */
  readonly checkEvery: number;
  /** Between two requests on a connection, roughly; longer than clients keep one themselves. */
  readonly idle: number;
  /** Without progress on requests in flight while the server stops; up to twice that. */
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
  /** Loads the app that answers everything but the service's paths, at its first request. */
  readonly loadApp: () => Promise<RequestListener>;
  /** The sandbox whose assumptions apply to bytes that are not a request. */
  readonly sandbox: { readonly world: World };
  readonly timeouts?: Partial<Timeouts> | undefined;
  /** With one, the server speaks HTTPS. */
  readonly certificate?: Certificate | undefined;
  /** Called once for each protocol that this port does not speak, with what to do about it. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

/** A server, and the way to stop it. */
export interface Listener {
  readonly server: Server;
  /** Finishes what is in flight, as long as a client may take for it, then closes. */
  close(): Promise<void>;
}

/**
 * Creates the server. Service paths go straight to the service's handler; only the rest waits for
 * the Express app, since Express slows down every request that passes through it.
 */
export function createListener(options: ListenerOptions): Listener {
  keepTickShape();
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const settings = {
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    connectionsCheckingInterval: timeouts.checkEvery,
    keepAliveTimeout: 0, // see Connections
    requireHostHeader: false, // Node would answer without an Error
  };
  const { certificate } = options;
  const server =
    certificate === undefined
      ? createServer(settings)
      : createSecureServer(certificate, settings, timeouts.headers);
  server.maxHeadersCount = 0; // Node would drop the rest; their size is limited
  const connections = new Connections(server, timeouts.idle);
  const errors = new EdgeErrors(options.sandbox, options);
  const respond = responder(options, errors);

  const answer = (request: ConnectionRequest, response: ServerResponse): void => {
    const { socket } = request;
    if (isLast(socket[LATEST]) || (connections.stopping && socket.writableEnded)) {
      // The client was told that the previous reply is the last.
      request.resume();
      return;
    }
    if (connections.stopping || (!response.shouldKeepAlive && hasBody(request))) endAfter(response);
    respond(request, response);
    noteLatest(request, response);
  };

  server.on('request', answer);
  // A server may ignore other expectations (RFC 9110, section 10.1.1).
  server.on('checkExpectation', answer);
  server.on('connect', (_request, socket: Connection) => refuseConnect(socket, errors));
  const reported = new Set<string>();
  server.on('clientError', (error: ClientError, socket: Connection) => {
    const notice = otherProtocol(error);
    // Each notice once: a client that retries would fill the log.
    if (notice !== undefined && !reported.has(notice)) {
      reported.add(notice);
      options.onNotice?.(notice);
    }
    refuseUnreadable(error, socket, errors);
  });
  return { server, close: () => connections.close(timeouts.stop) };
}

/** Creates the request handler: it answers with an Error, the service's handler, or the app. */
function responder({ service, loadApp }: ListenerOptions, errors: EdgeErrors): RequestListener {
  let app: Promise<RequestListener> | undefined;
  return (request, response) => {
    const error = requestError(request, errors.invalid);
    if (error !== undefined) {
      errors.refuse(response, error);
      return;
    }
    if (!isServicePath(request.url ?? '')) {
      app ??= loadApp().catch((reason) => {
        app = undefined; // the next request tries again
        throw reason;
      });
      app
        .then((listener) => listener(request, response))
        .catch((reason) => errors.fail(response, reason));
      return;
    }
    try {
      service(request, response);
    } catch (reason) {
      errors.fail(response, reason);
    }
  };
}

/** The app answers it, as it answers `/`. */
const SANDBOX_ROOT = /^\/~[^/?]*\/?(?:\?|$)/;

/** The service's own paths, in the default sandbox (`/v1…`) and in a named one (`/~NAME/…`). */
function isServicePath(url: string): boolean {
  if (url.startsWith('/~')) return !url.includes('/__mock') && !SANDBOX_ROOT.test(url);
  if (!url.startsWith(BASE_PATH)) return false;
  const next = url[BASE_PATH.length];
  return next === '/' || next === '?' || next === undefined;
}

/** Answers CONNECT, or closes the connection if earlier replies are still due on it. */
function refuseConnect(socket: Connection, errors: EdgeErrors): void {
  // Node no longer handles the socket's errors and data.
  socket.on('error', () => socket.destroy()).resume();
  const latest = socket[LATEST];
  if (isReplying(latest) || isLast(latest)) {
    socket.destroy();
    return;
  }
  const message = 'CONNECT is not for this server';
  const allow = ['Allow', 'GET, HEAD, POST, PATCH, DELETE, OPTIONS'];
  closeWith(socket, errors.text({ code: 'method_not_allowed', status: 405, message }, allow));
}
