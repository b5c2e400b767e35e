import type { RequestListener } from 'node:http';
import type { Server } from 'node:net';
import type { State } from '../sandbox/state.ts';
import { AssumptionTrace, errorReply, type Reply } from '../service/reply.ts';
import { createHttpServer, type Timeouts } from './connections.ts';
import { findRemedy, type Rejection, rejectBytes, rejectRequest } from './rejections.ts';
import type { ServiceHandler } from './service-handler.ts';
import { isOfMock, parseTarget } from './target.ts';
import type { Certificate } from './tls/certificate.ts';
import { createRefusal, formatReply, sendFailure, sendReply } from './write.ts';

const TIMEOUTS: Timeouts = {
  headers: 10_000,
  idle: 300_000, // longer than clients keep a connection themselves
  stop: 5_000, // Docker waits for 10 seconds
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

export interface Listener {
  readonly server: Server;
  /** Finishes what is in flight, as long as that may take, then closes. */
  close(): Promise<void>;
}

/**
 * Creates the server. Service paths go straight to the service's handler; only the rest waits for
 * the Express app, since Express slows down every request that passes through it.
 */
export function createListener(options: ListenerOptions): Listener {
  const { certificate, loadApp, sandbox, service } = options;
  const notices = new Set<string>();
  /** Reports each mistake once: a client that retries would fill the log. */
  const notify = (message: string | undefined): void => {
    if (message === undefined || notices.has(message)) return;
    notices.add(message);
    options.onNotice?.(message);
  };
  const rejectionReply = ([code, status, message]: Rejection): Reply => {
    const decidedBy = new AssumptionTrace(sandbox.state.settings.choices);
    return errorReply(decidedBy, code, status, message, { headers: ['Connection', 'close'] });
  };
  let app: Promise<RequestListener> | undefined;
  const answer: RequestListener = (request, response) => {
    const fail = (error: unknown): void => sendFailure(response, error, sandbox.state);
    try {
      const rejection = rejectRequest(request);
      if (rejection !== undefined) {
        sendReply(response, createRefusal(rejectionReply(rejection), sandbox.state));
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
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const listener = createHttpServer(timeouts, certificate, answer, (error) => {
    notify(findRemedy(error));
    return formatReply(createRefusal(rejectionReply(rejectBytes(error)), sandbox.state));
  });
  const { server } = listener;
  server.on('drop', () =>
    notify(`connections beyond ${server.maxConnections} are refused: raise \`ulimit -n\``),
  );
  return listener;
}
