import { BODY_LIMITS } from '../core/contract/assumptions/protocol-assumptions.ts';
import { type OperationId, operationShape } from '../core/contract/operations.ts';
import { belowBase, parseQuery, type Target } from '../core/contract/target.ts';
import { LIMITS } from '../core/limits.ts';
import type { Platform } from '../core/platform.ts';
import { needsService, readServiceState } from '../core/sandbox/answer.ts';
import { type Exchange, hasHold, type ServiceRequest } from '../core/sandbox/exchange.ts';
import { type Preference, readPrefer } from '../core/sandbox/preference.ts';
import type { Sandbox } from '../core/sandbox/sandbox.ts';
import type { Sandboxes } from '../core/sandbox/sandboxes.ts';
import type { State } from '../core/sandbox/state.ts';
import { isDelivered } from '../core/scenario/fault-table.ts';
import { currentInstant } from '../core/service/clock.ts';
import type { Call, RequestBody, RequestHeaders } from '../core/service/input.ts';
import type { Reply } from '../core/service/reply.ts';
import { describeRoute } from '../core/service/unknown-route.ts';
import { locateSandbox, type SandboxLocation } from './locate-sandbox.ts';
import type { ServerPersistence } from './open-sandboxes.ts';

/** What answers requests for the service, whichever way they come in. */
export interface ServiceParts {
  readonly sandboxes: Sandboxes;
  readonly persistence: ServerPersistence;
  readonly platform: Platform;
}

export interface RequestHead {
  readonly method: string;
  readonly headers: RequestHeaders;
  /** Names and values in turn, as the client sent them. */
  readonly rawHeaders: readonly string[];
  /** Where an Express app has mounted the mock. */
  readonly mount: string;
  readonly port: number | undefined;
  readonly receivedAt: number;
}

export function findOperation({ route }: Target, method: string): OperationId | undefined {
  return route?.operations.get(method === 'HEAD' ? 'GET' : method);
}

/** @param authorization without the sandbox name in its token */
export function createServiceRequest(
  head: RequestHead,
  target: Target,
  authorization: string | undefined,
  body: RequestBody,
  operation = findOperation(target, head.method),
): ServiceRequest {
  const { method, headers, rawHeaders, mount, port, receivedAt } = head;
  return {
    method,
    target: mount + target.url,
    authorization,
    headers: rawHeaders,
    origin: headers.origin?.toString(),
    port,
    receivedAt,
    replays: undefined,
    call: operation && createCall(operation, head, target, authorization, body),
    route: operation === undefined ? describeRoute(method, headers, target) : undefined,
    supplied: undefined,
  };
}

function createCall(
  operation: OperationId,
  { headers, rawHeaders, mount }: RequestHead,
  target: Target,
  authorization: string | undefined,
  body: RequestBody,
): Call {
  return {
    operation,
    path: mount + target.path,
    pathId: target.pathId,
    query: parseQuery(target),
    headers: rawHeaders,
    authorization,
    contentType: headers['content-type']?.toString(),
    contentEncoding: headers['content-encoding']?.toString(),
    body,
  };
}

/** A request whose body may still arrive. */
export interface Arrival {
  readonly parts: ServiceParts;
  readonly head: RequestHead;
  readonly target: Target;
  readonly location: SandboxLocation;
  readonly operation: OperationId | undefined;
  /** The deployment that answers, and what it is asked for; undefined if the mock answers. */
  readonly forwarded: ReturnType<typeof findUpstream>;
  /** Calls back once the client has left. Returns how to cancel. */
  readonly onDisconnect: (act: () => void) => () => void;
}

/** @param refusal of a request that HTTP forbids */
export function openArrival(
  parts: ServiceParts,
  head: RequestHead,
  target: Target,
  onDisconnect: Arrival['onDisconnect'],
  refusal?: Reply,
): Arrival {
  const { sandboxes } = parts;
  const location =
    refusal === undefined
      ? locateSandbox(sandboxes, target.sandbox, head.headers)
      : { sandbox: sandboxes.default, authorization: undefined, refusal };
  const operation = findOperation(target, head.method);
  const forwarded = findUpstream(sandboxes, target);
  return { parts, head, target, location, operation, forwarded, onDisconnect };
}

/** The same once its body is here: a sandbox that was deleted meanwhile starts anew. */
export function reopenArrival(arrival: Arrival): Arrival {
  const { sandboxes } = arrival.parts;
  const { sandbox } = arrival.location;
  if (sandboxes.get(sandbox.name) === sandbox) return arrival;
  const location = locateSandbox(sandboxes, arrival.target.sandbox, arrival.head.headers);
  return { ...arrival, location };
}

function findUpstream({ upstream }: Sandboxes, target: Target) {
  const below = upstream && belowBase(target);
  return upstream === undefined || below === undefined ? undefined : { upstream, below };
}

/** The bytes that a body may have; undefined if nobody reads it. */
export function bodyLimit({ head, operation, forwarded, location }: Arrival): number | undefined {
  const { sandbox, refusal, keyRefusal } = location;
  if (refusal !== undefined || keyRefusal !== undefined) return undefined;
  if (forwarded !== undefined) return LIMITS.deploymentBody;
  if (operation === undefined) return undefined;
  if (operationShape(operation).body === undefined) {
    // A chunked body may turn out to be empty.
    return head.headers['transfer-encoding'] === undefined ? undefined : 0;
  }
  return BODY_LIMITS[sandbox.state.settings.choices['body-limit']];
}

/** Makes the request and answers it. A promise if that has to wait for something, or more than memory keeps it. */
export function answerArrival(arrival: Arrival, body: RequestBody): Exchange | Promise<Exchange> {
  const { parts, head, target, location, operation, forwarded } = arrival;
  const { sandbox, authorization } = location;
  const request = createServiceRequest(head, target, authorization, body, operation);
  const refusal = location.refusal ?? (request.call && location.keyRefusal);
  if (refusal !== undefined)
    return answerAndKeep(parts.persistence, sandbox, { ...request, supplied: { reply: refusal } });
  const preference = decidePreference(arrival, request);
  if (forwarded !== undefined || preference instanceof Promise)
    return awaitAndAnswer(arrival, body, request, preference);
  return answerAndKeep(parts.persistence, sandbox, request, preference);
}

/** What the server decides about the call, else what the request prefers. */
function decidePreference(
  { parts, head, location: { sandbox } }: Arrival,
  { call }: ServiceRequest,
): Promise<Preference | undefined> | Preference | undefined {
  const { prefer } = head.headers;
  const imposed = call && parts.sandboxes.imposePreference?.(call);
  if (imposed !== undefined || call === undefined || prefer === undefined) return imposed;
  return findPreference(String(prefer), sandbox.state, parts.platform, () =>
    parts.persistence.keep(sandbox, () => sandbox.read()),
  );
}

/** What a request prefers; nothing where the mock does not show that it is one. */
export function findPreference(
  prefer: string,
  { settings }: State,
  platform: Platform,
  readState: () => Promise<State>,
): Promise<Preference | undefined> | undefined {
  return settings.start.options.plain ? undefined : readPrefer(prefer, platform, readState);
}

/** Awaits the preference, and the reply of the upstream where no rule has one, and answers then. */
async function awaitAndAnswer(
  { parts: { persistence }, location: { sandbox }, forwarded, onDisconnect }: Arrival,
  body: RequestBody,
  request: ServiceRequest,
  preferring: Promise<Preference | undefined> | Preference | undefined,
): Promise<Exchange> {
  const preference = await preferring;
  // A call that is refused for it must not be carried out.
  const isWrong = preference?.kind === 'wrong' && preference.strict;
  if (forwarded === undefined || isWrong)
    return answerAndKeep(persistence, sandbox, request, preference);
  const state = readServiceState(sandbox.state, Date.now());
  const { call } = request;
  const match = call && (await persistence.keep(sandbox, () => sandbox.match(call, preference)));
  const { upstream, below: target } = forwarded;
  const asked = { request, target, body, sandbox: sandbox.name, state, onDisconnect };
  const reply = needsService(match) ? await upstream.respond(asked) : undefined;
  const supplied = { reply, match };
  return answerAndKeep(persistence, sandbox, { ...request, supplied }, preference);
}

/** Answers a request by `Sandbox.answer`, and keeps what it does. A promise unless only memory keeps it. */
export function answerAndKeep(
  persistence: ServerPersistence,
  sandbox: Sandbox,
  request: ServiceRequest,
  preference?: Preference,
): Exchange | Promise<Exchange> {
  const fail = (error: unknown) =>
    persistence.keepFailed(sandbox, () => sandbox.fail(error, request, currentInstant()));
  try {
    const exchange = persistence.keepAtOnce(sandbox, () =>
      sandbox.answer(request, currentInstant(), preference),
    );
    return exchange instanceof Promise ? exchange.catch(fail) : exchange;
  } catch (error) {
    return fail(error);
  }
}

/** Sends a reply after its hold and its delay, unless the client leaves before. */
export function sendWhenDue(
  arrival: Arrival,
  exchange: Exchange,
  pause: (milliseconds: number, act: () => void) => void,
  send: () => void,
): void {
  const { delay, fault } = exchange;
  if (delay === 0 && exchange.hold === undefined) {
    send();
    return;
  }
  const isWithheld = hasHold(exchange);
  const { onDisconnect, location } = arrival;
  const cancel = onDisconnect(() => void loseReply(arrival, exchange));
  const sendNow = (): void => {
    cancel();
    // Until now nobody knew when the fault of a held reply would lose it.
    if (isWithheld && !isDelivered(fault)) void loseReply(arrival, exchange);
    send();
  };
  const sendDelayed = (): void => (delay === 0 ? sendNow() : pause(delay, sendNow));
  if (isWithheld) location.sandbox.holds.wait(exchange, { send: sendDelayed, onDisconnect });
  else sendDelayed();
}

/** Remembers that the client will not get its reply, as far as that can be kept. */
async function loseReply(
  { parts: { persistence }, location: { sandbox } }: Arrival,
  exchange: Exchange,
): Promise<void> {
  try {
    await persistence.keep(sandbox, () => sandbox.loseReply(exchange, currentInstant()));
  } catch {
    // Only a finding depends on it.
  }
}
