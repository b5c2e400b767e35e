import type { IncomingHttpHeaders } from 'node:http';
import type { Choices } from '../contract/assumption-table.ts';
import { BASE_PATH, OPERATION_IDS, operationShape } from '../contract/operations.ts';
import { errorReply, Grounds, type Reply } from '../service/reply.ts';
import { joinWords, suggest } from '../words.ts';
import { preflightHeaders } from './cors.ts';
import type { ServiceRoute, Target } from './target.ts';

/** The reply to a path or a method that the service does not have, or to OPTIONS. */
export function withoutOperation(
  target: Target,
  method: string,
  headers: IncomingHttpHeaders,
  choices: Choices,
): Reply {
  const { route } = target;
  if (route === undefined) return unknownPath(choices, target);
  if (method === 'OPTIONS') return options(choices, route, headers);
  const grounds = new Grounds(choices);
  grounds.decidedBy('unknown-method');
  if (choices['unknown-method'] === '404') {
    return { ...unknownPath(choices, target), basis: grounds.assumed };
  }
  return errorReply(grounds, 'method_not_allowed', 405, methodAdvice(method, route.allow), {
    headers: ['Allow', route.allow],
  });
}

/** Says which methods are allowed in place of one. */
export function methodAdvice(method: string, allow: string): string {
  return `${method} is not allowed; use ${joinWords(allow.split(', '), 'or')}`;
}

/** OPTIONS (RFC 9110, section 9.3.7), and with an `Origin` the preflight of CORS. */
function options(choices: Choices, { allow }: ServiceRoute, headers: IncomingHttpHeaders): Reply {
  const all = ['Allow', allow, ...preflightHeaders(choices, headers, allow)];
  return {
    status: 204,
    headers: all,
    body: { kind: 'none' },
    basis: new Grounds(choices).assumed,
  };
}

function unknownPath(choices: Choices, target: Target): Reply {
  const message = `the service has nothing at ${target.path.slice(0, 200)}${suggestPath(target)}`;
  return errorReply(new Grounds(choices), 'route_not_found', 404, message);
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
    .filter((it) => it !== '' && `/${it.toLowerCase()}` !== BASE_PATH);
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
