import type { IncomingHttpHeaders } from 'node:http';
import type { Choices } from '../contract/assumption-table.ts';
import { type RawHeaders, without } from '../raw-headers.ts';

const OF_SERVICE = 'Link, X-Total-Count, Retry-After, Deprecation, Sunset, WWW-Authenticate';

const PREFLIGHT_SECONDS = '600';

/**
 * The headers with which a page of another origin may read a reply.
 *
 * @param own those of the reply itself, which win: a rule may set such headers too
 */
export function corsHeaders({ cors }: Choices, plain: boolean, own: RawHeaders = []): string[] {
  if (cors !== 'allowed') return [];
  const headers = [
    ...['Access-Control-Allow-Origin', '*'],
    ...['Access-Control-Expose-Headers', exposedHeaders(plain)],
  ];
  if (own.length === 0) return headers;
  return without(headers, new Set(own.map((nameOrValue) => nameOrValue.toLowerCase())));
}

/** The headers that pages of other origins may read. */
export function exposedHeaders(plain: boolean): string {
  return plain ? OF_SERVICE : `Mock-Basis, Preference-Applied, ${OF_SERVICE}`;
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
