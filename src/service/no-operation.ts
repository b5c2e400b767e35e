import type { Choices } from '../contract/assumption-table.ts';
import { joinWords } from '../words.ts';
import { AssumptionTrace, errorReply, type Reply } from './reply.ts';

/** A path or a method that the service does not have, or OPTIONS. */
export interface UnknownRoute {
  readonly method: string;
  /** As the client wrote it. */
  readonly path: string;
  /** The methods of the path, as `Allow` lists them; undefined if the service has no such path. */
  readonly allow: string | undefined;
  /** The path that was probably meant, in words to follow a message. */
  readonly hint: string;
  /** Set if a page asks whether it may call (the preflight of CORS). */
  readonly preflight: Preflight | undefined;
}

interface Preflight {
  readonly headers: string | undefined;
}

export function answerWithoutOperation(choices: Choices, route: UnknownRoute): Reply {
  const { method, allow } = route;
  const decidedBy = new AssumptionTrace(choices);
  if (allow === undefined) return unknownPath(decidedBy, route);
  if (method === 'OPTIONS') {
    const headers = ['Allow', allow, ...preflightHeaders(choices, route.preflight, allow)];
    return { status: 204, headers, body: { kind: 'none' }, basis: decidedBy.assumed };
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

/** How long a browser may cache the answer to a preflight, in seconds. */
const PREFLIGHT_SECONDS = '600';

function preflightHeaders(
  { cors }: Choices,
  preflight: Preflight | undefined,
  allow: string,
): string[] {
  if (preflight === undefined || cors !== 'allowed') return [];
  const { headers } = preflight;
  return [
    ...['Access-Control-Allow-Methods', allow],
    ...['Access-Control-Max-Age', PREFLIGHT_SECONDS],
    ...(headers === undefined ? [] : ['Access-Control-Allow-Headers', headers]),
  ];
}
