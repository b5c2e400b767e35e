import http from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, rootCertificates } from 'node:tls';
import { credentialsOf, hostOf } from '../contract/base-url.ts';
import { isLoopbackName } from '../control/loopback.ts';

type Variables = Readonly<Record<string, string | undefined>>;

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

/** How requests reach a server. */
export interface Way {
  readonly host: string;
  readonly port: string | number;
  readonly agent: http.Agent;
  /** What the target of a request starts with, before the path. */
  readonly origin: string;
  /** Headers for a proxy. */
  readonly headers: Readonly<Record<string, string>>;
}

/** How a way is found. */
export interface WayOptions {
  /** A certificate to trust besides those that Node trusts, in PEM. */
  readonly ca?: string | undefined;
  /** Where `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` are looked up; by default nowhere. */
  readonly variables?: Variables | undefined;
  /** Milliseconds until a proxy has connected, and of silence on a connection. */
  readonly timeout: number;
}

/** The way to a server, directly or through a proxy, over connections that are kept. */
export function wayTo(url: URL, { ca, variables = {}, timeout }: WayOptions): Way {
  const isSecure = url.protocol === 'https:';
  const proxy = proxyFor(url, variables);
  const trusted = ca === undefined ? undefined : [...rootCertificates, ca];
  const options = { keepAlive: true, timeout, ca: trusted, rejectUnauthorized: true };
  const server = { host: hostOf(url), port: url.port || (isSecure ? 443 : 80) };
  const direct = { ...server, origin: '', headers: {} };
  if (!isSecure) {
    if (proxy === undefined) return { ...direct, agent: new http.Agent(options) };
    const isPlain = proxy.protocol === 'http:';
    const agent = isPlain ? new http.Agent(options) : new ProxyAgent(proxy, options);
    const { host, port } = { host: hostOf(proxy), port: proxy.port || (isPlain ? 80 : 443) };
    return { host, port, agent, origin: url.origin, headers: proxyAuthorization(proxy) };
  }
  if (proxy === undefined) return { ...direct, agent: new https.Agent(options) };
  return { ...direct, agent: new TunnelAgent(proxy, url, options) };
}

/** Keeps TLS connections to a proxy that gets requests for `http:` URLs. */
class ProxyAgent extends http.Agent {
  readonly #proxy: URL;
  readonly #ca: string[] | undefined;

  constructor(
    proxy: URL,
    { ca, ...options }: http.AgentOptions & { readonly ca: string[] | undefined },
  ) {
    super(options);
    this.#proxy = proxy;
    this.#ca = ca;
  }

  override createConnection(
    { port }: http.ClientRequestArgs,
    done: (error: Error | null, connection?: Duplex) => void,
  ): Duplex | undefined {
    const host = hostOf(this.#proxy);
    const servername = isIP(host) === 0 ? host : '';
    if (this.#proxy.protocol === 'https:') {
      return connect({ host, port: Number(port), servername, ca: this.#ca });
    }
    const { protocol } = this.#proxy;
    done(new Error(`proxies of ${protocol}// are not supported; HTTP_PROXY takes http or https`));
    return undefined;
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
    options: https.RequestOptions,
    done: (error: Error | null, connection?: Duplex) => void,
  ): undefined {
    const { servername = '', timeout = 0 } = options;
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
