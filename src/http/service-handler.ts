import type { IncomingMessage, ServerResponse } from 'node:http';
import { type OperationId, operationShape } from '../contract/operations.ts';
import { type Preference, readPrefer } from '../sandbox/preference.ts';
import type { Answer } from '../sandbox/sandbox.ts';
import type { Sandboxes } from '../sandbox/sandboxes.ts';
import type { State } from '../sandbox/state.ts';
import { step } from '../sandbox/step.ts';
import type { Outcome } from '../scenario/rules.ts';
import { thisInstant } from '../service/clock.ts';
import { BODY_LIMITS, type Call, type RequestBody } from '../service/input.ts';
import type { Reply } from '../service/reply.ts';
import { forward } from './forward.ts';
import { locateSandbox } from './locate-sandbox.ts';
import { withoutOperation } from './no-operation.ts';
import { MOST_HELD } from './pass-on.ts';
import { receiveBody } from './receive-body.ts';
import { belowBase, parseTarget, queryOf, type Target } from './target.ts';
import { failureReply, finish, type ServiceRequest, sendFailure, type Wire } from './write.ts';

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
    const location = locateSandbox(sandboxes, target.sandbox, headers);
    const { sandbox, authorization, refusal, initial } = location;
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
    const { upstream, choices } = (initial ?? sandbox.state).settings;
    const below = upstream && belowBase(target);
    const isForwarded = upstream !== undefined && below !== undefined;
    if (refusal !== undefined || (id === undefined && !isForwarded)) {
      settle(request, outcomeWith(refusal ?? withoutOperation(target, method, headers, choices)));
      return;
    }
    const fail = (error: unknown): void => answerFailure(request, error);
    const received = (body: RequestBody): void => {
      try {
        if (id !== undefined) request.call = callOf(request, id, target, mount, body);
        const { call } = request;
        const preferred = preferenceOf(request);
        if (isForwarded) {
          forward(request, { upstream, below, body, preferred }, settle).catch(fail);
        } else if (call !== undefined) {
          if (preferred === undefined) run(request, call, initial);
          else preferred.then((it) => run(request, call, initial, it)).catch(fail);
        }
      } catch (error) {
        fail(error);
      }
    };
    if (isForwarded) receiveBody(incoming, MOST_HELD, received, true);
    else if (id === undefined || operationShape(id).body === undefined) received(NO_BODY);
    else receiveBody(incoming, BODY_LIMITS[choices['body-limit']], received);
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

/** Answers and records a request on which the mock itself or its log has failed. */
function answerFailure(request: ServiceRequest, error: unknown): void {
  const { response, sandbox, wire } = request;
  try {
    settle(request, outcomeWith(failureReply(sandbox.state, error)));
  } catch (again) {
    sendFailure(response, again, sandbox.state, wire);
  }
}

/**
 * Runs an operation, and answers once its changes are kept.
 *
 * @param initial answers in place of the sandbox's state, and takes no changes
 */
function run(
  request: ServiceRequest,
  call: Call,
  initial: State | undefined,
  preferred?: Preference,
): void {
  respond(request, (state, now) => {
    try {
      if (initial === undefined) return step(state, call, now, preferred);
      return { state, outcome: step(initial, call, now, preferred).outcome };
    } catch (error) {
      return { state, outcome: outcomeWith(failureReply(state, error)) };
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

function outcomeWith(reply: Reply): Outcome {
  return { kind: 'reply', reply, delay: 0 };
}

/** Where an Express app has mounted the handler; Express removes it from the target. */
function mountPath(incoming: IncomingMessage): string {
  return 'baseUrl' in incoming && typeof incoming.baseUrl === 'string' ? incoming.baseUrl : '';
}
