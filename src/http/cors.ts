import type { IncomingHttpHeaders } from 'node:http';
import type { Choices } from '../contract/assumption-table.ts';

const OF_SERVICE = 'Link, X-Total-Count, Retry-After, Deprecation, Sunset, WWW-Authenticate';

/** How long a browser may cache the answer to a preflight, in seconds. */
const PREFLIGHT_SECONDS = '600';

/** The headers with which a page of another origin may read a reply. */
export function corsHeaders({ cors }: Choices, plain: boolean): string[] {
  if (cors !== 'allowed') return [];
  return [
    'Access-Control-Allow-Origin',
    '*',
    'Access-Control-Expose-Headers',
    exposedHeaders(plain),
  ];
}

/** The headers that pages of other origins may read. */
export function exposedHeaders(plain: boolean): string {
  return plain ? OF_SERVICE : `Mock-Basis, ${OF_SERVICE}`;
}

/** Further headers of the reply to a preflight. */
export function preflightHeaders(
  { cors }: Choices,
  { origin, ...headers }: IncomingHttpHeaders,
  allow: string,
): string[] {
  const isPreflight = origin !== undefined && headers['access-control-request-method'];
  if (!isPreflight || cors !== 'allowed') return [];
  const requested = headers['access-control-request-headers'];
  return [
    ...['Access-Control-Allow-Methods', allow],
    ...['Access-Control-Max-Age', PREFLIGHT_SECONDS],
    ...(requested === undefined ? [] : ['Access-Control-Allow-Headers', requested]),
  ];
}
