import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, rootCertificates } from 'node:tls';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { hostName, isLoopbackName, readCredentials } from '../../core/contract/base-url.ts';
import { LIMITS } from '../../core/limits.ts';
import { findHeader, isCoded, type RawHeaders } from '../../core/raw-http.ts';
import { errorCode, UNTRUSTED_CERTIFICATE } from '../../core/thrown.ts';
import type { Variables } from '../../terminal/command.ts';
import { DEPLOYMENT_DEFAULTS } from './options.ts';

export interface TransportOptions {
  /** PEM certificates to trust besides those that Node trusts. */
  readonly ca?: string | undefined;
  /** Where to look up `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`; nowhere by default. */
  readonly variables?: Variables | undefined;
  /** The longest wait for the next byte, in milliseconds. */
  readonly timeout?: number | undefined;
}

interface TransportRequest {
  readonly method: string;
  /** The target below the base URL, as the client wrote it. */
  readonly target: string;
  /** The headers without `Host`, which the transport adds. */
  readonly headers: readonly string[];
  readonly body?: Uint8Array | string | undefined;
  /** Calls `act` when the client leaves. Returns a function that cancels this. */
  readonly onDisconnect?: (act: () => void) => () => void;
  readonly signal?: AbortSignal;
}

export interface TransportReply {
  readonly status: number;
  readonly phrase: string | undefined;
  readonly headers: readonly string[];
  /** The body as it arrived, with its content coding. */
  readonly content: Uint8Array;
}

export interface Transport {
  /** Rejects if no whole reply arrives. */
  readonly send: (request: TransportRequest) => Promise<TransportReply>;
  readonly close: () => void;
}

export class ReplyTimeoutError extends Error {
  override readonly name = 'ReplyTimeoutError';
}

const CLIENT_LEFT = 'the client disconnected before it had the reply';

/** Methods that are safe to repeat (RFC 9110, section 9.2.1). */
export const SAFE_METHODS = /^(?:GET|HEAD|OPTIONS)$/;

/**
 * Passes requests and replies on unchanged, directly or through a proxy, over persistent
 * connections. It follows no redirect and decodes nothing.
 */
export function createTransport(
  url: URL,
  { ca, variables = {}, timeout = DEPLOYMENT_DEFAULTS.upstreamTimeout }: TransportOptions,
): Transport {
  const proxy = findProxy(url, variables);
  const isTunnel = proxy !== undefined && url.protocol === 'https:';
  const isForwarded = proxy !== undefined && !isTunnel;
  const next = isTunnel ? url : (proxy ?? url);
  const { protocol, port } = next;
  const { Agent, request } = protocol === 'https:' ? https : http;
  const host = hostName(next);
  const settings = {
    keepAlive: true,
    maxSockets: LIMITS.deploymentSockets,
    timeout,
    ca: ca === undefined ? undefined : [...rootCertificates, ca],
    rejectUnauthorized: true,
    servername: isIP(host) === 0 ? host : '',
  };
  const agent = isTunnel ? tunnelAgent(proxy, url, settings) : new Agent(settings);
  const base = (isForwarded ? url.origin : '') + url.pathname.replace(/\/$/, '');
  const authorization = isForwarded ? proxyAuthorization(proxy) : {};
  const ownHeaders = ['Host', url.host, ...Object.entries(authorization).flat()];

  /** @throws TypeError for a proxy that speaks neither http nor https */
  const send = (transported: TransportRequest): Promise<TransportReply> => {
    const { method, target, headers, body, onDisconnect, signal } = transported;
    return new Promise((resolve, reject) => {
      let reply: IncomingMessage | undefined;
      const outgoing = request({
        ...{ protocol, host, port, agent, timeout, method, signal },
        maxHeaderSize: LIMITS.deploymentHead,
        path: base + target,
        headers: [...ownHeaders, ...headers],
      });
      outgoing.maxHeadersCount = 0; // Node would drop headers above a count; their size is limited.
      const abort = (error: Error) => (reply ?? outgoing).destroy(error);
      const stop = onDisconnect?.(() => abort(new Error(CLIENT_LEFT)));
      outgoing.on('response', (message) => {
        reply = message;
        resolve(receive(message).finally(stop));
      });
      outgoing.on('upgrade', ({ statusCode }, socket) => {
        socket.destroy();
        reject(new Error(`its status is ${statusCode}`));
      });
      outgoing.on('error', (error) => {
        stop?.();
        // The server closed an idle connection at the moment it was reused.
        const isStale =
          outgoing.reusedSocket && errorCode(error) === 'ECONNRESET' && reply === undefined;
        if (isStale && SAFE_METHODS.test(method)) resolve(send(transported));
        else reject(error);
      });
      outgoing.on('timeout', () =>
        abort(new ReplyTimeoutError(`it sent nothing for ${timeout} ms`)),
      );
      outgoing.end(body);
    });
  };
  return { send, close: () => agent.destroy() };
}

/** @throws Error for a reply that breaks off, is too long or has an invalid status */
function receive(message: IncomingMessage): Promise<TransportReply> {
  const { statusCode: status = 0, statusMessage = '', rawHeaders: headers } = message;
  const chunks: Buffer[] = [];
  let size = 0;
  // Events are faster than iterating over the message.
  return new Promise((resolve, reject) => {
    message.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= LIMITS.deploymentBody) return;
      reject(new Error(`its body is longer than ${LIMITS.deploymentBody / 1024 ** 2} MiB`));
      message.destroy();
    });
    message.on('error', (cause) => {
      const why = `it broke the body off after ${size} bytes: ${cause.message}`;
      reject(Object.assign(new Error(why, { cause }), { code: errorCode(cause) }));
    });
    message.on('end', () => {
      // Node refuses to write other characters, and clients ignore the phrase anyway.
      const phrase = /^[\t -~]*$/.test(statusMessage) ? statusMessage : undefined;
      // Node accepts any three digits as a status.
      if (status < 200) reject(new Error(`its status is ${status}`));
      else resolve({ status, phrase, headers, content: Buffer.concat(chunks, size) });
    });
  });
}

/** An agent that keeps TLS connections through a proxy's tunnels (RFC 9110, section 9.3.6). */
function tunnelAgent(proxy: URL, url: URL, settings: https.AgentOptions): https.Agent {
  const { request } = proxy.protocol === 'https:' ? https : http;
  const path = `${url.hostname}:${url.port || 443}`;
  const headers = { Host: path, ...proxyAuthorization(proxy) };
  const createConnection = (
    _: unknown,
    done: (error: Error | null, connection?: Duplex) => void,
  ): undefined => {
    const signal = AbortSignal.timeout(settings.timeout ?? 0);
    request(proxy, { method: 'CONNECT', path, headers, agent: false, signal })
      .on('connect', ({ statusCode }, socket) => {
        if (statusCode === 200) {
          done(null, connect({ ...settings, socket, host: hostName(url) }));
          return;
        }
        socket.destroy();
        done(new Error(`the proxy ${proxy.host} answered ${statusCode} to CONNECT`));
      })
      .on('error', done)
      .end();
  };
  return Object.assign(new https.Agent(settings), { createConnection });
}

export function explainFailure(error: unknown): string {
  const code = errorCode(error) ?? '';
  if (UNTRUSTED_CERTIFICATE.test(code))
    return `its certificate is not trusted (${code}); name one to trust with --cacert`;
  const message = error instanceof Error ? error.message : String(error);
  return message.includes(code) ? message : `${message} (${code})`;
}

/** @returns undefined for a direct connection, which this machine always gets */
export function findProxy(url: URL, variables: Variables): URL | undefined {
  const host = hostName(url);
  if (isLoopbackName(host) || isExcepted(host, read(variables, 'no_proxy'))) return undefined;
  const proxy = read(variables, url.protocol === 'https:' ? 'https_proxy' : 'http_proxy');
  if (proxy === '') return undefined;
  const full = proxy.includes('://') ? proxy : `http://${proxy}`;
  return URL.canParse(full) ? new URL(full) : undefined;
}

/** As in curl, the lower-case variable wins. */
function read(variables: Variables, name: string): string {
  return variables[name] || variables[name.toUpperCase()] || '';
}

/** Whether `NO_PROXY` lists the host, a domain above it, or `*`. */
function isExcepted(host: string, list: string): boolean {
  const names = list.split(/[\s,]+/).map((name) => name.replace(/^\*?\.|:\d+$/g, '').toLowerCase());
  return names.some((name) => name === '*' || (name !== '' && `.${host}`.endsWith(`.${name}`)));
}

function proxyAuthorization(proxy: URL): Record<string, string> {
  const { username, password } = readCredentials(proxy);
  if (username === '') return {};
  const user = Buffer.from(`${username}:${password}`);
  return { 'Proxy-Authorization': `Basic ${user.toString('base64')}` };
}

const DECODERS = new Map([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
]);

/** @returns undefined for an unknown or broken coding (RFC 9110, section 8.4), or a long result */
export function decodeContent(
  bytes: Uint8Array,
  headers: RawHeaders,
  maxBytes: number,
): Uint8Array | undefined {
  if (!isCoded(headers) || bytes.length === 0) return bytes;
  const coding = findHeader(headers, 'content-encoding')?.trim().toLowerCase() ?? '';
  try {
    return DECODERS.get(coding)?.(bytes, { maxOutputLength: maxBytes });
  } catch {
    return undefined;
  }
}
