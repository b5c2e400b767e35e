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
import { effectOf } from '../core/scenario/fault-table.ts';
import { currentInstant } from '../core/service/clock.ts';
import type { Call, RequestBody, RequestHeaders } from '../core/service/input.ts';
import type { Reply } from '../core/service/reply.ts';
import { describeRoute } from '../core/service/unknown-route.ts';
import { locateSandbox, type SandboxLocation } from './locate-sandbox.ts';
import type { ServerPersistence } from './open-sandboxes.ts';

/** What is needed to answer requests for the service, from a port or from `fetch`. */
export interface ServiceParts {
  readonly sandboxes: Sandboxes;
  readonly persistence: ServerPersistence;
  readonly platform: Platform;
}

export interface RequestHead {
  readonly method: string;
  readonly headers: RequestHeaders;
  /** Alternating names and values, as the client sent them. */
  readonly rawHeaders: readonly string[];
  /** The path at which an Express app mounts the mock; empty otherwise. */
  readonly mount: string;
  readonly port: number | undefined;
  readonly receivedAt: number;
}

export function findOperation({ route }: Target, method: string): OperationId | undefined {
  return route?.operations.get(method === 'HEAD' ? 'GET' : method);
}

/** @param authorization the header without the sandbox name in its token */
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

/** A request whose body has not arrived yet. */
export interface Arrival {
  readonly parts: ServiceParts;
  readonly head: RequestHead;
  readonly target: Target;
  readonly location: SandboxLocation;
  readonly operation: OperationId | undefined;
  /** The upstream to ask and the target to ask it for; undefined if the mock itself answers. */
  readonly forwarded: ReturnType<typeof findUpstream>;
  /** Calls `act` when the client leaves. Returns a function that cancels this. */
  readonly onDisconnect: (act: () => void) => () => void;
}

/** @param refusal the reply to a request that violates HTTP */
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

/** Finds the sandbox again when the body is here, as it may have been deleted meanwhile. */
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

/** How many bytes a body may have; undefined if no operation or upstream reads it. */
export function bodyLimit({ head, operation, forwarded, location }: Arrival): number | undefined {
  const { sandbox, refusal, keyRefusal } = location;
  if (refusal !== undefined || keyRefusal !== undefined) return undefined;
  if (forwarded !== undefined) return LIMITS.deploymentBody;
  if (operation === undefined) return undefined;
  if (operationShape(operation).body === undefined) {
    // A chunked body has no length in advance, and may turn out to be empty.
    return head.headers['transfer-encoding'] === undefined ? undefined : 0;
  }
  return BODY_LIMITS[sandbox.state.settings.choices['body-limit']];
}

/** Makes the request and answers it. Returns a promise only if something has to be waited for. */
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

/** The preference that the server imposes (`sweep --faults` does), or the request's own. */
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

/** Parses `Prefer`. Ignored if the mock must not be recognizable (`--plain`). */
export function findPreference(
  prefer: string,
  { settings }: State,
  platform: Platform,
  readState: () => Promise<State>,
): Promise<Preference | undefined> | undefined {
  return settings.start.options.plain ? undefined : readPrefer(prefer, platform, readState);
}

/** Waits for the preference and, if no rule replaces it, for the upstream's reply. Then answers. */
async function awaitAndAnswer(
  { parts: { persistence }, location: { sandbox }, forwarded, onDisconnect }: Arrival,
  body: RequestBody,
  request: ServiceRequest,
  preferring: Promise<Preference | undefined> | Preference | undefined,
): Promise<Exchange> {
  const preference = await preferring;
  // A call that is refused because of its preference must not reach the deployment.
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

/** Answers a request and keeps the outcome. A promise only if the persistence has to wait. */
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

/** Sends a reply after its hold and its delay, unless the client leaves first. */
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
    // The reply was held, so its loss has not been recorded yet: see `judgeRepetition`.
    if (isWithheld && !effectOf(fault).isDelivered) void loseReply(arrival, exchange);
    send();
  };
  const sendDelayed = (): void => (delay === 0 ? sendNow() : pause(delay, sendNow));
  if (isWithheld) location.sandbox.holds.wait(exchange, { send: sendDelayed, onDisconnect });
  else sendDelayed();
}

/** Records that the client will not get the reply, if the storage is available. */
async function loseReply(
  { parts: { persistence }, location: { sandbox } }: Arrival,
  exchange: Exchange,
): Promise<void> {
  try {
    await persistence.keep(sandbox, () => sandbox.loseReply(exchange, currentInstant()));
  } catch {
    // This is only for a finding, so an error is not worth a warning.
  }
}
