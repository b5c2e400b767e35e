import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { chooseOptions } from '../contract/assumption-table.ts';
import { bearerToken } from '../service/bearer.ts';
import { errorBody } from '../service/reply.ts';
import { describe } from '../words.ts';
import { isLoopbackName } from './loopback.ts';

export interface GuardOptions {
  /** Whether the server listens on loopback only, where nobody from elsewhere can call it. */
  readonly loopback: boolean;
  /** What callers must show where it does not; where there is none, nothing is let through. */
  readonly token: string | undefined;
  /** The name that the server was told to listen on: calls by that name are meant for it. */
  readonly host?: string | undefined;
}

/** What the guard looks at. */
export interface Guarded {
  readonly method: string;
  /** Without the control API's own prefix. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** What Express calls before the control API. */
type GuardHandler = (request: Guarded, response: ServerResponse, next: () => void) => void;

export type Refusal =
  | { readonly status: 401; readonly code: 'unauthorized'; readonly message: string }
  | { readonly status: 403; readonly code: 'forbidden'; readonly message: string };

/**
 * Keeps the control API from everybody but those it is for. Nothing here ever allows another
 * origin by CORS, so that no page of another site can read a reply, nor send what needs a preflight.
 */
export function guard(options: GuardOptions): GuardHandler {
  const refusal = createGuard(options);
  return (request, response, next) => {
    const refused = refusal(request);
    if (refused === undefined) {
      next();
      return;
    }
    const { status, code, message } = refused;
    const headers: Record<string, string> = {
      'Content-Type': 'application/json; charset=utf-8',
    };
    if (status === 401) {
      headers['WWW-Authenticate'] = 'Bearer realm="petstore-mock control API"';
    }
    const body = JSON.stringify(errorBody(chooseOptions(), code, status, message));
    response.writeHead(status, headers).end(body);
  };
}

/** Decides why a request is refused; undefined where it is not. */
export function createGuard(options: GuardOptions): (request: Guarded) => Refusal | undefined {
  const { loopback, host } = options;
  const digest = options.token === undefined ? undefined : digestOf(options.token);
  return ({ method, path, headers }) => {
    if (isHealth(method, path)) return undefined;
    const wrong = (loopback ? wrongHost(headers.host, host) : undefined) ?? otherSite(headers);
    if (wrong !== undefined) return { status: 403, code: 'forbidden', message: wrong };
    if (loopback) return undefined;
    const message = wrongToken(headers, digest);
    return message === undefined ? undefined : { status: 401, code: 'unauthorized', message };
  };
}

/** Whoever runs a container asks by an address of their own, often with HEAD, and has no token. */
function isHealth(method: string, path: string): boolean {
  return path === '/health' && (method === 'GET' || method === 'HEAD');
}

/**
 * A page can make its own name lead to 127.0.0.1, and then reads what it likes as its own origin
 * (DNS rebinding). The browser still sends that name.
 */
function wrongHost(header: string | undefined, own: string | undefined): string | undefined {
  if (header === undefined) return 'Host: expected a loopback name, found nothing';
  const name = nameIn(header);
  if (name !== undefined && (isLoopbackName(name) || name === own?.toLowerCase())) return undefined;
  return `Host: expected a loopback name such as localhost or 127.0.0.1, found ${describe(header)}`;
}

/** A host with or without a port; brackets around an IPv6 address. */
const HOST = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d{0,5})?$/i;

/** The name or address in a `Host` header, in lower case; undefined where it is malformed. */
function nameIn(header: string): string | undefined {
  const [, address, name] = HOST.exec(header) ?? [];
  return (address ?? name)?.toLowerCase();
}

/** What says that a page of another site made a browser send this. */
function otherSite({ host, origin, ...headers }: IncomingHttpHeaders): string | undefined {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    return `Sec-Fetch-Site: expected same-origin or none, found ${describe(site)}`;
  }
  if (origin === undefined || isOriginOf(host, origin)) return undefined;
  return `Origin: expected that of this server, found ${describe(origin)}`;
}

/** A proxy may have taken TLS away, so the port that a `Host` leaves out is that of the origin. */
function isOriginOf(host: string | undefined, origin: string): boolean {
  const [, scheme, authority] = /^(https?):\/\/([^/?#@\\]+)$/i.exec(origin) ?? [];
  if (scheme === undefined || authority === undefined) return false;
  if (host === undefined || nameIn(host) === undefined) return false;
  const base = `${scheme}://`;
  if (!URL.canParse(base + host) || !URL.canParse(base + authority)) return false;
  return new URL(base + host).host === new URL(base + authority).host;
}

function wrongToken(headers: IncomingHttpHeaders, digest: Buffer | undefined): string | undefined {
  const own = headers['mock-control-token'];
  const shown = [bearerToken(headers.authorization), typeof own === 'string' ? own : undefined]
    .filter((it) => it !== undefined)
    .filter((it) => it !== '');
  if (digest === undefined) return 'the control API has no token that could open it';
  if (shown.length === 0) {
    return 'the control API needs its token in Authorization, as Bearer, or in Mock-Control-Token';
  }
  // Digests are of one length, and the time to compare them tells nothing of the token.
  const { timingSafeEqual } = crypto();
  const right = shown.some((token) => timingSafeEqual(digestOf(token), digest));
  return right ? undefined : 'this is not the token of the control API';
}

function digestOf(token: string): Buffer {
  return crypto().createHash('sha256').update(token).digest();
}

/** Loaded late: on loopback nobody needs it, and a static import would cost every start. */
function crypto() {
  return process.getBuiltinModule('node:crypto');
}
