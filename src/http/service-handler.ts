import type { IncomingMessage, ServerResponse } from 'node:http';
import { operationShape } from '../contract/operations.ts';
import type { Exchange, ServiceRequest } from '../sandbox/exchange.ts';
import { type Preference, readPrefer } from '../sandbox/preference.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Sandboxes } from '../sandbox/sandboxes.ts';
import { MAX_UPSTREAM_BODY } from '../sandbox/upstream.ts';
import { BODY_LIMITS, type RequestBody } from '../service/input.ts';
import { forward } from './forward.ts';
import { type Location, locateSandbox } from './locate-sandbox.ts';
import type { PendingResponses } from './pending-responses.ts';
import { receiveBody } from './receive-body.ts';
import {
  createServiceRequest,
  findOperation,
  type RequestHead,
  readHead,
} from './service-request.ts';
import { belowBase, parseTarget, type Target } from './target.ts';
import { sendFailure, sendWhenDue } from './write.ts';

export interface ServiceOptions {
  readonly sandboxes: Sandboxes;
  readonly pending: PendingResponses;
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
export function createServiceHandler({ sandboxes, pending }: ServiceOptions): ServiceHandler {
  return (incoming, response, target = parseTarget(incoming.url ?? '/')) => {
    const head = readHead(incoming);
    const location = locateSandbox(sandboxes, target.sandbox, head.headers);
    const { sandbox } = location;
    const arrival = { response, head, target, location };
    const fail = (error: unknown): void => sendFailure(response, error, sandbox.state);
    const reply = (body: RequestBody): void => {
      const exchange = answerRequest(arrival, body);
      if (exchange instanceof Promise) {
        exchange.then((done) => sendWhenDue(done, response, sandbox, pending)).catch(fail);
      } else sendWhenDue(exchange, response, sandbox, pending);
    };
    const limit = bodyLimit(arrival);
    if (limit === undefined) reply(NO_BODY);
    // A callback, since a promise costs a PATCH 3 %.
    else receiveBody(incoming, limit, (body) => attempt(() => reply(body), fail));
  };
}

function attempt(act: () => void, fail: (error: unknown) => void): void {
  try {
    act();
  } catch (error) {
    fail(error);
  }
}

/** A request whose sandbox is known, and whose body may still arrive. */
interface Arrival {
  readonly response: ServerResponse;
  readonly head: RequestHead;
  readonly target: Target;
  readonly location: Location;
}

const NO_BODY: RequestBody = { kind: 'none' };

/** The deployment that answers a request, and what it is asked for; undefined if the mock answers. */
function findUpstream({ location, target }: Arrival) {
  const { upstream } = location.sandbox.state.settings;
  const below = upstream && belowBase(target);
  return upstream === undefined || below === undefined ? undefined : { upstream, below };
}

/** The bytes that a body may have; undefined if nobody reads it. */
function bodyLimit(arrival: Arrival): number | undefined {
  const { target, head, location } = arrival;
  const { sandbox, refusal, keyRefusal } = location;
  if (refusal !== undefined || keyRefusal !== undefined) return undefined;
  if (findUpstream(arrival) !== undefined) return MAX_UPSTREAM_BODY;
  const operation = findOperation(target, head.method);
  if (operation === undefined || operationShape(operation).body === undefined) return undefined;
  return BODY_LIMITS[sandbox.state.settings.choices['body-limit']];
}

function answerRequest(arrival: Arrival, body: RequestBody): Exchange | Promise<Exchange> {
  const { response, head, target, location } = arrival;
  const { sandbox } = location;
  const request = createServiceRequest(head, target, location.authorization, body);
  const refusal = location.refusal ?? (request.call && location.keyRefusal);
  if (refusal !== undefined) return sandbox.handle({ ...request, given: { reply: refusal } });
  const forwarded = findUpstream(arrival);
  const { prefer } = head.headers;
  const isAsked = prefer !== undefined && !sandbox.state.settings.start.plain;
  if (forwarded === undefined && !(isAsked && request.call)) return sandbox.handle(request);
  const preference = isAsked ? readPrefer(String(prefer), sandbox) : undefined;
  return forwarded === undefined
    ? answerAsPreferred(sandbox, request, preference)
    : forward({ ...forwarded, response, body, sandbox, request, preference });
}

async function answerAsPreferred(
  sandbox: Sandbox,
  request: ServiceRequest,
  preference: Promise<Preference | undefined> | undefined,
): Promise<Exchange> {
  return sandbox.handle(request, await preference);
}
