import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode, StatusOf } from '../../core/contract/error-codes.ts';
import { operationShape } from '../../core/contract/operations.ts';
import { belowBase, parseTarget, type Target } from '../../core/contract/target.ts';
import { DEFAULT_SANDBOX, LIMITS, NAME_FORM, NAME_PATTERN } from '../../core/limits.ts';
import { type Exchange, isWaiting } from '../../core/sandbox/exchange.ts';
import { readPrefer } from '../../core/sandbox/preference.ts';
import { Sandbox } from '../../core/sandbox/sandbox.ts';
import type { Sandboxes } from '../../core/sandbox/sandboxes.ts';
import { StorageError } from '../../core/sandbox/storage.ts';
import { BODY_LIMITS, type RequestBody } from '../../core/service/input.ts';
import { bearerToken, isListedKey } from '../../core/service/keyring.ts';
import { refuseKey } from '../../core/service/operation.ts';
import { AssumptionTrace, errorReply, type Reply } from '../../core/service/reply.ts';
import { describe } from '../../core/words.ts';
import { applyFault } from './faults.ts';
import { forward } from './forward.ts';
import {
  createServiceRequest,
  findOperation,
  type RequestHead,
  readHead,
  receiveBody,
} from './service-request.ts';
import { onDisconnect, type PendingResponses, sendFailure, sendReply } from './write.ts';

export interface ServiceOptions {
  readonly sandboxes: Sandboxes;
  readonly pending: PendingResponses;
}

/** Answers requests for the service's paths, and all others with 404. */
export type ServiceHandler = (
  incoming: IncomingMessage,
  response: ServerResponse,
  target?: Target,
) => void;

export function createServiceHandler({ sandboxes, pending }: ServiceOptions): ServiceHandler {
  return (incoming, response, target = parseTarget(incoming.url ?? '/')) => {
    const head = readHead(incoming);
    const location = locateSandbox(sandboxes, target.sandbox, head.headers);
    const { sandbox } = location;
    const arrival = { response, head, target, location };
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
    // A callback, since a promise costs a PATCH 3 %.
    else receiveBody(incoming, limit, answer);
  };
}

function sendExchange(
  { fault, reply }: Exchange,
  response: ServerResponse,
  pending: PendingResponses,
): void {
  if (fault !== undefined) applyFault(fault, response, reply, pending);
  else if (reply !== undefined) sendReply(response, reply);
  else throw new Error('An exchange has neither a reply nor a fault.');
}

/** A request whose body may still arrive. */
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
  if (findUpstream(arrival) !== undefined) return LIMITS.deploymentBody.max;
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
  const isAsked = prefer !== undefined && request.call && !sandbox.state.settings.start.plain;
  const preference = isAsked ? readPrefer(String(prefer), sandbox) : undefined;
  if (forwarded !== undefined) {
    return forward({ ...forwarded, response, body, sandbox, request, preference });
  }
  return preference?.then((read) => sandbox.handle(request, read)) ?? sandbox.handle(request);
}

interface Location {
  readonly sandbox: Sandbox;
  /** The `Authorization` header, without the sandbox name in its token. */
  readonly authorization: string | undefined;
  /** The default sandbox then answers with it. */
  readonly refusal?: Reply;
  /** The same, if the request calls an operation. */
  readonly keyRefusal?: Reply;
}

/** The path names the sandbox, else the key, else the header `Mock-Sandbox`, else it is the default one. */
function locateSandbox(
  sandboxes: Sandboxes,
  inPath: string | undefined,
  { authorization: sent, 'mock-sandbox': header }: IncomingHttpHeaders,
): Location {
  const inHeader = header?.toString();
  const [authorization, inKey] = splitKey(sandboxes, inPath, inHeader, sent);
  const name = inPath ?? inKey ?? inHeader;
  const sandbox = sandboxes.default;
  if (name === undefined) {
    if (!sandboxes.required) return { sandbox, authorization };
    const how =
      'in the path (/~NAME/v1), in the key (KEY~NAME) or in the header Mock-Sandbox: NAME';
    const refusal = refuse(sandboxes, 'sandbox_required', 400, `name a sandbox: ${how}`);
    return { sandbox, authorization, refusal };
  }
  // A wrong name is a mistake, also where another one decides.
  const given = [inKey, inHeader, name];
  const wrong = given.find((text) => text !== undefined && !NAME_PATTERN.test(text));
  if (wrong !== undefined) {
    return { sandbox, authorization, refusal: refuseName(sandboxes, wrong) };
  }
  const admitted = refuseTooMany(sandboxes, () => sandboxes.admit(name, authorization));
  if (admitted instanceof Sandbox) return { sandbox: admitted, authorization };
  if ('status' in admitted) return { sandbox, authorization, refusal: admitted };
  return { sandbox, authorization, keyRefusal: refuseKey(sandbox.state.settings, admitted) };
}

/** @returns a refusal if the name is invalid or there are too many sandboxes */
export function getOrRefuse(sandboxes: Sandboxes, name: string): Sandbox | Reply {
  if (!NAME_PATTERN.test(name)) return refuseName(sandboxes, name);
  return refuseTooMany(sandboxes, () => sandboxes.getOrCreate(name));
}

function refuseTooMany<T>(sandboxes: Sandboxes, find: () => T): T | Reply {
  try {
    return find();
  } catch (error) {
    if (error instanceof StorageError) return refuse(sandboxes, error.code, 503, error.refusal);
    throw error;
  }
}

/** Splits a token of the form `KEY~NAME`, unless the whole token is a key of the named sandbox. */
function splitKey(
  sandboxes: Sandboxes,
  inPath: string | undefined,
  inHeader: string | undefined,
  authorization: string | undefined,
): readonly [authorization: string | undefined, name?: string] {
  if (!authorization?.includes('~')) return [authorization];
  const sandbox = sandboxes.find(inPath ?? inHeader ?? DEFAULT_SANDBOX) ?? sandboxes.default;
  const { keys, upstream } = sandbox.state.settings;
  // The mock does not know the keys of a deployment.
  const isWhole =
    (inPath !== undefined && upstream !== undefined) || isListedKey(keys, authorization);
  if (isWhole || bearerToken(authorization) === undefined) return [authorization];
  const tilde = authorization.lastIndexOf('~');
  return [authorization.slice(0, tilde), authorization.slice(tilde + 1)];
}

export function refuseName(sandboxes: Sandboxes, name: string): Reply {
  const message = `sandbox name: expected ${NAME_FORM}, found ${describe(name)}`;
  return refuse(sandboxes, 'sandbox_name_invalid', 400, message);
}

function refuse<C extends ErrorCode>(
  { default: sandbox }: Sandboxes,
  code: C,
  status: StatusOf<C>,
  message: string,
): Reply {
  return errorReply(new AssumptionTrace(sandbox.state.settings.choices), code, status, message);
}
