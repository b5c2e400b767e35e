import { createHash, timingSafeEqual } from 'node:crypto';
import { hostName, isLoopbackName, parseBaseUrl } from '../../core/contract/base-url.ts';
import { type ControlReply, refuse } from '../../core/control/reply.ts';
import type { RequestHeaders } from '../../core/service/input.ts';
import { bearerToken } from '../../core/service/keyring.ts';
import { describe } from '../../core/words.ts';

export interface GuardOptions {
  /** Undefined on loopback, where no token is needed but the `Host` must be a loopback name. */
  readonly token: string | undefined;
  /** The name or address that the server listens on, which is allowed, too. */
  readonly host?: string | undefined;
}

const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="petstore-mock control API"' };

/**
 * Refuses calls without the token from other machines, and calls from other websites' pages.
 * Without CORS headers, such pages can neither read a reply nor pass a preflight.
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
 * Prevents DNS rebinding. A website could resolve its name to 127.0.0.1, and its pages would then
 * count as same-origin. But the browser still sends that website's name as `Host`.
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

/** A proxy may have ended TLS, so a `Host` without a port means the default port of the origin. */
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
  // Comparing digests of equal length reveals nothing about the token by its time.
  const right = shown.some((token) => timingSafeEqual(hash(String(token)), digest));
  return right ? undefined : 'wrong control token';
}

function hash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
