import {
  BASE_PATH,
  OPERATION_IDS,
  type OperationId,
  operationShape,
} from '../contract/operations.ts';
import { parseQuery, type Target } from '../contract/target.ts';
import type { Call, RequestBody, RequestHeaders } from '../service/input.ts';
import type { UnknownRoute } from '../service/operation.ts';
import { suggest } from '../words.ts';
import type { ServiceRequest } from './exchange.ts';

export interface RequestHead {
  readonly method: string;
  readonly headers: RequestHeaders;
  /** Names and values in turn, as the client sent them. */
  readonly rawHeaders: readonly string[];
  /** Where an Express app has mounted the mock. */
  readonly mount: string;
  readonly port: number | undefined;
  readonly receivedAt: number;
}

export function findOperation({ route }: Target, method: string): OperationId | undefined {
  return route?.operations.get(method === 'HEAD' ? 'GET' : method);
}

/** @param authorization without the sandbox name in its token */
export function createServiceRequest(
  head: RequestHead,
  target: Target,
  authorization: string | undefined,
  body: RequestBody,
  operation = findOperation(target, head.method),
): ServiceRequest {
  const { method, headers, rawHeaders, mount, port, receivedAt } = head;
  return {
    method,
    target: mount + target.url,
    authorization,
    headers: rawHeaders,
    origin: headers.origin?.toString(),
    port,
    receivedAt,
    replays: undefined,
    call: operation && createCall(operation, head, target, authorization, body),
    route: operation === undefined ? describeRoute(head, target) : undefined,
    given: undefined,
  };
}

function createCall(
  operation: OperationId,
  { headers, rawHeaders, mount }: RequestHead,
  target: Target,
  authorization: string | undefined,
  body: RequestBody,
): Call {
  return {
    operation,
    path: mount + target.path,
    pathId: target.pathId,
    query: parseQuery(target),
    headers: rawHeaders,
    authorization,
    contentType: headers['content-type']?.toString(),
    contentEncoding: headers['content-encoding']?.toString(),
    body,
  };
}

function describeRoute({ method, headers }: RequestHead, target: Target): UnknownRoute {
  const asked = headers['access-control-request-method'];
  const isPreflight = method === 'OPTIONS' && headers.origin !== undefined && asked !== undefined;
  return {
    method,
    path: target.path,
    allow: target.route?.allow,
    hint: target.route === undefined ? suggestPath(target) : '',
    preflight: isPreflight
      ? {
          method: asked.toString(),
          headers: headers['access-control-request-headers']?.toString(),
        }
      : undefined,
  };
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
