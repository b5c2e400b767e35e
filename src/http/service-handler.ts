import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { operationShape } from '../contract/operations.ts';
import { DEFAULT_SANDBOX, LIMITS, NAME_FORM, NAME_PATTERN } from '../limits.ts';
import type { Exchange, ServiceRequest } from '../sandbox/exchange.ts';
import { type Preference, readPrefer } from '../sandbox/preference.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import type { Sandboxes } from '../sandbox/sandboxes.ts';
import { StorageError } from '../sandbox/storage.ts';
import { BODY_LIMITS, type RequestBody } from '../service/input.ts';
import { bearerToken, isListedKey } from '../service/keyring.ts';
import { refuseKey } from '../service/operation.ts';
import { AssumptionTrace, errorReply, type Reply } from '../service/reply.ts';
import { describe } from '../words.ts';
import type { PendingResponses } from './connections.ts';
import { forward } from './forward.ts';
import {
  createServiceRequest,
  findOperation,
  type RequestHead,
  readHead,
  receiveBody,
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

interface Location {
  readonly sandbox: Sandbox;
  /** The `Authorization` header, without the sandbox name in its token. */
  readonly authorization: string | undefined;
  /** Why the request is refused; the default sandbox then answers with it. */
  readonly refusal?: Reply | undefined;
  readonly keyRefusal?: Reply | undefined;
}

/**
 * Finds the sandbox that a service request names: in its path, else in its key, else in its
 * `Mock-Sandbox` header. Without a name it is the default sandbox.
 *
 * @param inPath the name in the path
 */
function locateSandbox(
  sandboxes: Sandboxes,
  inPath: string | undefined,
  headers: IncomingHttpHeaders,
): Location {
  const header = headers['mock-sandbox'];
  const inHeader = header === undefined ? undefined : String(header);
  const split = splitKey(sandboxes, inPath, inHeader, headers.authorization);
  const authorization = split?.authorization ?? headers.authorization;
  const name = inPath ?? split?.name ?? inHeader;
  const refuse = (refusal: Reply): Location => ({
    sandbox: sandboxes.default,
    authorization,
    refusal,
  });
  if (name === undefined) {
    if (sandboxes.required) return refuse(nameRequired(sandboxes));
    return { sandbox: sandboxes.default, authorization };
  }
  // A wrong name is a mistake, also where another one decides.
  const given = [split?.name, inHeader, name];
  const wrong = given.find((text) => text !== undefined && !NAME_PATTERN.test(text));
  if (wrong !== undefined) return refuse(nameInvalid(sandboxes, wrong));
  try {
    const admitted = sandboxes.admit(name, authorization);
    if (admitted instanceof Sandbox) return { sandbox: admitted, authorization };
    const sandbox = sandboxes.default;
    return { sandbox, authorization, keyRefusal: refuseKey(sandbox.state.settings, admitted) };
  } catch (error) {
    if (error instanceof StorageError) return refuse(tooMany(sandboxes, error));
    throw error;
  }
}

/**
 * The sandbox of a name, created if it is new.
 *
 * @returns a refusal if the name is invalid or there are too many sandboxes
 */
export function getOrCreate(sandboxes: Sandboxes, name: string): Sandbox | Reply {
  if (!NAME_PATTERN.test(name)) return nameInvalid(sandboxes, name);
  try {
    return sandboxes.getOrCreate(name);
  } catch (error) {
    if (error instanceof StorageError) return tooMany(sandboxes, error);
    throw error;
  }
}

function tooMany(sandboxes: Sandboxes, { code, refusal }: StorageError): Reply {
  return errorReply(startTrace(sandboxes), code, 503, refusal);
}

/** Splits a token of the form `KEY~NAME`, unless the whole token is a key of the named sandbox. */
function splitKey(
  sandboxes: Sandboxes,
  inPath: string | undefined,
  inHeader: string | undefined,
  authorization: string | undefined,
): { readonly authorization: string; readonly name: string } | undefined {
  if (!authorization?.includes('~')) return undefined;
  const sandbox = sandboxes.find(inPath ?? inHeader ?? DEFAULT_SANDBOX) ?? sandboxes.default;
  const { keys, upstream } = sandbox.state.settings;
  // The mock does not know the keys of a deployment.
  if (inPath !== undefined && upstream !== undefined) return undefined;
  if (isListedKey(keys, authorization) || bearerToken(authorization) === undefined) {
    return undefined;
  }
  const tilde = authorization.lastIndexOf('~');
  return { authorization: authorization.slice(0, tilde), name: authorization.slice(tilde + 1) };
}

function nameRequired(sandboxes: Sandboxes): Reply {
  const how = 'in the path (/~NAME/v1), in the key (KEY~NAME) or in the header Mock-Sandbox: NAME';
  return errorReply(startTrace(sandboxes), 'sandbox_required', 400, `name a sandbox: ${how}`);
}

export function nameInvalid(sandboxes: Sandboxes, name: string): Reply {
  const message = `sandbox name: expected ${NAME_FORM}, found ${describe(name)}`;
  return errorReply(startTrace(sandboxes), 'sandbox_name_invalid', 400, message);
}

function startTrace(sandboxes: Sandboxes): AssumptionTrace {
  return new AssumptionTrace(sandboxes.default.state.settings.choices);
}
