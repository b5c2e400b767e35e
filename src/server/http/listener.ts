import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { clearTimeout, setTimeout } from 'node:timers';
import { setImmediate } from 'node:timers/promises';
import type { ErrorCode, StatusOf } from '../../core/contract/error-codes.ts';
import { findControlTarget, parseTarget } from '../../core/contract/target.ts';
import { LIMITS } from '../../core/limits.ts';
import { finishRefusal } from '../../core/sandbox/create-exchange.ts';
import type { Sandbox } from '../../core/sandbox/sandbox.ts';
import { AssumptionTrace, errorReply, type Reply } from '../../core/service/reply.ts';
import { describe } from '../../core/words.ts';
import { answerAndKeep } from '../arrival.ts';
import type { ServerPersistence } from '../open-sandboxes.ts';
import type { BaseOptions, Timeouts } from '../options.ts';
import { listenOn, openServer } from './open-server.ts';
import { createBrokenRequest, type ServiceHandler } from './service-handler.ts';
import { type Certificate, unwrapTls } from './tls.ts';
import { closeWith, formatReply, runInTurn, sendFailure } from './write.ts';

const TIMEOUTS: Timeouts = {
  headers: 10_000,
  idle: 300_000, // longer than clients keep a connection themselves
  stop: 5_000, // Docker waits for 10 seconds
};

export interface ListenerOptions extends Pick<BaseOptions, 'timeouts' | 'onNotice'> {
  readonly service: ServiceHandler;
  /** Loads the Express app at the first request that is not for the service. */
  readonly loadApp: () => Promise<RequestListener>;
  /** Records requests that could not be read in this sandbox's journal. */
  readonly sandbox: Sandbox;
  readonly persistence: ServerPersistence;
  readonly certificate?: Certificate | undefined;
}

export interface Listener {
  /**
   * Listens in IPv4 and IPv6 where clients may use either: for `localhost`, and for all addresses.
   *
   * @throws Node's own errors if the port is taken or not permitted
   */
  listen(port: number, host: string): Promise<AddressInfo>;
  /** Finishes requests under way within their time limit, then closes. */
  close(): Promise<void>;
}

/**
 * Creates the server. Requests for the service bypass the Express app, because every request that
 * passes through Express is slower.
 */
export function createListener(options: ListenerOptions): Listener {
  const { certificate, loadApp, sandbox, persistence, service } = options;
  const notices = new Set<string>();
  /** Reports each message once, since a client that retries would fill the log. */
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
      else if (target.route !== undefined || findControlTarget(target) === undefined)
        service(request, response, target);
      else {
        app ??= loadApp().catch((reason) => {
          app = undefined; // Load it again at the next request.
          throw reason;
        });
        app.then((listener) => listener(request, response)).catch(fail);
      }
    } catch (error) {
      fail(error);
    }
  };
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  /** @returns the whole reply to bytes that are not a valid request */
  const refuseBytes = async (error: ConnectionError, begun?: IncomingMessage): Promise<string> => {
    const rejection = rejectBytes(error);
    const reply = rejectionReply(rejection);
    const request = createBrokenRequest(begun ?? error.rawPacket);
    const [, status, message] = rejection;
    const unrecorded = `refused before it was a request: ${status}, ${message}`;
    notify(findRemedy(error) ?? (request === undefined ? unrecorded : undefined));
    const refused = request && { ...request, supplied: { reply } };
    const exchange = refused && (await answerAndKeep(persistence, sandbox, refused));
    return formatReply(exchange?.reply ?? finishRefusal(reply, sandbox.state));
  };
  const { server, ...listener } = createHttpServer(timeouts, certificate, route, refuseBytes);
  // A client that does not trust the certificate gets no reply, but the operator gets a notice.
  server.on('clientError', (error) => notify(findRemedy(error)));
  return listener;
}

/** @param refuse returns the whole reply to bytes that are not a request, or not its body */
function createHttpServer(
  timeouts: Timeouts,
  certificate: Certificate | undefined,
  route: RequestListener,
  refuse: RefuseBytes,
): Listener & { readonly server: Server } {
  const connections = new Connections(refuse);
  const server = openServer(timeouts, certificate, (socket) =>
    connections.reject({ code: 'PLAIN' }, socket),
  );
  const receive: RequestListener = (request, response) => {
    connections.note(response);
    runInTurn(response, () => route(request, response));
  };
  const add = (socket: Socket): void => connections.add(socket);
  server.on('connection', add).on('secureConnection', add).on('request', receive);
  server.on('checkExpectation', receive); // a server may ignore others (RFC 9110, section 10.1.1)
  server.on('clientError', (error, socket: Socket) => connections.reject(error, socket));
  server.on('connect', (_, socket: Socket) => connections.reject({ code: 'CONNECT' }, socket));
  server.on('timeout', (socket: Socket) => connections.expire(socket));
  // Node's own would leave unused connections open, and cut off replies to slow clients.
  server.closeIdleConnections = () => connections.closeIdle();

  /** Listens in the other address family and passes its connections on to the server. */
  const twin = createTcpServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    server.emit('connection', socket);
  });
  return {
    server,
    listen: (port, host) => listenOn(server, twin, port, host),
    close: async () => {
      connections.announceStop();
      const isTwin = twin.listening;
      for (const _turn of [1, 2]) await setImmediate(); // Read first what has already arrived.
      const closed = once(server.close(), 'close');
      const timer = setTimeout(() => connections.destroyAll(), timeouts.stop);
      if (isTwin) await once(twin.close(), 'close');
      await closed;
      clearTimeout(timer);
    },
  };
}

type RefuseBytes = (error: ConnectionError, begun: IncomingMessage | undefined) => Promise<string>;

class Connections {
  readonly #latest = new Map<Socket, ServerResponse | undefined>();
  readonly #refuse: RefuseBytes;
  #isStopping = false;

  constructor(refuse: RefuseBytes) {
    this.#refuse = refuse;
  }

  add(socket: Socket): void {
    if (this.#latest.has(socket)) return;
    this.#latest.delete(unwrapTls(socket)); // A TLS socket replaces the TCP socket below it.
    this.#latest.set(socket, undefined);
    socket.on('error', () => {}).once('close', () => this.#latest.delete(socket));
  }

  note(response: ServerResponse): void {
    this.#latest.set(response.req.socket, response);
    if (this.#isStopping) response.setHeader('Connection', 'close');
  }

  /** Ends a connection after the reply under way, if there is one, or with a refusal. */
  reject(error: ConnectionError, socket: Socket): void {
    const response = this.#latest.get(socket);
    const begun = response?.req.complete === false ? response.req : undefined;
    if (isUnderWay(response) && begun === undefined)
      response.once('close', () => closeWith(socket));
    else if ((begun && response?.headersSent) || socket.bytesRead === 0) closeWith(socket);
    else void this.#refuse(error, begun).then((text) => closeWith(socket, text));
  }

  /** Called when nothing has arrived on a connection for the time of `idle`. */
  expire(socket: Socket): void {
    const isWaiting = isUnderWay(this.#latest.get(socket)) && socket.writableLength === 0;
    if (!isWaiting) socket.destroy();
  }

  closeIdle(): void {
    for (const [socket, response] of this.#latest) if (!isUnderWay(response)) socket.destroySoon();
  }

  /** Makes replies under way, and all later ones, close their connections. */
  announceStop(): void {
    this.#isStopping = true;
    for (const [socket, response] of this.#latest) {
      if (response?.headersSent) response.once('close', () => closeWith(socket));
      else response?.setHeader('Connection', 'close');
    }
  }

  destroyAll(): void {
    for (const socket of this.#latest.keys()) socket.destroy();
  }
}

/** Node detaches the socket from a sent response. A queued response does not have it yet. */
function isUnderWay(response: ServerResponse | undefined): response is ServerResponse {
  return response !== undefined && !(response.writableFinished && response.socket === null);
}

type Rejection = readonly [ErrorCode, StatusOf<ErrorCode>, string];

/** Why a connection cannot go on: an error of Node, or one of the codes below. */
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

/** What to do about a client that uses another protocol; undefined if that is unknown. */
function findRemedy({ code = '', rawPacket }: ConnectionError): string | undefined {
  const start = rawPacket?.toString('latin1', 0, 14) ?? '';
  if (code === 'PLAIN')
    return 'this port speaks HTTPS: use a base URL with https:// instead of http://';
  if (start.startsWith('\x16\x03'))
    return 'this port speaks plain HTTP: use a base URL with http:// instead of https://';
  if (code === 'CONNECT') return 'this server is not a proxy: give its address as the base URL';
  // Alerts by which a client refuses a certificate (RFC 8446, section 6.2).
  if (!/_ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)$/.test(code)) return undefined;
  return 'a client does not trust the certificate: get it with --tls-write FILE or from /__mock/certificate.pem';
}

/** A host with an optional port (RFC 9110, section 7.2). IPv6 addresses have brackets. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Node would refuse a wrong `Host` without an Error body (RFC 9112, section 3.2). */
function rejectHost({ headers: { host }, httpVersion }: IncomingMessage): Rejection | undefined {
  if (host === undefined ? httpVersion !== '1.1' : HOST.test(host)) return undefined;
  return ['invalid_input', 400, `Host: expected one name or address, found ${describe(host)}`];
}
