import { byteLength } from '../../core/bytes.ts';
import {
  type ControlTarget,
  findControlTarget,
  parseTarget,
  type Target,
} from '../../core/contract/target.ts';
import { callControlApi } from '../../core/control/control-api.ts';
import type { ControlParts, ControlRequest } from '../../core/control/endpoint.ts';
import { type ControlReply, controlHeaders } from '../../core/control/reply.ts';
import { createRootReply } from '../../core/control/root.ts';
import { mayHaveContent } from '../../core/raw-http.ts';
import type { Sandbox } from '../../core/sandbox/sandbox.ts';
import type { Fault } from '../../core/scenario/fault-table.ts';
import { steadyNow } from '../../core/service/clock.ts';
import { BodyBytes, NO_BODY, type RequestBody } from '../../core/service/input.ts';
import {
  answerArrival,
  bodyLimit,
  openArrival,
  type RequestHead,
  type ServiceParts,
  sendWhenDue,
} from '../../server/arrival.ts';
import { createResponse, networkError, streamEvents, streamPieces } from './create-response.ts';
import { delay, onAbort, untilAborted } from './waiting.ts';

/** A request in the form in which a server would receive it. */
interface ReceivedRequest extends RequestHead {
  readonly origin: string;
  /** The path with the query. */
  readonly url: string;
  readonly bytes: Uint8Array | undefined;
  readonly signal: AbortSignal;
}

/** Answers a request like a server, whatever its host. Rejects like `fetch`. */
export async function dispatchFetch(
  request: Request,
  service: ServiceParts,
  control: ControlParts,
): Promise<Response> {
  request.signal.throwIfAborted();
  const sent = await receive(request);
  const target = parseTarget(sent.url);
  const own = findControlTarget(target);
  const reply = own && (await callControl(sent, own, control));
  return reply === undefined
    ? callService(sent, target, service)
    : createControlResponse(reply, sent);
}

const ADDRESS = /^([a-z][\w+.-]*:\/\/([^/?#]*))([^#]*)/i;

async function receive(request: Request): Promise<ReceivedRequest> {
  const { method, signal } = request;
  const receivedAt = steadyNow();
  const [, origin = '', host = '', url = '/'] = ADDRESS.exec(request.url) ?? [];
  const headers: Record<string, string> = { host };
  const rawHeaders = ['host', host];
  const add = (name: string, value: string): void => {
    headers[name] = value;
    rawHeaders.push(name, value);
  };
  for (const [name, value] of request.headers) add(name, value);
  const hasNone = method === 'GET' || method === 'HEAD';
  const bytes = hasNone ? undefined : new Uint8Array(await request.arrayBuffer());
  // A real client adds this header when it sends the request.
  if (bytes?.length) add('content-length', String(bytes.length));
  return {
    method,
    headers,
    rawHeaders,
    mount: '',
    port: undefined,
    receivedAt,
    origin,
    url,
    bytes,
    signal,
  };
}

function limitBody({ bytes }: Pick<ReceivedRequest, 'bytes'>, limit: number): RequestBody {
  if (bytes === undefined || bytes.length === 0) return NO_BODY;
  return bytes.length > limit ? { kind: 'too-large', limit } : new BodyBytes(bytes);
}

/** The fault that the next call of a sandbox meets, as if `fetch` had one connection to each. */
const latent = new WeakMap<Sandbox, Fault>();

async function callService(
  sent: ReceivedRequest,
  target: Target,
  parts: ServiceParts,
): Promise<Response> {
  const { signal } = sent;
  const onDisconnect = (act: () => void) => onAbort(signal, act);
  const arrival = openArrival(parts, sent, target, onDisconnect);
  const { sandbox } = arrival.location;
  const met = latent.get(sandbox);
  if (met && latent.delete(sandbox)) throw networkError('fetch failed', met);
  const limit = bodyLimit(arrival);
  const body = limit === undefined ? NO_BODY : limitBody(sent, limit);
  const exchange = await answerArrival(arrival, body);
  const pause = (milliseconds: number, act: () => void): void =>
    void delay(signal, milliseconds).then(act, () => {});
  const due = new Promise<void>((send) => sendWhenDue(arrival, exchange, pause, send));
  await untilAborted(signal, due);
  const { fault, reply } = exchange;
  if (fault !== undefined) {
    // Imported late, because few mocks have faults.
    const { breakResponse } = await import('./broken-response.ts');
    const breakNext = () => void latent.set(sandbox, fault);
    const broken = await breakResponse(fault, reply, sent, breakNext);
    if (broken !== undefined) return broken;
  }
  if (reply === undefined) throw new Error('An exchange has neither a reply nor a fault.');
  return createResponse(reply.status, reply.headers, reply.body, reply.phrase);
}

/** @returns undefined if the service has to answer */
async function callControl(
  { method, headers, origin, signal, ...sent }: ReceivedRequest,
  target: ControlTarget,
  parts: ControlParts,
): Promise<ControlReply | undefined> {
  const onDisconnect = (act: () => void) => onAbort(signal, act);
  const readBody: ControlRequest['readBody'] = async (max) => limitBody(sent, max);
  const request = { ...target, method, headers, origin, readBody, onDisconnect };
  if (target.isRoot) return createRootReply(request, parts, {});
  return untilAborted(signal, callControlApi(request, parts));
}

function createControlResponse(reply: ControlReply, { method, signal }: ReceivedRequest): Response {
  const { status, content = '' } = reply;
  const headers = controlHeaders(reply);
  if (typeof content === 'string') {
    if (mayHaveContent(status)) headers.push('Content-Length', String(byteLength(content)));
    return createResponse(status, headers, method === 'HEAD' ? undefined : content || undefined);
  }
  if (method === 'HEAD') return createResponse(status, headers, undefined);
  const isEvents = typeof content === 'function';
  const body = isEvents ? streamEvents(content, signal) : streamPieces(content);
  return createResponse(status, headers, body);
}
