import type { IncomingMessage, ServerResponse } from 'node:http';
import { type OperationId, operationShape } from '../contract/operations.ts';
import { type Preferred, readPrefer } from '../sandbox/preference.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Sandboxes } from '../sandbox/sandboxes.ts';
import { type Simulated, simulate } from '../sandbox/simulate.ts';
import type { Outcome } from '../scenario/outcome.ts';
import type { Decision } from '../scenario/rules.ts';
import { BODY_LIMITS, type Call } from '../service/input.ts';
import type { ReceivedBody } from '../service/received-body.ts';
import { errorReply, Grounds, type Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import { openedAt } from './connections.ts';
import { decodeTarget, type Route, receiveBody, type Target } from './decode.ts';
import { failed } from './edge-errors.ts';
import { type Framing, send, type Wire } from './encode.ts';
import { type Location, locate } from './locate.ts';
import { meantPath } from './meant-path.ts';

export interface ServiceOptions extends Wire {
  readonly sandboxes: Sandboxes;
}

/** Answers a request for a path of the service, and any other with 404. */
export type ServiceHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Creates the handler that the listener and the Express app share. */
export function createServiceHandler({ sandboxes, ...wire }: ServiceOptions): ServiceHandler {
  return (request, response) => {
    const target = decodeTarget(request.url ?? '/');
    const location = locate(sandboxes, target.sandbox, request.headers);
    const { sandbox } = location;
    const exchange = new ServiceExchange(request, response, target, location, wire);

    if (location.refusal !== undefined) {
      exchange.reply(location.refusal);
      return;
    }
    const { route } = target;
    const { method } = exchange;
    if (route === undefined) {
      exchange.reply(unknownPath(sandbox.world, target));
      return;
    }
    if (method === 'OPTIONS') {
      exchange.reply(options(sandbox.world, route, request));
      return;
    }
    const id = route.operations.get(exchange.head ? 'GET' : method);
    if (id === undefined) {
      exchange.reply(unknownMethod(sandbox.world, route, method, target));
      return;
    }
    if (operationShape(id).body === undefined) {
      exchange.perform(id, NO_BODY);
      return;
    }
    const limit = BODY_LIMITS[sandbox.world.choices['body-limit']];
    receiveBody(request, limit, (body) => exchange.perform(id, body));
  };
}

const NO_BODY: ReceivedBody = { kind: 'none' };

/** A request until it has its reply. */
class ServiceExchange implements Framing {
  readonly method: string;
  readonly head: boolean;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #target: Target;
  readonly #sandbox: Sandbox;
  readonly #authorization: string | undefined;
  readonly #wire: Wire;
  readonly #receivedAt = performance.now();
  #called: Call | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    target: Target,
    { sandbox, authorization }: Location,
    wire: Wire,
  ) {
    this.method = request.method ?? 'GET';
    this.head = this.method === 'HEAD';
    this.#request = request;
    this.#response = response;
    this.#target = target;
    this.#sandbox = sandbox;
    this.#authorization = authorization;
    this.#wire = wire;
  }

  /** Runs an operation as the request prefers, and answers. */
  perform(operation: OperationId, body: ReceivedBody): void {
    const call = this.#call(operation, body);
    this.#called = call;
    const { prefer } = this.#request.headers;
    if (prefer === undefined || this.#wire.plain) {
      this.#simulate(call);
      return;
    }
    readPrefer(String(prefer), this.#sandbox).then(
      (preferred) => this.#simulate(call, preferred),
      (error: unknown) => this.reply(failed(this.#sandbox.world, error)),
    );
  }

  /** Answers without an operation. */
  reply(reply: Reply): void {
    this.#finish({ kind: 'reply', reply, delay: 0 });
  }

  #call(operation: OperationId, body: ReceivedBody): Call {
    const { headers } = this.#request;
    const { path, pathId, query } = this.#target;
    return {
      operation,
      path: mountPath(this.#request) + path,
      pathId,
      query,
      headers,
      authorization: this.#authorization,
      contentType: headers['content-type'],
      contentEncoding: headers['content-encoding'],
      body,
    };
  }

  #simulate(call: Call, preferred?: Preferred): void {
    const { version } = this.#sandbox;
    let simulated: Simulated;
    try {
      simulated = simulate(this.#sandbox, call, preferred);
    } catch (error) {
      this.reply(failed(this.#sandbox.world, error));
      return;
    }
    const { outcome, decision } = simulated;
    const saved = this.#sandbox.saved(version);
    if (saved === undefined) {
      this.#finish(outcome, decision);
      return;
    }
    saved.then(
      () => this.#finish(outcome, decision),
      (error: unknown) => this.reply(this.#notSaved(error)),
    );
  }

  #finish(outcome: Outcome, decision?: Decision): void {
    const request = this.#request;
    const seen = {
      method: this.method,
      target: mountPath(request) + this.#target.url,
      authorization: this.#authorization,
      headers: request.rawHeaders,
      call: this.#called,
      connection: request.socket,
      connectedAt: openedAt(request.socket),
      receivedAt: this.#receivedAt,
    };
    this.#sandbox.take(seen, outcome, decision);
    send(this.#response, outcome, this, this.#sandbox.world, this.#wire);
  }

  /** Whether a browser will look for CORS headers. */
  get crossOrigin(): boolean {
    return this.#request.headers.origin !== undefined;
  }

  #notSaved(error: unknown): Reply {
    const message = error instanceof Error ? error.message : String(error);
    const grounds = new Grounds(this.#sandbox.world.choices);
    return errorReply(grounds, 'not_saved', 503, message);
  }
}

/** Where an Express app has mounted the handler; Express removes it from the target. */
function mountPath(request: IncomingMessage): string {
  return 'baseUrl' in request && typeof request.baseUrl === 'string' ? request.baseUrl : '';
}

function unknownPath(world: World, { path }: Target): Reply {
  const message = `the service has nothing at ${path.slice(0, 200)}${meantPath(path)}`;
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

/** How long a browser may cache the answer to a preflight, in seconds. */
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
