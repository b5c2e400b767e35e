import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { clearTimeout, setTimeout } from 'node:timers';
import { setImmediate } from 'node:timers/promises';
import type { ErrorCode, StatusOf } from '../../core/contract/error-codes.ts';
import { isMockPath, parseTarget } from '../../core/contract/target.ts';
import { LIMITS } from '../../core/limits.ts';
import { finishRefusal } from '../../core/sandbox/create-exchange.ts';
import type { Sandbox } from '../../core/sandbox/sandbox.ts';
import { AssumptionTrace, errorReply, type Reply } from '../../core/service/reply.ts';
import { errorCode } from '../../core/thrown.ts';
import { describe } from '../../core/words.ts';
import { handleRequest, type ServerPersistence } from '../persistence.ts';
import { createBrokenRequest } from './receive-request.ts';
import type { ServiceHandler } from './service-handler.ts';
import { type Certificate, createTlsServer, unwrapTls } from './tls.ts';
import { closeWith, formatReply, runInTurn, sendFailure } from './write.ts';

/** In milliseconds. */
export interface Timeouts {
  /** For the head of a request. */
  readonly headers: number;
  /** For a whole request, for the next one, and for a client that does not read its reply. */
  readonly idle: number;
  /** For everything under way when the server stops. */
  readonly stop: number;
}

const TIMEOUTS: Timeouts = {
  headers: 10_000,
  idle: 300_000, // longer than clients keep a connection themselves
  stop: 5_000, // Docker waits for 10 seconds
};

export interface ListenerOptions {
  readonly service: ServiceHandler;
  /** Loads the app that answers everything but the service's paths, at its first request. */
  readonly loadApp: () => Promise<RequestListener>;
  /** Refuses what is not a request, and has it in its journal. */
  readonly sandbox: Sandbox;
  readonly persistence: ServerPersistence;
  readonly timeouts?: Partial<Timeouts> | undefined;
  readonly certificate?: Certificate | undefined;
  /** Called once for each mistake of clients that the operator can help with. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

export interface Listener {
  /**
   * Listens for both families where clients mean either: `localhost`, and every address.
   *
   * @throws Node's own errors if the port is taken or not permitted
   */
  listen(port: number, host: string): Promise<AddressInfo>;
  /** Finishes what is in flight, as long as that may take, then closes. */
  close(): Promise<void>;
}

/**
 * Creates the server. Service paths go straight to the service's handler; only the rest waits for
 * the Express app, since Express slows down every request that passes through it.
 */
export function createListener(options: ListenerOptions): Listener {
  const { certificate, loadApp, sandbox, persistence, service } = options;
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
  const route: RequestListener = (request, response) => {
    const fail = (error: unknown): void => sendFailure(response, error, sandbox.state);
    try {
      const rejection = rejectHost(request);
      const target = parseTarget(request.url ?? '/');
      if (rejection !== undefined) service(request, response, target, rejectionReply(rejection));
      else if (target.route !== undefined || !isMockPath(target))
        service(request, response, target);
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
  /** @returns the whole reply to what cannot be read */
  const refuseBytes = async (error: ConnectionError, begun?: IncomingMessage): Promise<string> => {
    const rejection = rejectBytes(error);
    const reply = rejectionReply(rejection);
    const request = createBrokenRequest(begun ?? error.rawPacket);
    const [, status, message] = rejection;
    const unrecorded = `refused before it was a request: ${status}, ${message}`;
    notify(findRemedy(error) ?? (request === undefined ? unrecorded : undefined));
    const refused = request && { ...request, given: { reply } };
    const exchange = refused && (await handleRequest(persistence, sandbox, refused));
    return formatReply(exchange?.reply ?? finishRefusal(reply, sandbox.state));
  };
  const { server, ...listener } = createHttpServer(timeouts, certificate, route, refuseBytes);
  // Nothing is sent to a client that does not trust the certificate.
  server.on('clientError', (error) => notify(findRemedy(error)));
  return listener;
}

/** Each open connection with the response to its latest request. */
type LatestResponses = Map<Socket, ServerResponse | undefined>;

/** @param refuse returns the whole reply to bytes that are not a request, or the body of one */
function createHttpServer(
  timeouts: Timeouts,
  certificate: Certificate | undefined,
  route: RequestListener,
  refuse: (error: ConnectionError, begun: IncomingMessage | undefined) => Promise<string>,
): Listener & { readonly server: Server } {
  const options = {
    headersTimeout: timeouts.headers,
    requestTimeout: Math.max(timeouts.headers, timeouts.idle),
    connectionsCheckingInterval: Math.ceil(timeouts.headers / 10),
    keepAliveTimeout: 0, // resets two timers for each request; `timeout` does with one
    maxHeaderSize: LIMITS.head,
    requireHostHeader: false,
    joinDuplicateHeaders: true, // so that a Host or a key that is sent twice shows
  };
  const onPlain = (socket: Socket): void => reject({ code: 'PLAIN' }, socket);
  const server = certificate
    ? createTlsServer(options, certificate, onPlain)
    : createServer(options);
  server.timeout = timeouts.idle;
  server.maxHeadersCount = 0; // Node would drop the rest; their size is limited

  const latest: LatestResponses = new Map();
  let isStopping = false;
  const add = (socket: Socket): void => {
    if (latest.has(socket)) return;
    latest.delete(unwrapTls(socket)); // TLS takes the place of TCP
    latest.set(socket, undefined);
    socket.on('error', () => {}).once('close', () => latest.delete(socket));
  };
  const receive: RequestListener = (request, response) => {
    latest.set(request.socket, response);
    if (isStopping) response.setHeader('Connection', 'close');
    runInTurn(response, () => route(request, response));
  };
  /** Ends a connection after the reply that it owes, if there is one, else with a refusal. */
  const reject = (error: ConnectionError, socket: Socket): void => {
    const response = latest.get(socket);
    const begun = response?.req.complete === false ? response.req : undefined;
    if (isUnderWay(response) && begun === undefined)
      response.once('close', () => closeWith(socket));
    else if ((begun && response?.headersSent) || socket.bytesRead === 0) closeWith(socket);
    else void refuse(error, begun).then((text) => closeWith(socket, text));
  };
  server.on('connection', add).on('secureConnection', add).on('request', receive);
  server.on('checkExpectation', receive); // a server may ignore others (RFC 9110, section 10.1.1)
  server.on('clientError', reject);
  server.on('connect', (_request, socket: Socket) => reject({ code: 'CONNECT' }, socket));
  server.on('timeout', (socket: Socket) => {
    const isWaiting = isUnderWay(latest.get(socket)) && socket.writableLength === 0;
    if (!isWaiting) socket.destroy();
  });
  // Node's own leaves connections that browsers open ahead, and would cut off replies to slow clients.
  server.closeIdleConnections = () => {
    for (const [socket, response] of latest) if (!isUnderWay(response)) socket.destroySoon();
  };

  /** Of the other family; its connections are those of the server. */
  const twin = createTcpServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    server.emit('connection', socket);
  });
  const listen = async (port: number, host: string): Promise<AddressInfo> => {
    const start = (own: string) => once(server.listen({ port, host: own }), 'listening');
    if (host !== '0.0.0.0') await start(host === 'localhost' ? LOOPBACK : host);
    // `::` takes IPv4 too. A machine may have no IPv6.
    else await start('::').catch(() => start(host));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    if (address.address !== LOOPBACK) return address;
    try {
      await once(twin.listen({ port: address.port, host: '::1' }), 'listening');
    } catch (error) {
      // Clients that ask for `localhost` would reach whoever has the port there.
      if (port !== 0 && errorCode(error) === 'EADDRINUSE') {
        server.close();
        throw error;
      }
    }
    return address;
  };

  const close = async (): Promise<void> => {
    isStopping = true;
    const isTwin = twin.listening;
    const closed = closeServer(server, latest, timeouts.stop);
    if (isTwin) await once(twin.close(), 'close');
    await closed;
  };
  return { server, listen, close };
}

const LOOPBACK = '127.0.0.1';

async function closeServer(
  server: Server,
  latest: LatestResponses,
  timeout: number,
): Promise<void> {
  for (const [socket, response] of latest) {
    if (response?.headersSent) response.once('close', () => closeWith(socket));
    else response?.setHeader('Connection', 'close');
  }
  for (const _turn of [1, 2]) await setImmediate(); // what has arrived is read first
  const closed = once(server.close(), 'close');
  const cutOff = (): void => latest.forEach((_, socket) => void socket.destroy());
  const timer = setTimeout(cutOff, timeout);
  await closed;
  clearTimeout(timer);
}

/** Node takes the socket from a response that is sent; one that waits for others has none yet. */
function isUnderWay(response: ServerResponse | undefined): response is ServerResponse {
  return response !== undefined && !(response.writableFinished && response.socket === null);
}

type Rejection = readonly [ErrorCode, StatusOf<ErrorCode>, string];

/** Why a connection cannot go on: Node's error, or a code that is used below. */
interface ConnectionError {
  readonly code?: string;
  readonly message?: string;
  readonly rawPacket?: Buffer;
}

function rejectBytes(error: ConnectionError): Rejection {
  if (error.code === 'HPE_HEADER_OVERFLOW')
    return ['request_header_fields_too_large', 431, `the head is larger than ${LIMITS.head} bytes`];
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return ['request_timeout', 408, 'the request did not arrive in time'];
  const why = `the request is not HTTP/1.1: ${error.message?.replace(/^Parse Error: /, '')}`;
  return ['invalid_input', 400, findRemedy(error) ?? why];
}

/** What to do about a client that speaks another protocol; undefined for unknown ones. */
function findRemedy({ code = '', rawPacket }: ConnectionError): string | undefined {
  const start = rawPacket?.toString('latin1', 0, 14) ?? '';
  if (code === 'PLAIN')
    return 'this port speaks HTTPS: use a base URL with https:// instead of http://';
  if (start.startsWith('\x16\x03'))
    return 'this port speaks plain HTTP: use a base URL with http:// instead of https://';
  if (code === 'CONNECT') return 'this server is not a proxy: give its address as the base URL';
  // The alerts of clients that refuse a certificate (RFC 8446, section 6.2).
  if (!/_ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)$/.test(code)) return undefined;
  return 'a client does not trust the certificate: get it with --tls-write FILE or from /__mock/certificate.pem';
}

/** A host with or without a port (RFC 9110, section 7.2); brackets around an IPv6 address. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Node would answer without an Error (RFC 9112, section 3.2). */
function rejectHost({ headers: { host }, httpVersion }: IncomingMessage): Rejection | undefined {
  if (host === undefined ? httpVersion !== '1.1' : HOST.test(host)) return undefined;
  return ['invalid_input', 400, `Host: expected one name or address, found ${describe(host)}`];
}
