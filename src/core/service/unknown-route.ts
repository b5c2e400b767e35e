import type { Choices } from '../contract/assumption-table.ts';
import { BASE_PATH, OPERATION_IDS, operationShape } from '../contract/operations.ts';
import type { Target } from '../contract/target.ts';
import type { RawHeaders } from '../raw-http.ts';
import { joinWords, suggest } from '../words.ts';
import type { RequestHeaders } from './input.ts';
import { AssumptionTrace, createReply, EMPTY, errorReply, type Reply } from './reply.ts';

/** A path or a method that the service does not have, or OPTIONS. */
export interface UnknownRoute {
  readonly method: string;
  readonly path: string;
  /** The text of the `Allow` header; undefined if the service has no such path. */
  readonly allow: string | undefined;
  /** The path that was probably meant, in words to follow a message. */
  readonly hint: string;
  /** The headers that allow what a page asks for (CORS). */
  readonly preflight: RawHeaders;
}

/** What a request asks for at a path or with a method that the service does not have. */
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
 * Suggests the service path that a client probably meant, to follow a wrong path in a message: wrong
 * case, missing, doubled or extra segments and slashes, a spelling mistake. Empty if none is near.
 *
 * @example suggestPath(parseTarget('/pets/1/')) // ' (did you mean /v1/pets/1?)'
 */
function suggestPath({ mount, below }: Target): string {
  const segments = below
    .split('/')
    .filter((segment) => segment !== '' && `/${segment.toLowerCase()}` !== BASE_PATH);
  const [last, before] = segments.toReversed();
  const base = mount + BASE_PATH;
  if (last === undefined) return ` (did you mean ${base}${PATHS[0]}?)`;
  const paths = PATHS.map((path) => path.replace(/\{\w+\}$/, () => last));
  const meant = paths.find((path, at) => {
    const end = path === PATHS[at] ? `/${last}` : `/${before}/${last}`;
    return path.toLowerCase().endsWith(end.toLowerCase());
  });
  if (meant !== undefined) return ` (did you mean ${base}${meant}?)`;
  const alike = paths.filter((path) => path.split('/').length === segments.length + 1);
  const candidates = alike.map((path) => base + path);
  return suggest(`${base}/${segments.join('/').toLowerCase()}`, candidates);
}

export function refuseUnknownRoute(choices: Choices, route: UnknownRoute): Reply {
  const { method, allow } = route;
  const decidedBy = new AssumptionTrace(choices);
  const preflight = choices.cors === 'allowed' ? route.preflight : [];
  // The page then gets to read why its path or method is wrong.
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
