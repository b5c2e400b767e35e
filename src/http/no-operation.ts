import type { IncomingHttpHeaders } from 'node:http';
import type { Choices } from '../contract/assumption-table.ts';
import { BASE_PATH, OPERATION_IDS, operationShape } from '../contract/operations.ts';
import { errorReply, Grounds, type Reply } from '../service/reply.ts';
import { joinWords, suggest } from '../words.ts';
import { preflightHeaders } from './cors.ts';
import type { Route, Target } from './target.ts';

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
  const message = `${method} is not allowed; use ${joinWords(route.allow.split(', '), 'or')}`;
  return errorReply(grounds, 'method_not_allowed', 405, message, {
    headers: ['Allow', route.allow],
  });
}

/** OPTIONS (RFC 9110, section 9.3.7), and with an `Origin` the preflight of CORS. */
function options(choices: Choices, { allow }: Route, headers: IncomingHttpHeaders): Reply {
  const all = ['Allow', allow, ...preflightHeaders(choices, headers, allow)];
  return {
    status: 204,
    headers: all,
    body: { kind: 'none' },
    basis: new Grounds(choices).assumed,
  };
}

function unknownPath(choices: Choices, target: Target): Reply {
  const message = `the service has nothing at ${target.path.slice(0, LONGEST)}${suggestPath(target)}`;
  return errorReply(new Grounds(choices), 'route_not_found', 404, message);
}

/** The paths of the service in segments, a parameter as `{name}`. */
const TEMPLATES = [...new Set(OPERATION_IDS.map((id) => operationShape(id).path))].map((path) =>
  path.slice(1).split('/'),
);

/** Characters of a path in a message. A longer one gets no suggestion, which would cost too much. */
const LONGEST = 200;

/**
 * Suggests the service path that a client probably meant, to follow a wrong path in a message: wrong
 * case, missing, doubled or extra segments and slashes, a spelling mistake. Empty if none is near.
 *
 * @example suggestPath(parseTarget('/pets/1/')) // ' (did you mean /v1/pets/1?)'
 */
function suggestPath({ path, mount, below }: Target): string {
  if (path.length > LONGEST) return '';
  const all = below.split('/').filter((segment) => segment !== '');
  const from = all.findIndex((segment) => `/${segment.toLowerCase()}` !== BASE_PATH);
  if (from < 0) return ` (did you mean ${mount}${BASE_PATH}${operationShape('listPets').path}?)`;
  const segments = all.slice(from);
  const known = TEMPLATES.map((it) => filled(it, segments)).find((it) => it !== undefined);
  if (known !== undefined) return ` (did you mean ${mount}${known}?)`;
  const alike = TEMPLATES.filter(({ length }) => length === segments.length);
  const candidates = alike.map((it) => mount + pathOf(it, (index) => segments[index] ?? ''));
  return suggest(`${mount}${BASE_PATH}/${segments.join('/').toLowerCase()}`, candidates);
}

/**
 * A template with its parameters taken from segments that end as it does. Either may have more
 * segments in front, but they must have a word in common.
 */
function filled(template: readonly string[], segments: readonly string[]): string | undefined {
  const shift = segments.length - template.length;
  let common = false;
  for (const [index, word] of template.entries()) {
    const segment = segments[index + shift];
    if (segment === undefined || isParameter(word)) continue;
    if (segment.toLowerCase() !== word) return undefined;
    common = true;
  }
  return common ? pathOf(template, (index) => segments[index + shift] ?? '') : undefined;
}

function pathOf(template: readonly string[], parameter: (index: number) => string): string {
  const words = template.map((word, index) => (isParameter(word) ? parameter(index) : word));
  return `${BASE_PATH}/${words.join('/')}`;
}

function isParameter(word: string): boolean {
  return word.startsWith('{');
}
