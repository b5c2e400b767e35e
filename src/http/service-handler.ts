import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Choices } from '../contract/assumption-table.ts';
import { type OperationId, operationShape } from '../contract/operations.ts';
import { NotSavedError } from '../sandbox/keeper.ts';
import { type Preference, readPrefer } from '../sandbox/preference.ts';
import type { Answer } from '../sandbox/sandbox.ts';
import type { Sandboxes } from '../sandbox/sandboxes.ts';
import { step } from '../sandbox/step.ts';
import type { Outcome } from '../scenario/rules.ts';
import { thisInstant } from '../service/clock.ts';
import { BODY_LIMITS, type Call, type RequestBody } from '../service/input.ts';
import { errorReply, Grounds, type Reply } from '../service/reply.ts';
import { joinWords } from '../words.ts';
import { preflightHeaders } from './cors.ts';
import { forward } from './forward.ts';
import { locate } from './locate.ts';
import { MOST_HELD } from './pass-on.ts';
import { receiveBody } from './receive-body.ts';
import { suggestPath } from './suggest-path.ts';
import { belowBase, parseTarget, queryOf, type Route, type Target } from './target.ts';
import { failed, finish, type ServiceRequest, sendFailure, type Wire } from './write.ts';

export interface ServiceOptions extends Wire {
  readonly sandboxes: Sandboxes;
}

/**
 * Answers requests for the service's paths, and all others with 404.
 *
 * @param target the parsed target, if the caller has it
 */
export type ServiceHandler = (
  incoming: IncomingMessage,
  response: ServerResponse,
  target?: Target,
) => void;

/** Creates the handler that the listener and the Express app share. */
export function createServiceHandler({ sandboxes, ...wire }: ServiceOptions): ServiceHandler {
  return (incoming, response, target = parseTarget(incoming.url ?? '/')) => {
    const { headers, method = 'GET' } = incoming;
    const { sandbox, authorization, refusal } = locate(sandboxes, target.sandbox, headers);
    const mount = mountPath(incoming);
    const request: ServiceRequest = {
      incoming,
      response,
      sandbox,
      wire,
      method,
      target: mount + target.url,
      authorization,
      headers: incoming.rawHeaders,
      traceparent: headers.traceparent,
      call: undefined,
      connection: incoming.socket,
      receivedAt: thisInstant().steady,
      crossOrigin: headers.origin !== undefined,
    };
    const id = target.route?.operations.get(method === 'HEAD' ? 'GET' : method);
    const { upstream } = sandbox.state.settings;
    const below = upstream && belowBase(target);
    if (upstream !== undefined && below !== undefined && refusal === undefined) {
      const toUpstream = (body: RequestBody): void => {
        if (id !== undefined) request.call = callOf(request, id, target, mount, body);
        const forwarded = { upstream, below, body, preferred: preferenceOf(request) };
        forward(request, forwarded, settle).catch((error) => answerFailure(request, error));
      };
      receiveBody(incoming, MOST_HELD, guarded(request, toUpstream), true);
      return;
    }
    if (refusal !== undefined || id === undefined) {
      settle(request, outcomeOf(refusal ?? withoutOperation(request, target)));
      return;
    }
    const received = (body: RequestBody): void => {
      const call = callOf(request, id, target, mount, body);
      request.call = call;
      const preference = preferenceOf(request);
      if (preference === undefined) run(request, call);
      else {
        preference
          .then((preferred) => run(request, call, preferred))
          .catch((error) => answerFailure(request, error));
      }
    };
    if (operationShape(id).body === undefined) received(NO_BODY);
    else {
      const limit = BODY_LIMITS[sandbox.state.settings.choices['body-limit']];
      receiveBody(incoming, limit, guarded(request, received));
    }
  };
}

function callOf(
  { incoming: { headers }, authorization }: ServiceRequest,
  operation: OperationId,
  target: Target,
  mount: string,
  body: RequestBody,
): Call {
  return {
    operation,
    path: mount + target.path,
    pathId: target.pathId,
    query: queryOf(target),
    headers,
    authorization,
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
    body,
  };
}

const NO_BODY: RequestBody = { kind: 'none' };

/** What the request asks of the mock; undefined if nothing. */
function preferenceOf({ incoming, sandbox, wire }: ServiceRequest) {
  const { prefer } = incoming.headers;
  return prefer === undefined || wire.plain ? undefined : readPrefer(String(prefer), sandbox);
}

/** A callback of an event, where nobody else catches what it throws. */
function guarded<T>(request: ServiceRequest, act: (value: T) => void): (value: T) => void {
  return (value) => {
    try {
      act(value);
    } catch (error) {
      sendFailure(request.response, error, request.sandbox.state, request.wire);
    }
  };
}

/** Answers and records a request on which the mock itself or its log has failed. */
function answerFailure(request: ServiceRequest, error: unknown): void {
  const { state } = request.sandbox;
  const reply =
    error instanceof NotSavedError
      ? errorReply(new Grounds(state.settings.choices), error.code, 503, error.message)
      : failed(state, error);
  guarded(request, settle.bind(undefined, request))(outcomeOf(reply));
}

/** Runs an operation, and answers once its changes are kept. */
function run(request: ServiceRequest, call: Call, preferred?: Preference): void {
  respond(request, (state, now) => {
    try {
      return step(state, call, now, preferred);
    } catch (error) {
      return { state, outcome: outcomeOf(failed(state, error)) };
    }
  });
}

/** Performs a request in its sandbox, and sends the outcome once it is kept. */
function respond(request: ServiceRequest, answer: Answer): void {
  const outcome = request.sandbox.perform(request, answer);
  if (outcome instanceof Promise) void outcome.then((kept) => finish(request, kept));
  else finish(request, outcome);
}

/** Records and sends an outcome without an operation. */
function settle(request: ServiceRequest, outcome: Outcome): void {
  respond(request, (state) => ({ state, outcome }));
}

function outcomeOf(reply: Reply): Outcome {
  return { kind: 'reply', reply, delay: 0 };
}

/** Where an Express app has mounted the handler; Express removes it from the target. */
function mountPath(incoming: IncomingMessage): string {
  return 'baseUrl' in incoming && typeof incoming.baseUrl === 'string' ? incoming.baseUrl : '';
}

/** The reply to a path or a method that the service does not have, or to OPTIONS. */
function withoutOperation({ incoming, method, sandbox }: ServiceRequest, target: Target): Reply {
  const { route } = target;
  const { choices } = sandbox.state.settings;
  if (route === undefined) return unknownPath(choices, target);
  if (method === 'OPTIONS') return options(choices, route, incoming);
  return unknownMethod(choices, route, method, target);
}

function unknownPath(choices: Choices, target: Target): Reply {
  const message = `the service has nothing at ${target.path.slice(0, 200)}${suggestPath(target)}`;
  return errorReply(new Grounds(choices), 'route_not_found', 404, message);
}

function unknownMethod(choices: Choices, route: Route, method: string, target: Target): Reply {
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
function options(choices: Choices, { allow }: Route, { headers }: IncomingMessage): Reply {
  const all = ['Allow', allow, ...preflightHeaders(choices, headers, allow)];
  const { assumed } = new Grounds(choices);
  return { status: 204, headers: all, body: { kind: 'none' }, basis: assumed };
}
