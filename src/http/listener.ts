import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { State } from '../sandbox/state.ts';
import { type ClientError, CONNECT, otherProtocol, PLAIN_HTTP } from './client-error.ts';
import { Connections } from './connections.ts';
import { replyText, requestRefusal, unreadableRefusal } from './edge-errors.ts';
import type { ServiceHandler } from './service-handler.ts';
import { isOfMock, parseTarget } from './target.ts';
import type { Certificate } from './tls/certificate.ts';
import { securer } from './tls/secure-server.ts';
import { send, sendFailure, type Wire } from './write.ts';

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
  readonly sandbox: { readonly state: State };
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
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const { certificate, sandbox } = options;
  const replyTo = (error: ClientError): string =>
    replyText(unreadableRefusal(error, sandbox.state), sandbox.state, options);
  // It gets the connections of another server, so that those for HTTPS can be told apart before.
  const http = createServer({ keepAliveTimeout: 0, requireHostHeader: false });
  http.maxHeadersCount = 0; // Node would drop the rest; their size is limited
  const connections = new Connections(http, {
    answer: responder(options),
    replyTo,
    limits: timeouts,
  });
  const notify = notifier(options);
  http.on('clientError', notify);
  // From then on, Node handles no errors of the socket.
  http.on('connect', (_request, socket: Socket) =>
    connections.refuse(
      socket.on('error', () => socket.destroy()),
      CONNECT,
    ),
  );

  const serve = (socket: Socket, carrier?: Socket): void => {
    connections.add(socket, carrier);
    http.emit('connection', socket);
  };
  const secure = certificate && securer(certificate, timeouts.headers);
  const server = createTcpServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    if (secure === undefined) {
      serve(socket);
      return;
    }
    connections.add(socket);
    secure(socket, (secured) => {
      if (secured !== undefined) serve(secured, socket);
      else {
        notify(PLAIN_HTTP);
        connections.refuse(socket, PLAIN_HTTP);
      }
    });
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      const stopped = connections.stop(timeouts.stop);
      server.close(() => {
        stopped();
        resolve();
      });
    });
  return { server, close };
}

/** Reports each other protocol once: a client that retries would fill the log. */
function notifier({ onNotice }: ListenerOptions): (error: ClientError) => void {
  const reported = new Set<string>();
  return (error) => {
    const notice = otherProtocol(error);
    if (notice === undefined || reported.has(notice)) return;
    reported.add(notice);
    onNotice?.(notice);
  };
}

/** Creates the request handler: it answers with an Error, the service's handler, or the app. */
function responder(options: ListenerOptions): RequestListener {
  const { service, loadApp, sandbox } = options;
  let app: Promise<RequestListener> | undefined;
  return (request, response) => {
    const fail = (error: unknown): void => sendFailure(response, error, sandbox.state, options);
    try {
      const reply = requestRefusal(request, sandbox.state);
      if (reply !== undefined) {
        send(response, { kind: 'reply', reply, delay: 0 }, sandbox.state, options);
        return;
      }
      const target = parseTarget(request.url ?? '/');
      if (target.route !== undefined || !isOfMock(target)) service(request, response, target);
      else {
        app ??= loadApp().catch((reason) => {
          app = undefined; // the next request tries again
          throw reason;
        });
        app.then((listener) => listener(request, response)).catch(fail);
      }
    } catch (error) {
      fail(error);
    }
  };
}
