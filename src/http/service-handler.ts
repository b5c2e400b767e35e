import type { IncomingMessage, ServerResponse } from 'node:http';
import { operationShape } from '../contract/operations.ts';
import type { Exchange, ServiceRequest } from '../sandbox/exchange.ts';
import { type Preference, readPrefer } from '../sandbox/preference.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Sandboxes } from '../sandbox/sandboxes.ts';
import { BODY_LIMITS, type RequestBody } from '../service/input.ts';
import { forward } from './forward.ts';
import { type Location, locateSandbox } from './locate-sandbox.ts';
import { receiveBody } from './receive-body.ts';
import {
  createServiceRequest,
  findOperation,
  type RequestHead,
  readHead,
} from './service-request.ts';
import { belowBase, parseTarget, type Target } from './target.ts';
import { sendFailure, sendWhenDue, type WriterOptions } from './write.ts';

export interface ServiceOptions extends WriterOptions {
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
export function createServiceHandler({ sandboxes, ...writer }: ServiceOptions): ServiceHandler {
  return (incoming, response, target = parseTarget(incoming.url ?? '/')) => {
    const head = readHead(incoming);
    const location = locateSandbox(sandboxes, target.sandbox, head.headers);
    const { sandbox } = location;
    const arrival = { incoming, head, target, ...location };
    const exchange = needsBody(arrival)
      ? receive(arrival).then((body) => answerRequest(arrival, body))
      : answerRequest(arrival, NO_BODY);
    if (exchange instanceof Promise) {
      exchange.then(
        (done) => sendWhenDue(done, response, sandbox, writer),
        (error) => sendFailure(response, error, sandbox.state),
      );
    } else sendWhenDue(exchange, response, sandbox, writer);
  };
}

/** A request whose sandbox is known, and whose body may still arrive. */
interface Arrival extends Location {
  readonly incoming: IncomingMessage;
  readonly head: RequestHead;
  readonly target: Target;
}

const NO_BODY: RequestBody = { kind: 'none' };

/** The deployment that answers a request, and what it is asked for; undefined if the mock answers. */
function findUpstream({ sandbox, target }: Arrival) {
  const { upstream } = sandbox.state.settings;
  const below = upstream && belowBase(target);
  return upstream === undefined || below === undefined ? undefined : { upstream, below };
}

/** Nobody reads the body of a request that reaches no operation, or one without a body. */
function needsBody(arrival: Arrival): boolean {
  const { target, head, refusal, keyRefusal } = arrival;
  if (refusal !== undefined || keyRefusal !== undefined) return false;
  const operation = findOperation(target, head.method);
  const isRead = operation !== undefined && operationShape(operation).body !== undefined;
  return isRead || findUpstream(arrival) !== undefined;
}

/** Never resolves if the client disconnects before the body is complete. */
function receive(arrival: Arrival): Promise<RequestBody> {
  const { incoming, sandbox } = arrival;
  const option = findUpstream(arrival) ? 'none' : sandbox.state.settings.choices['body-limit'];
  return new Promise((resolve) => receiveBody(incoming, BODY_LIMITS[option], resolve));
}

function answerRequest(arrival: Arrival, body: RequestBody): Exchange | Promise<Exchange> {
  const { incoming, head, target, sandbox, authorization } = arrival;
  const request = createServiceRequest(head, target, authorization, body);
  const refusal = arrival.refusal ?? (request.call && arrival.keyRefusal);
  if (refusal !== undefined) return sandbox.handle({ ...request, given: { reply: refusal } });
  const forwarded = findUpstream(arrival);
  const { prefer } = head.headers;
  const isAsked = prefer !== undefined && !sandbox.state.settings.start.plain;
  if (forwarded === undefined && !(isAsked && request.call)) return sandbox.handle(request);
  const preference = isAsked ? readPrefer(String(prefer), sandbox) : undefined;
  return forwarded === undefined
    ? answerAsPreferred(sandbox, request, preference)
    : forward({ ...forwarded, incoming, body, sandbox, request, preference });
}

async function answerAsPreferred(
  sandbox: Sandbox,
  request: ServiceRequest,
  preference: Promise<Preference | undefined> | undefined,
): Promise<Exchange> {
  return sandbox.handle(request, await preference);
}
