import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { State } from '../sandbox/state.ts';
import { describe } from '../words.ts';
import { closeWith } from './linger.ts';
import {
  type ClientError,
  otherProtocol,
  type Refusal,
  refusalReply,
  replyText,
} from './refusals.ts';
import type { ServiceHandler } from './service-handler.ts';
import { isOfMock, parseTarget } from './target.ts';
import type { Certificate } from './tls/certificate.ts';
import { securer } from './tls/secure.ts';
import { send, sendFailure, type Wire } from './write.ts';

/** How long a client may be silent, in milliseconds. */
export interface Timeouts {
  /** Before its first request. */
  readonly headers: number;
  /** After that, within a request or between two; longer than clients keep a connection themselves. */
  readonly idle: number;
  /** While the server stops. */
  readonly stop: number;
}

const TIMEOUTS: Timeouts = {
  headers: 10_000,
  idle: 300_000,
  stop: 4_000, // Docker waits for 10 seconds
};

/** How long stopping may take, however slowly a client reads, in milliseconds. */
const LONGEST_STOP = 30_000;

/** Milliseconds that a client has to close a connection on which it waits for nothing. */
const IDLE_LINGER = 100;

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
  const connections = new Connections(options);
  const secure = options.certificate && securer(options.certificate);
  const server = createTcpServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    if (secure === undefined) connections.serve(socket);
    else {
      const settle = connections.await(socket);
      secure(socket, settle);
    }
  });
  const close = (): Promise<void> => {
    connections.stop();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  return { server, close };
}

/** No reply can be sent: the connection is reset, or fails in TLS. */
const BROKEN = /^(?:ECONNRESET|EPROTO|ERR_(?:SSL|TLS)_.*)$/;

/** The open connections of a server. */
class Connections {
  readonly #options: ListenerOptions;
  readonly #timeouts: Timeouts;
  readonly #notify: (error: ClientError) => void;
  /** Gets the connections of another server, so that those for HTTPS can be told apart before. */
  readonly #http: HttpServer;
  /** Each with the response to its latest request. */
  readonly #open = new Map<Socket, ServerResponse | undefined>();
  #isStopping = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#timeouts = { ...TIMEOUTS, ...options.timeouts };
    this.#notify = notifier(options);
    const http = createServer({
      keepAliveTimeout: 0,
      requireHostHeader: false,
      joinDuplicateHeaders: true, // so that a second Host shows
    });
    http.maxHeadersCount = 0; // Node would drop the rest; their size is limited
    http.timeout = this.#timeouts.headers;
    const answer = responder(options);
    const take: RequestListener = (request, response) => {
      const { socket } = request;
      if (this.#open.get(socket) === undefined) socket.setTimeout(this.#timeouts.idle);
      this.#open.set(socket, response);
      if (this.#isStopping) response.setHeader('Connection', 'close');
      answer(request, response);
    };
    http.on('request', take);
    // A server may ignore other expectations (RFC 9110, section 10.1.1).
    http.on('checkExpectation', take);
    http.on('clientError', (error, socket: Socket) => this.#refuse(socket, error));
    http.on('connect', (_request, socket: Socket) => {
      socket.on('error', () => socket.destroy()); // Node handles none from then on
      // Node has also taken the socket from a reply under way.
      if (isUnderWay(this.#open.get(socket))) socket.destroy();
      else this.#refuse(socket, { code: 'CONNECT', message: '' });
    });
    http.on('timeout', (socket: Socket) => this.#giveUp(socket));
    this.#http = http;
  }

  /** Answers the requests of a connection. */
  serve(socket: Socket): void {
    this.#add(socket);
    this.#http.emit('connection', socket);
  }

  /**
   * Waits for the start of a connection that should be TLS.
   *
   * @returns takes the TLS connection; undefined if the client speaks plain HTTP
   */
  await(socket: Socket): (secured: Socket | undefined) => void {
    this.#add(socket);
    socket.setTimeout(this.#timeouts.headers, () => socket.destroy());
    return (secured) => {
      socket.setTimeout(0);
      if (secured === undefined) this.#refuse(socket, { code: 'PLAIN_HTTP', message: '' });
      else {
        this.#open.delete(socket);
        this.serve(secured);
      }
    };
  }

  #add(socket: Socket): void {
    this.#open.set(socket, undefined);
    socket.once('close', () => this.#open.delete(socket));
  }

  /** Answers what cannot be read, after the reply under way, and closes the connection. */
  #refuse(socket: Socket, error: ClientError): void {
    this.#notify(error);
    const response = this.#open.get(socket);
    if (BROKEN.test(error.code ?? '')) socket.destroy();
    else if (isUnderWay(response) && response.req.complete) {
      response.once('close', () => closeWith(socket));
    } else {
      const isAnswered = response?.headersSent && !response.req.complete;
      const { sandbox } = this.#options;
      closeWith(socket, isAnswered ? '' : replyText(error, sandbox.state, this.#options));
    }
  }

  /** Closes the connection of a client that was silent for too long, unless it waits for a reply. */
  #giveUp(socket: Socket): void {
    const response = this.#open.get(socket);
    const isRead = response?.req.complete === true;
    if (this.#isStopping) socket.destroy();
    else if (isRead ? !isUnderWay(response) : socket.bytesRead === 0) closeWith(socket);
    else if (!isRead) this.#refuse(socket, { code: 'LATE', message: '' });
  }

  /** Finishes the replies under way, and closes every connection. */
  stop(): void {
    this.#isStopping = true;
    for (const [socket, response] of this.#open) {
      socket.setTimeout(this.#timeouts.stop);
      if (response?.headersSent) response.once('close', () => closeWith(socket));
      else response?.setHeader('Connection', 'close');
    }
    const closeIdle = (): void => {
      for (const [socket, response] of this.#open) {
        if (!isUnderWay(response)) closeWith(socket, '', IDLE_LINGER);
      }
    };
    setImmediate(() => setImmediate(closeIdle)); // after all that has arrived is read
    const destroyAll = (): void => this.#open.forEach((_, socket) => void socket.destroy());
    setTimeout(destroyAll, LONGEST_STOP).unref();
  }
}

/** Node takes the socket from a response that is sent; one that waits for others has none yet. */
function isUnderWay(response: ServerResponse | undefined): response is ServerResponse {
  return response !== undefined && !(response.writableFinished && response.socket === null);
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
      const refusal = refusalOf(request);
      if (refusal !== undefined) {
        const reply = refusalReply(sandbox.state, refusal);
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

/** A host with or without a port (RFC 9110, section 7.2); brackets around an IPv6 address. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Refuses what HTTP forbids and Node accepts (RFC 9112, sections 2.3, 3.2 and 6.1). */
function refusalOf({ headers, httpVersion: version }: IncomingMessage): Refusal | undefined {
  const { host, 'transfer-encoding': coding } = headers;
  const isHostKnown = host === undefined ? version !== '1.1' : HOST.test(host);
  if (!isHostKnown) return ['invalid_input', 400, hostProblem(host)];
  if (!version.startsWith('1.')) {
    const message = `HTTP/${version} is not supported; use HTTP/1.1 or HTTP/1.0`;
    return ['http_version_not_supported', 505, message];
  }
  if (coding === undefined || /^chunked$/i.test(coding)) return undefined;
  const message = `Transfer-Encoding: expected chunked, found ${describe(coding)}`;
  return ['transfer_coding_not_implemented', 501, message];
}

function hostProblem(host: string | undefined): string {
  if (host === undefined) return 'the request has no Host header';
  // Node joins them.
  if (host.includes(', ')) return 'the request has more than one Host header';
  return `Host: expected a name or address, found ${describe(host)}`;
}
