import type { IncomingMessage, ServerResponse } from 'node:http';
import { type OperationId, operationShape } from '../contract/operations.ts';
import { BODY_LIMITS, type ReceivedBody } from '../service/input.ts';
import { SERVICE } from '../service/operations.ts';
import { errorReply, Grounds, type Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import type { WorldFinder } from '../simulation/worlds.ts';
import { decodeTarget, type Route, receiveBody, type Target } from './decode.ts';
import { send, type Wire } from './encode.ts';

export interface ServiceOptions extends Wire {
  readonly worlds: WorldFinder;
}

/**
 * Answers a request for a path of the service, and any other with 404.
 *
 * @param awaitsContinue whether the client holds its body back until it is asked for it (RFC 9110,
 *   section 10.1.1) and nobody has asked yet
 */
export type ServiceHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  awaitsContinue?: boolean,
) => void;

/** Makes the handler that the listener and the Express app share. */
export function createServiceHandler({ worlds, ...wire }: ServiceOptions): ServiceHandler {
  return (request, response, awaitsContinue = false) => {
    const target = decodeTarget(request.url ?? '/');
    const found = worlds(target.sandbox);
    const world = found ?? worlds(undefined);
    if (world === undefined) throw new Error('There is no default world.');
    const method = request.method ?? 'GET';
    const head = method === 'HEAD';
    const crossOrigin = request.headers.origin !== undefined;
    const finish = (reply: Reply): void => {
      send(response, { reply: head ? forHead(reply) : reply, head, crossOrigin }, world, wire);
    };
    // A body that was never asked for may come all the same or not: no next request can follow.
    if (awaitsContinue) response.shouldKeepAlive = false;

    const route = found === undefined ? undefined : target.route;
    if (route === undefined) {
      finish(unknownPath(world, target));
      return;
    }
    if (method === 'OPTIONS') {
      finish(options(world, route, request));
      return;
    }
    const id = route.operations.get(head ? 'GET' : method);
    if (id === undefined) {
      finish(unknownMethod(world, route, method, target));
      return;
    }
    if (operationShape(id).body === undefined) {
      finish(perform(world, id, target, request, { kind: 'none' }));
      return;
    }
    const wanted = (): void => {
      if (!awaitsContinue) return;
      response.shouldKeepAlive = true;
      response.writeContinue();
    };
    receiveBody(request, BODY_LIMITS[world.choices['body-limit']], wanted, (body) => {
      finish(perform(world, id, target, request, body));
    });
  };
}

function perform(
  world: World,
  operation: OperationId,
  { path, pathId, query }: Target,
  request: IncomingMessage,
  body: ReceivedBody,
): Reply {
  const { headers } = request;
  try {
    return SERVICE[operation](world, {
      operation,
      path: mountPath(request) + path,
      pathId,
      query,
      authorization: headers.authorization,
      contentType: headers['content-type'],
      contentEncoding: headers['content-encoding'],
      body,
    });
  } catch (error) {
    // A fault of the mock's own: told to whoever runs it, and kept from every other request.
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
    return errorReply(new Grounds(world.choices), 'internal_error', 500, 'the mock itself failed');
  }
}

/** Where an Express app has mounted the handler; Express cuts it off the target. */
function mountPath(request: IncomingMessage): string {
  return 'baseUrl' in request && typeof request.baseUrl === 'string' ? request.baseUrl : '';
}

/** The document knows no HEAD: what answers it is assumed, as HTTP asks for it. */
function forHead(reply: Reply): Reply {
  return reply.basis.kind === 'documented'
    ? { ...reply, basis: { kind: 'assumed', by: [] } }
    : reply;
}

function unknownPath(world: World, { path }: Target): Reply {
  const message = `the service has nothing at ${path.slice(0, 200)}`;
  return errorReply(new Grounds(world.choices), 'route_not_found', 404, message);
}

function unknownMethod(world: World, route: Route, method: string, target: Target): Reply {
  const grounds = new Grounds(world.choices);
  grounds.decidedBy('unknown-method');
  if (world.choices['unknown-method'] === '404') {
    return { ...unknownPath(world, target), basis: grounds.assumed };
  }
  const message = `${method} is not allowed here; ${route.allow} are`;
  return errorReply(grounds, 'method_not_allowed', 405, message, {
    headers: ['Allow', route.allow],
  });
}

/** How long a browser may keep the answer to a preflight, in seconds. */
const PREFLIGHT_SECONDS = '600';

/** OPTIONS (RFC 9110, section 9.3.7), and with an `Origin` the preflight of CORS. */
function options(world: World, { allow }: Route, { headers }: IncomingMessage): Reply {
  const grounds = new Grounds(world.choices);
  const answer: string[] = ['Allow', allow];
  const preflight = headers.origin !== undefined && headers['access-control-request-method'];
  if (preflight && world.choices.cors === 'allowed') {
    answer.push('Access-Control-Allow-Methods', allow);
    answer.push('Access-Control-Max-Age', PREFLIGHT_SECONDS);
    const asked = headers['access-control-request-headers'];
    if (asked !== undefined) answer.push('Access-Control-Allow-Headers', asked);
    if (headers['access-control-request-private-network'] === 'true') {
      answer.push('Access-Control-Allow-Private-Network', 'true');
    }
  }
  return { status: 204, headers: answer, body: { kind: 'none' }, basis: grounds.assumed };
}
