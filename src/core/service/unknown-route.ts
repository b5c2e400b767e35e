import type { Choices } from '../contract/assumption-table.ts';
import { BASE_PATH, OPERATION_IDS, operationShape } from '../contract/operations.ts';
import type { Target } from '../contract/target.ts';
import { parseInt64 } from '../json.ts';
import type { RawHeaders } from '../raw-http.ts';
import { findNearest, joinWords } from '../words.ts';
import type { RequestHeaders } from './input.ts';
import { AssumptionTrace, createReply, EMPTY, errorReply, type Reply } from './reply.ts';

/** A request that no operation takes: an unknown path, another method, or OPTIONS. */
export interface UnknownRoute {
  readonly method: string;
  readonly path: string;
  /** The value of the `Allow` header; undefined for an unknown path. */
  readonly allow: string | undefined;
  /** A suggestion to append to a message: the path that the client probably meant. */
  readonly hint: string;
  /** CORS headers that answer the preflight request of a page. */
  readonly preflight: RawHeaders;
}

/** Describes a request whose path or method the service does not have. */
export function describeRoute(
  method: string,
  headers: RequestHeaders,
  target: Target,
): UnknownRoute {
  return {
    method,
    path: target.path,
    allow: target.route?.allow,
    hint: target.route === undefined ? suggestPath(target) : '',
    preflight:
      method === 'OPTIONS' && headers.origin !== undefined ? preflightHeaders(headers) : [],
  };
}

const PREFLIGHT_CACHE_SECONDS = '600';

function preflightHeaders(headers: RequestHeaders): RawHeaders {
  const { 'access-control-request-method': method, 'access-control-request-headers': names } =
    headers;
  if (method === undefined) return [];
  return [
    ...['Access-Control-Allow-Methods', method.toString()],
    ...['Access-Control-Max-Age', PREFLIGHT_CACHE_SECONDS],
    ...(names === undefined ? [] : ['Access-Control-Allow-Headers', names.toString()]),
  ];
}

const PATHS = [...new Set(OPERATION_IDS.map((id) => operationShape(id).path))];

/**
 * A hint at the path that a client probably meant: it has the wrong case, missing, doubled or extra
 * segments or slashes, or a typo before the id. Empty if no path is near.
 *
 * @example suggestPath(parseTarget('/pets/1/')) // ' (did you mean /v1/pets/1?)'
 */
function suggestPath({ mount, below }: Target): string {
  const segments = below
    .split('/')
    .filter((segment) => segment !== '' && `/${segment.toLowerCase()}` !== BASE_PATH);
  const last = segments.at(-1) ?? '';
  const id = parseInt64(last) === undefined ? '' : `/${last}`;
  const names = segments.slice(0, id === '' ? undefined : -1).map((name) => name.toLowerCase());
  const candidates = PATHS.filter((path) => path.endsWith('}') === (id !== '')).map((path) =>
    path.slice(1).replace(/\/\{.*/, ''),
  );
  const alike = candidates.filter((path) => path.split('/').length === names.length);
  const named = candidates.find((path) => `/${path}`.endsWith(`/${names.at(-1)}`));
  const meant = last === '' ? candidates[0] : (named ?? findNearest(names.join('/'), alike));
  return meant === undefined ? '' : ` (did you mean ${mount}${BASE_PATH}/${meant}${id}?)`;
}

export function refuseUnknownRoute(choices: Choices, route: UnknownRoute): Reply {
  const { method, allow } = route;
  const decidedBy = new AssumptionTrace(choices);
  const preflight = choices.cors === 'allowed' ? route.preflight : [];
  // Allowing the preflight lets the page send its request and read why the path or method is wrong.
  if (allow === undefined && preflight.length === 0) return unknownPath(decidedBy, route);
  if (allow === undefined || method === 'OPTIONS') {
    const headers = [...(allow === undefined ? [] : ['Allow', allow]), ...preflight];
    return createReply(decidedBy.assumed, 204, EMPTY, headers);
  }
  decidedBy.add('unknown-method');
  if (choices['unknown-method'] === '404') return unknownPath(decidedBy, route);
  const headers = ['Allow', allow];
  return errorReply(decidedBy, 'method_not_allowed', 405, adviseMethod(method, allow), { headers });
}

export function adviseMethod(method: string, allow: string): string {
  return `${method} is not allowed; use ${joinWords(allow.split(', '), 'or')}`;
}

function unknownPath(decidedBy: AssumptionTrace, { path, hint }: UnknownRoute): Reply {
  const message = `the service has nothing at ${path.slice(0, 200)}${hint}`;
  return errorReply(decidedBy, 'route_not_found', 404, message);
}
