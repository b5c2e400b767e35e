import type { RequestListener } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import type { State } from '../sandbox/state.ts';
import { errorReply, Grounds, type Reply } from '../service/reply.ts';
import { Connections, type Timeouts } from './connections.ts';
import { PLAIN_HTTP, type Rejection, rejectBytes, rejectRequest, remedyFor } from './rejections.ts';
import type { ServiceHandler } from './service-handler.ts';
import { isOfMock, parseTarget } from './target.ts';
import type { Certificate } from './tls/certificate.ts';
import { tlsUpgrade } from './tls/secure.ts';
import { createRefusal, formatReply, sendFailure, sendReply } from './write.ts';

const TIMEOUTS: Timeouts = {
  headers: 10_000,
  idle: 300_000,
  stop: 4_000, // Docker waits for 10 seconds
};

export interface ListenerOptions {
  readonly service: ServiceHandler;
  /** Loads the app that answers everything but the service's paths, at its first request. */
  readonly loadApp: () => Promise<RequestListener>;
  /** The sandbox whose assumptions apply to bytes that are not a request. */
  readonly sandbox: { readonly state: State };
  readonly timeouts?: Partial<Timeouts> | undefined;
  /** With one, the server speaks HTTPS. */
  readonly certificate?: Certificate | undefined;
  /** Called once for each mistake of clients that the operator can help with. */
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
  const { certificate, sandbox, timeouts } = options;
  const notify = notifier(options);
  const connections = new Connections(
    { ...TIMEOUTS, ...timeouts },
    responder(options, notify),
    (error, socket) => {
      const plain = rejectPlain(socket, options);
      notify(plain?.[2] ?? remedyFor(error));
      const reply = rejectionReply(plain ?? rejectBytes(error), sandbox.state);
      return formatReply(createRefusal(reply, sandbox.state));
    },
  );
  const upgrade = certificate && tlsUpgrade(certificate);
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    connections.accept(socket, upgrade),
  );
  const close = (): Promise<void> => {
    connections.stop();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  return { server, close };
}

/** Reports each mistake once: a client that retries would fill the log. */
function notifier({ onNotice }: ListenerOptions): (message: string | undefined) => void {
  const reported = new Set<string>();
  return (message) => {
    if (message === undefined || reported.has(message)) return;
    reported.add(message);
    onNotice?.(message);
  };
}

function rejectionReply(
  [code, status, message, ...more]: Rejection,
  { settings: { choices } }: State,
): Reply {
  const headers = ['Connection', 'close', ...more];
  return errorReply(new Grounds(choices), code, status, message, { headers });
}

/** Rejects everything but TLS on a port for HTTPS. */
function rejectPlain(socket: Socket, { certificate }: ListenerOptions): Rejection | undefined {
  return certificate === undefined || 'encrypted' in socket ? undefined : PLAIN_HTTP;
}

/** Creates the request handler: it answers with an Error, the service's handler, or the app. */
function responder(
  options: ListenerOptions,
  notify: (message: string | undefined) => void,
): RequestListener {
  const { service, loadApp, sandbox } = options;
  let app: Promise<RequestListener> | undefined;
  return (request, response) => {
    const fail = (error: unknown): void => sendFailure(response, error, sandbox.state);
    try {
      const plain = rejectPlain(request.socket, options);
      notify(plain?.[2]);
      const rejection = plain ?? rejectRequest(request);
      if (rejection !== undefined) {
        const refused = rejectionReply(rejection, sandbox.state);
        sendReply(response, createRefusal(refused, sandbox.state));
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
