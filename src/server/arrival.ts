import { BODY_LIMITS } from '../core/contract/assumptions/protocol-assumptions.ts';
import { type OperationId, operationShape } from '../core/contract/operations.ts';
import { belowBase, type Target } from '../core/contract/target.ts';
import { LIMITS } from '../core/limits.ts';
import type { Platform } from '../core/platform.ts';
import { needsService, readServiceState } from '../core/sandbox/answer.ts';
import type { Exchange, ServiceRequest } from '../core/sandbox/exchange.ts';
import { type Preference, readPrefer } from '../core/sandbox/preference.ts';
import type { Sandbox } from '../core/sandbox/sandbox.ts';
import type { Responder, ResponderCall, Sandboxes } from '../core/sandbox/sandboxes.ts';
import {
  createServiceRequest,
  findOperation,
  locateSandbox,
  type RequestHead,
  type SandboxLocation,
} from '../core/sandbox/service-request.ts';
import { currentInstant } from '../core/service/clock.ts';
import type { RequestBody } from '../core/service/input.ts';
import type { Reply } from '../core/service/reply.ts';
import type { ServerPersistence } from './server-persistence.ts';

/** What answers requests for the service, whichever way they come in. */
export interface ServiceParts {
  readonly sandboxes: Sandboxes;
  readonly persistence: ServerPersistence;
  readonly platform: Platform;
}

/** A request whose body may still arrive. */
export interface Arrival {
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
  { sandboxes }: ServiceParts,
  head: RequestHead,
  target: Target,
  onDisconnect: Arrival['onDisconnect'],
  refusal?: Reply,
): Arrival {
  const location =
    refusal === undefined
      ? locateSandbox(sandboxes, target.sandbox, head.headers)
      : { sandbox: sandboxes.default, authorization: undefined, refusal };
  const operation = findOperation(target, head.method);
  const forwarded = findUpstream(sandboxes, target);
  return { head, target, location, operation, forwarded, onDisconnect };
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

/** A promise if the request asks for something with `Prefer`, or more than memory keeps the sandbox. */
export function answerArrival(
  { sandboxes, persistence, platform }: ServiceParts,
  arrival: Arrival,
  body: RequestBody,
): Exchange | Promise<Exchange> {
  const { head, target, location, operation, forwarded } = arrival;
  const { sandbox, authorization } = location;
  const request = createServiceRequest(head, target, authorization, body, operation);
  const refusal = location.refusal ?? (request.call && location.keyRefusal);
  if (refusal !== undefined)
    return answerRequest(persistence, sandbox, { ...request, supplied: { reply: refusal } });
  const override = request.call && sandboxes.override?.(request.call);
  const { prefer } = head.headers;
  const isAsked = prefer !== undefined && request.call && !sandbox.state.settings.start.plain;
  const preference =
    isAsked && override === undefined
      ? readPrefer(String(prefer), platform, async () =>
          persistence.run(sandbox, () => sandbox.read()),
        )
      : override;
  if (forwarded !== undefined) {
    const { upstream, below } = forwarded;
    const asked: ResponderCall = {
      request,
      target: below,
      body,
      sandbox: sandbox.name,
      state: readServiceState(sandbox.state, Date.now()),
      onDisconnect: arrival.onDisconnect,
    };
    return askUpstream(upstream, asked, persistence, sandbox, preference);
  }
  return preference instanceof Promise
    ? preference.then((read) => answerRequest(persistence, sandbox, request, read))
    : answerRequest(persistence, sandbox, request, preference);
}

/** Answers a request. A promise unless only memory keeps the sandbox. */
export function answerRequest(
  persistence: ServerPersistence,
  sandbox: Sandbox,
  request: ServiceRequest,
  preference?: Preference,
): Exchange | Promise<Exchange> {
  const fail = (error: unknown) =>
    persistence.runFailed(sandbox, () => sandbox.fail(error, request, currentInstant()));
  try {
    const exchange = persistence.run(sandbox, () =>
      sandbox.answer(request, currentInstant(), preference),
    );
    return exchange instanceof Promise ? exchange.catch(fail) : exchange;
  } catch (error) {
    return fail(error);
  }
}

/** Lets the upstream answer, unless a rule of the sandbox does, and records the exchange. */
async function askUpstream(
  upstream: Responder,
  asked: ResponderCall,
  persistence: ServerPersistence,
  sandbox: Sandbox,
  preparing: Promise<Preference | undefined> | Preference | undefined,
): Promise<Exchange> {
  const preference = await preparing;
  const { request } = asked;
  const { call } = request;
  // A call that is refused for it must not be carried out.
  if (preference?.kind === 'wrong' && preference.strict)
    return answerRequest(persistence, sandbox, request, preference);
  const match = call && (await persistence.run(sandbox, () => sandbox.match(call, preference)));
  const reply = needsService(match) ? await upstream.respond(asked) : undefined;
  const answered = { ...request, supplied: { reply, match } };
  return answerRequest(persistence, sandbox, answered, preference);
}

/** Remembers that the client has left before its reply was sent, as far as that can be kept. */
export async function loseReply(
  { persistence }: ServiceParts,
  sandbox: Sandbox,
  exchange: Exchange,
): Promise<void> {
  try {
    await persistence.run(sandbox, () => sandbox.loseReply(exchange, currentInstant()));
  } catch {
    // Only a finding depends on it.
  }
}
