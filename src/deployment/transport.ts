import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, rootCertificates } from 'node:tls';
import { credentialsOf, hostOf } from '../contract/base-url.ts';
import { isLoopbackName } from '../control/loopback.ts';
import { codeOf } from '../error-code.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/** How a server is reached. */
export interface TransportOptions {
  /** A certificate to trust besides those that Node trusts, in PEM. */
  readonly ca?: string | undefined;
  /** Where `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` are looked up; by default nowhere. */
  readonly variables?: Variables | undefined;
  /** Milliseconds until a proxy has connected, and of silence on a connection. */
  readonly timeout: number;
}

/** A request as it is sent. */
export interface TransportRequest {
  readonly method: string;
  /** The path below the base URL with its query. */
  readonly target: string;
  /** Names and values alternate; without `Host`. */
  readonly headers: readonly string[];
  readonly signal?: AbortSignal;
}

/**
 * Sends requests to a server, directly or through a proxy, over connections that are kept. Passes
 * requests and replies on as they are: follows no redirect and decodes nothing.
 */
export class Transport {
  readonly #agent: http.Agent;
  readonly #options: http.RequestOptions;
  readonly #base: string;
  readonly #headers: readonly string[];

  /** @param url as `baseUrlOf` reads it */
  constructor(url: URL, { ca, variables = {}, timeout }: TransportOptions) {
    const proxy = proxyFor(url, variables);
    const isTunnel = proxy !== undefined && url.protocol === 'https:';
    const next = isTunnel ? url : (proxy ?? url);
    const { protocol, port } = next;
    const host = hostOf(next);
    const trusted = ca === undefined ? undefined : [...rootCertificates, ca];
    const servername = isIP(host) === 0 ? host : '';
    const settings = {
      keepAlive: true,
      timeout,
      ca: trusted,
      rejectUnauthorized: true,
      servername,
    };
    if (isTunnel) this.#agent = new TunnelAgent(proxy, url, settings);
    else this.#agent = new (protocol === 'https:' ? https : http).Agent(settings);
    this.#options = { protocol, host, port, agent: this.#agent, timeout };
    const isForwarded = proxy !== undefined && !isTunnel;
    this.#base = (isForwarded ? url.origin : '') + url.pathname.replace(/\/$/, '');
    const authorization = isForwarded ? proxyAuthorization(proxy) : {};
    this.#headers = ['Host', url.host, ...Object.entries(authorization).flat()];
  }

  /** Closes its connections, also those in use. */
  close(): void {
    this.#agent.destroy();
  }

  /**
   * Starts a request, which the caller ends.
   *
   * @throws TypeError for a proxy that speaks neither http nor https
   */
  start(
    { method, target, headers, signal }: TransportRequest,
    onReply: (reply: IncomingMessage) => void,
    onError: (error: Error) => void,
  ): ClientRequest {
    const { request } = this.#options.protocol === 'https:' ? https : http;
    return request({
      ...this.#options,
      method,
      path: this.#base + target,
      headers: [...this.#headers, ...headers],
      ...(signal && { signal }),
    })
      .on('response', onReply)
      .on('upgrade', ({ statusCode }, socket) => {
        socket.destroy();
        onError(new Error(`its status is ${statusCode}`));
      })
      .on('error', onError);
  }
}

/** Keeps TLS connections that run through a proxy. */
class TunnelAgent extends https.Agent {
  readonly #proxy: URL;
  readonly #url: URL;

  constructor(proxy: URL, url: URL, options: https.AgentOptions) {
    super(options);
    this.#proxy = proxy;
    this.#url = url;
  }

  override createConnection(
    { servername = '', timeout = 0 }: https.RequestOptions,
    done: (error: Error | null, connection?: Duplex) => void,
  ): undefined {
    const { ca } = this.options;
    const secured = (socket: Socket): Duplex =>
      connect({ socket, host: hostOf(this.#url), servername, ca, rejectUnauthorized: true });
    openTunnel(this.#proxy, `${this.#url.hostname}:${this.#url.port || 443}`, timeout).then(
      (socket) => done(null, secured(socket)),
      (error: Error) => done(error),
    );
  }
}

/** Asks a proxy for a connection to a server (RFC 9110, section 9.3.6). */
function openTunnel(proxy: URL, authority: string, timeout: number): Promise<Socket> {
  const { request } = proxy.protocol === 'https:' ? https : http;
  const headers = { Host: authority, ...proxyAuthorization(proxy) };
  const signal = AbortSignal.timeout(timeout);
  return new Promise((resolve, reject) => {
    request(proxy, { method: 'CONNECT', path: authority, headers, agent: false, signal })
      .on('connect', ({ statusCode }, socket) => {
        if (statusCode === 200) resolve(socket);
        else reject(new Error(`the proxy ${proxy.host} answered ${statusCode} to CONNECT`));
      })
      .on('error', reject)
      .end();
  });
}

/** Errors of a certificate that Node cannot verify. */
const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY)|CERT_UNTRUSTED/;

/** Why a request failed, in words. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error) ?? '';
  if (UNTRUSTED.test(code))
    return `its certificate is not trusted (${code}); name one to trust with --cacert`;
  const message = error instanceof Error ? error.message : String(error);
  return message.includes(code) ? message : `${message} (${code})`;
}

/**
 * The proxy for a URL, by `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` in either case; undefined to
 * connect directly, as always to this machine.
 */
export function proxyFor(url: URL, variables: Variables): URL | undefined {
  const host = hostOf(url);
  if (isLoopbackName(host) || isExcepted(url, read(variables, 'no_proxy'))) return undefined;
  const proxy = read(variables, url.protocol === 'https:' ? 'https_proxy' : 'http_proxy');
  if (proxy === '') return undefined;
  const full = proxy.includes('://') ? proxy : `http://${proxy}`;
  return URL.canParse(full) ? new URL(full) : undefined;
}

/** The lower-case variable wins, as in curl. */
function read(variables: Variables, name: string): string {
  return variables[name] || variables[name.toUpperCase()] || '';
}

/** Whether `NO_PROXY` names the host, a domain that it is in, or all hosts. */
function isExcepted(url: URL, list: string): boolean {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const host = hostOf(url).toLowerCase();
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true;
    const [, name = '', only] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (name === '' || (only !== undefined && only !== port)) return false;
    const domain = name.replace(/^\*?\./, '');
    return host === domain || host.endsWith(`.${domain}`);
  });
}

/** The value of `Proxy-Authorization` for the user in a proxy's URL. */
export function proxyAuthorization(proxy: URL): Record<string, string> {
  const { username, password } = credentialsOf(proxy);
  if (username === '') return {};
  const user = Buffer.from(`${username}:${password}`);
  return { 'Proxy-Authorization': `Basic ${user.toString('base64')}` };
}
