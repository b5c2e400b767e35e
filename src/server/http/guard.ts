import { createHash, timingSafeEqual } from 'node:crypto';
import { hostName, isLoopbackName, parseBaseUrl } from '../../core/contract/base-url.ts';
import { type ControlReply, refuse } from '../../core/control/reply.ts';
import type { RequestHeaders } from '../../core/service/input.ts';
import { bearerToken } from '../../core/service/keyring.ts';
import { describe } from '../../core/words.ts';

export interface GuardOptions {
  /** Undefined on loopback: then only calls by a loopback name are allowed. */
  readonly token: string | undefined;
  /** The name that the server was told to listen on is allowed, too. */
  readonly host?: string | undefined;
}

const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="petstore-mock control API"' };

/**
 * Refuses calls from other machines without a token, and calls from pages of other websites, which can
 * neither read a reply nor send a preflight: no CORS headers.
 */
export function createGuard({
  token,
  host,
}: GuardOptions): (headers: RequestHeaders) => ControlReply | undefined {
  const digest = token === undefined ? undefined : hash(token);
  return (headers) => {
    const wrong =
      (digest ? undefined : checkHost(headers.host?.toString(), host)) ?? checkSite(headers);
    if (wrong !== undefined) return refuse('forbidden', 403, wrong);
    const message = digest && checkToken(headers, digest);
    return message === undefined ? undefined : refuse('unauthorized', 401, message, CHALLENGE);
  };
}

/**
 * Stops DNS rebinding: a website that resolves its own name to 127.0.0.1 could read everything as
 * its own origin. The browser still sends that name as the host.
 */
function checkHost(header: string | undefined, own: string | undefined): string | undefined {
  if (header === undefined) return 'Host: expected a loopback name, found nothing';
  const name = parseHostHeader(header);
  if (name !== undefined && (isLoopbackName(name) || name === own?.toLowerCase())) return undefined;
  return `Host: expected a loopback name such as localhost or 127.0.0.1, found ${describe(header)}`;
}

function parseHostHeader(header: string): string | undefined {
  const url = parseBaseUrl(`http://${header}`);
  return url && hostName(url);
}

function checkSite(headers: RequestHeaders): string | undefined {
  const [host, origin] = [headers.host?.toString(), headers.origin?.toString()];
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    return `Sec-Fetch-Site: expected same-origin or none, found ${describe(site)}`;
  }
  if (origin === undefined || isOwnOrigin(host, origin)) return undefined;
  return `Origin: expected the origin of this server, found ${describe(origin)}`;
}

/** A proxy may have removed TLS, so a `Host` without a port has the default port of the origin. */
function isOwnOrigin(host: string | undefined, origin: string): boolean {
  const [scheme] = /^https?:\/\//.exec(origin) ?? [];
  return host !== undefined && parseBaseUrl(`${scheme}${host}`)?.origin === origin;
}

function checkToken(headers: RequestHeaders, digest: Buffer): string | undefined {
  const shown = [
    bearerToken(headers.authorization?.toString()),
    headers['mock-control-token'],
  ].filter((token) => typeof token === 'string' && token !== '');
  if (shown.length === 0) {
    return 'the control API needs its token: send Authorization: Bearer TOKEN or Mock-Control-Token: TOKEN';
  }
  // All digests have one length, so the comparison time reveals nothing about the token.
  const right = shown.some((token) => timingSafeEqual(hash(String(token)), digest));
  return right ? undefined : 'wrong control token';
}

function hash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
