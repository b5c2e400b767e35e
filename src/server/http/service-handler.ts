import type { IncomingMessage, ServerResponse } from 'node:http';
import { BODY_LIMITS } from '../../core/contract/assumptions/protocol-assumptions.ts';
import { type OperationId, operationShape } from '../../core/contract/operations.ts';
import { belowBase, parseTarget, type Target } from '../../core/contract/target.ts';
import { LIMITS } from '../../core/limits.ts';
import { needsService, readServiceState } from '../../core/sandbox/answer.ts';
import { type Exchange, isWaiting } from '../../core/sandbox/exchange.ts';
import { locateSandbox, type SandboxLocation } from '../../core/sandbox/locate-sandbox.ts';
import { type Preference, readPrefer } from '../../core/sandbox/preference.ts';
import type { Responder, ResponderCall } from '../../core/sandbox/responder.ts';
import type { Sandbox } from '../../core/sandbox/sandbox.ts';
import type { Sandboxes } from '../../core/sandbox/sandboxes.ts';
import {
  createServiceRequest,
  findOperation,
  type RequestHead,
} from '../../core/sandbox/service-request.ts';
import type { RequestBody } from '../../core/service/input.ts';
import type { Reply } from '../../core/service/reply.ts';
import { NODE_PLATFORM } from '../node-platform.ts';
import { handleRequest, type ServerPersistence } from '../persistence/persistence.ts';
import { applyFault } from './faults.ts';
import { readHead, receiveBody } from './receive-request.ts';
import { onDisconnect, type PendingResponses, sendFailure, sendReply } from './write.ts';

export interface ServiceOptions {
  readonly sandboxes: Sandboxes;
  readonly persistence: ServerPersistence;
  readonly pending: PendingResponses;
}

/** Answers requests for the service's paths, and all others with 404. */
export type ServiceHandler = (
  incoming: IncomingMessage,
  response: ServerResponse,
  target?: Target,
  /** Of a request that HTTP forbids. */
  refusal?: Reply,
) => void;

export function createServiceHandler({
  sandboxes,
  persistence,
  pending,
}: ServiceOptions): ServiceHandler {
  return (incoming, response, target = parseTarget(incoming.url ?? '/'), refused) => {
    const head = readHead(incoming);
    const location =
      refused === undefined
        ? locateSandbox(sandboxes, target.sandbox, head.headers)
        : { sandbox: sandboxes.default, authorization: undefined, refusal: refused };
    const { sandbox } = location;
    const arrival = {
      response,
      head,
      target,
      location,
      persistence,
      operation: findOperation(target, head.method),
      forwarded: findUpstream(sandbox, target),
    };
    const fail = (error: unknown): void => sendFailure(response, error, sandbox.state);
    const send = (exchange: Exchange): void => {
      try {
        sendExchange(exchange, response, pending);
      } catch (error) {
        fail(error);
      }
    };
    const sendDue = (exchange: Exchange): void => {
      const sendNow = (): void => send(exchange);
      const { delay } = exchange;
      const sendWithDelay = (): void =>
        delay === 0 ? sendNow() : pending.delay(response, delay, sendNow);
      if (!isWaiting(exchange)) sendWithDelay();
      else {
        const listenForDisconnect = (act: () => void) => onDisconnect(incoming.socket, act);
        sandbox.holds.add(exchange, { send: sendWithDelay, onDisconnect: listenForDisconnect });
      }
    };
    const answer = (body: RequestBody): void => {
      try {
        const exchange = answerRequest(arrival, body);
        if (exchange instanceof Promise) exchange.then(sendDue).catch(fail);
        else sendDue(exchange);
      } catch (error) {
        fail(error);
      }
    };
    const limit = bodyLimit(arrival);
    if (limit === undefined) answer(NO_BODY);
    else {
      response.once('close', sandbox.beginCall());
      // A callback, since a promise costs a PATCH 3 %.
      receiveBody(incoming, limit, answer);
    }
  };
}

function sendExchange(
  { fault, reply }: Exchange,
  response: ServerResponse,
  pending: PendingResponses,
): void {
  if (fault !== undefined && fault.kind !== 'html') applyFault(fault, response, reply, pending);
  else if (reply !== undefined) sendReply(response, reply);
  else throw new Error('An exchange has neither a reply nor a fault.');
}

/** A request whose body may still arrive. */
interface Arrival {
  readonly response: ServerResponse;
  readonly head: RequestHead;
  readonly target: Target;
  readonly location: SandboxLocation;
  readonly persistence: ServerPersistence;
  readonly operation: OperationId | undefined;
  /** The deployment that answers, and what it is asked for; undefined if the mock answers. */
  readonly forwarded: ReturnType<typeof findUpstream>;
}

const NO_BODY: RequestBody = { kind: 'none' };

function findUpstream({ state }: Sandbox, target: Target) {
  const { upstream } = state.settings;
  const below = upstream && belowBase(target);
  return upstream === undefined || below === undefined ? undefined : { upstream, below };
}

/** The bytes that a body may have; undefined if nobody reads it. */
function bodyLimit(arrival: Arrival): number | undefined {
  const { operation, forwarded, location } = arrival;
  const { sandbox, refusal, keyRefusal } = location;
  if (refusal !== undefined || keyRefusal !== undefined) return undefined;
  if (forwarded !== undefined) return LIMITS.deploymentBody.max;
  if (operation === undefined) return undefined;
  if (operationShape(operation).body === undefined) {
    // A chunked body may turn out to be empty.
    return arrival.head.headers['transfer-encoding'] === undefined ? undefined : 0;
  }
  return BODY_LIMITS[sandbox.state.settings.choices['body-limit']];
}

/** Lets the upstream answer, unless a rule of the sandbox does, and records the exchange. */
async function answerBy(
  upstream: Responder,
  asked: ResponderCall,
  { persistence, location: { sandbox } }: Arrival,
  preparing: Promise<Preference | undefined> | undefined,
): Promise<Exchange> {
  const preference = await preparing;
  const { request } = asked;
  const { call } = request;
  const match = call && (await persistence.run(sandbox, () => sandbox.match(call, preference)));
  const reply = needsService(match) ? await upstream.answer(asked) : undefined;
  const answered = { ...request, given: { reply, match } };
  return handleRequest(persistence, sandbox, answered, preference);
}

function answerRequest(arrival: Arrival, body: RequestBody): Exchange | Promise<Exchange> {
  const { head, target, location, persistence, operation, forwarded } = arrival;
  const { sandbox, authorization } = location;
  const request = createServiceRequest(head, target, authorization, body, operation);
  const refusal = location.refusal ?? (request.call && location.keyRefusal);
  if (refusal !== undefined)
    return handleRequest(persistence, sandbox, { ...request, given: { reply: refusal } });
  const { prefer } = head.headers;
  const isAsked = prefer !== undefined && request.call && !sandbox.state.settings.start.plain;
  const preference = isAsked
    ? readPrefer(String(prefer), NODE_PLATFORM, async () =>
        persistence.run(sandbox, () => sandbox.read()),
      )
    : undefined;
  if (forwarded !== undefined) {
    const { upstream, below } = forwarded;
    const asked: ResponderCall = {
      request,
      target: below,
      body,
      sandbox: sandbox.name,
      state: readServiceState(sandbox.state, Date.now()),
      onDisconnect: (act) => onDisconnect(arrival.response.req.socket, act),
    };
    return answerBy(upstream, asked, arrival, preference);
  }
  return preference === undefined
    ? handleRequest(persistence, sandbox, request)
    : preference.then((read) => handleRequest(persistence, sandbox, request, read));
}
