import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { State } from '../sandbox/state.ts';
import { type ClientError, CONNECT, Connections, PLAIN_HTTP } from './connections.ts';
import { otherProtocol, replyText, requestRefusal } from './refusals.ts';
import type { ServiceHandler } from './service-handler.ts';
import { isOfMock, parseTarget } from './target.ts';
import type { Certificate } from './tls/certificate.ts';
import { securer } from './tls/secure.ts';
import { send, sendFailure, type Wire } from './write.ts';

/** How long a client may be silent, in milliseconds. */
export interface Timeouts {
  /** Before or within the headers of its first request. */
  readonly headers: number;
  /** Within a request's body. */
  readonly request: number;
  /** After a reply; longer than clients keep a connection themselves. */
  readonly idle: number;
  /** How often all three are checked. */
  readonly checkEvery: number;
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
  // It gets the connections of another server, so that those for HTTPS can be told apart before.
  const http = createServer({
    keepAliveTimeout: 0,
    requireHostHeader: false,
    joinDuplicateHeaders: true, // so that a second Host shows
  });
  http.maxHeadersCount = 0; // Node would drop the rest; their size is limited
  const connections = new Connections(http, responder(options), (error) =>
    replyText(error, sandbox.state, options),
  );
  const { checkEvery } = timeouts;
  const checks = setInterval(() => connections.check(checkEvery, timeouts), checkEvery).unref();
  const notify = notifier(options);
  http.on('clientError', notify);
  http.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => socket.destroy()); // Node handles none from then on
    connections.refuse(socket, CONNECT);
  });
  const serve = (socket: Socket, carrier?: Socket): void => {
    connections.add(socket, carrier);
    http.emit('connection', socket);
  };
  const secure = certificate && securer(certificate);
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
      connections.stop(timeouts.stop);
      server.close(() => {
        clearInterval(checks);
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
