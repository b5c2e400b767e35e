import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Choices } from '../contract/assumption-table.ts';
import { type OperationId, operationShape } from '../contract/operations.ts';
import { NotSavedError } from '../sandbox/keeper.ts';
import { type Preferred, readPrefer } from '../sandbox/preference.ts';
import type { Answer } from '../sandbox/sandbox.ts';
import type { Sandboxes } from '../sandbox/sandboxes.ts';
import { step } from '../sandbox/step.ts';
import type { Outcome } from '../scenario/outcome.ts';
import { thisInstant } from '../service/clock.ts';
import { BODY_LIMITS, type Call } from '../service/input.ts';
import type { ReceivedBody } from '../service/received-body.ts';
import { errorReply, Grounds, type Reply } from '../service/reply.ts';
import { listed } from '../words.ts';
import { preflightHeaders } from './cors.ts';
import { belowBase, decodeTarget, type Route, receiveBody, type Target } from './decode.ts';
import { forward } from './forward.ts';
import { locate } from './locate.ts';
import { meantPath } from './meant-path.ts';
import { MOST_HELD } from './pass-on.ts';
import type { ServiceRequest } from './service-request.ts';
import { failed, send, sendFailure, type Wire } from './write.ts';

export interface ServiceOptions extends Wire {
  readonly sandboxes: Sandboxes;
}

/** Answers requests for the service's paths, and all others with 404. */
export type ServiceHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Creates the handler that the listener and the Express app share. */
export function createServiceHandler({ sandboxes, ...wire }: ServiceOptions): ServiceHandler {
  return (request: IncomingMessage, response) => {
    const target = decodeTarget(request.url ?? '/');
    const { headers, method = 'GET' } = request;
    const { sandbox, authorization, refusal } = locate(sandboxes, target.sandbox, headers);
    const mount = mountPath(request);
    const asked: ServiceRequest = {
      request,
      response,
      sandbox,
      wire,
      method,
      target: mount + target.url,
      authorization,
      headers: request.rawHeaders,
      traceparent: headers.traceparent,
      call: undefined,
      connection: request.socket,
      receivedAt: thisInstant().steady,
      head: method === 'HEAD',
      crossOrigin: headers.origin !== undefined,
    };
    const { route } = target;
    const id = route?.operations.get(asked.head ? 'GET' : method);
    const { upstream } = sandbox.state.settings;
    const below = upstream && belowBase(target);
    if (upstream !== undefined && below !== undefined && refusal === undefined) {
      const toUpstream = (body: ReceivedBody): void => {
        if (id !== undefined) asked.call = callOf(asked, id, target, mount, body);
        forward(asked, upstream, below, body, settle).catch((error) => answerFailure(asked, error));
      };
      receiveBody(request, MOST_HELD, guarded(asked, toUpstream), true);
      return;
    }
    if (refusal !== undefined || route === undefined || id === undefined) {
      answer(asked, refusal ?? withoutOperation(asked, target));
      return;
    }
    const received = (body: ReceivedBody): void => {
      asked.call = callOf(asked, id, target, mount, body);
      const { prefer } = headers;
      if (prefer === undefined || wire.plain) run(asked, asked.call);
      else runPreferred(asked, asked.call, String(prefer));
    };
    if (operationShape(id).body === undefined) received(NO_BODY);
    else {
      const limit = BODY_LIMITS[sandbox.state.settings.choices['body-limit']];
      receiveBody(request, limit, guarded(asked, received));
    }
  };
}

function callOf(
  { request: { headers }, authorization }: ServiceRequest,
  operation: OperationId,
  target: Target,
  mount: string,
  body: ReceivedBody,
): Call {
  return {
    operation,
    path: mount + target.path,
    pathId: target.pathId,
    query: target.query,
    headers,
    authorization,
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
    body,
  };
}

const NO_BODY: ReceivedBody = { kind: 'none' };

/** Runs an operation as the request's `Prefer` header asks. */
function runPreferred(asked: ServiceRequest, call: Call, prefer: string): void {
  readPrefer(prefer, asked.sandbox)
    .then((preferred) => run(asked, call, preferred))
    .catch((error) => answerFailure(asked, error));
}

/** A callback of an event, where nobody else catches what it throws. */
function guarded<T>(asked: ServiceRequest, act: (value: T) => void): (value: T) => void {
  return (value) => {
    try {
      act(value);
    } catch (error) {
      sendFailure(asked.response, error, asked.sandbox.state, asked.wire);
    }
  };
}

/** Answers and records a request on which the mock itself or its log has failed. */
function answerFailure(asked: ServiceRequest, error: unknown): void {
  const { state } = asked.sandbox;
  const reply =
    error instanceof NotSavedError
      ? errorReply(new Grounds(state.settings.choices), error.code, 503, error.message)
      : failed(state, error);
  guarded(asked, settle.bind(undefined, asked))(outcomeOf(reply));
}

/** Runs an operation, and answers once its changes are kept. */
function run(asked: ServiceRequest, call: Call, preferred?: Preferred): void {
  respond(asked, (state, now) => {
    try {
      return step(state, call, now, preferred);
    } catch (error) {
      return { state, outcome: outcomeOf(failed(state, error)) };
    }
  });
}

/** Performs a request in its sandbox, and sends the outcome once it is kept. */
function respond(asked: ServiceRequest, answer: Answer): void {
  const outcome = asked.sandbox.perform(asked, answer);
  if (outcome instanceof Promise) void outcome.then((kept) => finish(asked, kept));
  else finish(asked, outcome);
}

/** Answers without an operation. */
function answer(asked: ServiceRequest, reply: Reply): void {
  settle(asked, outcomeOf(reply));
}

function settle(asked: ServiceRequest, outcome: Outcome): void {
  respond(asked, (state) => ({ state, outcome }));
}

function finish(asked: ServiceRequest, outcome: Outcome): void {
  send(asked.response, outcome, asked.sandbox.state, asked.wire);
}

function outcomeOf(reply: Reply): Outcome {
  return { kind: 'reply', reply, delay: 0 };
}

/** Where an Express app has mounted the handler; Express removes it from the target. */
function mountPath(request: IncomingMessage): string {
  return 'baseUrl' in request && typeof request.baseUrl === 'string' ? request.baseUrl : '';
}

/** The reply to a path or a method that the service does not have, or to OPTIONS. */
function withoutOperation({ request, method, sandbox }: ServiceRequest, target: Target): Reply {
  const { route } = target;
  const { choices } = sandbox.state.settings;
  if (route === undefined) return unknownPath(choices, target);
  if (method === 'OPTIONS') return options(choices, route, request);
  return unknownMethod(choices, route, method, target);
}

function unknownPath(choices: Choices, { path }: Target): Reply {
  const message = `the service has nothing at ${path.slice(0, 200)}${meantPath(path)}`;
  return errorReply(new Grounds(choices), 'route_not_found', 404, message);
}

function unknownMethod(choices: Choices, route: Route, method: string, target: Target): Reply {
  const grounds = new Grounds(choices);
  grounds.decidedBy('unknown-method');
  if (choices['unknown-method'] === '404') {
    return { ...unknownPath(choices, target), basis: grounds.assumed };
  }
  const message = `${method} is not allowed; use ${listed(route.allow.split(', '), 'or')}`;
  return errorReply(grounds, 'method_not_allowed', 405, message, {
    headers: ['Allow', route.allow],
  });
}

/** OPTIONS (RFC 9110, section 9.3.7), and with an `Origin` the preflight of CORS. */
function options(choices: Choices, { allow }: Route, { headers }: IncomingMessage): Reply {
  const all = ['Allow', allow, ...preflightHeaders(choices, headers, allow)];
  const { assumed } = new Grounds(choices);
  return { status: 204, headers: all, body: { kind: 'none' }, basis: assumed };
}
