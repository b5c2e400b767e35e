import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseTarget, type Target } from '../../core/contract/target.ts';
import type { Exchange, ServiceRequest } from '../../core/sandbox/exchange.ts';
import { steadyNow } from '../../core/service/clock.ts';
import { BodyBytes, NO_BODY, type RequestBody } from '../../core/service/input.ts';
import type { Reply } from '../../core/service/reply.ts';
import {
  type Arrival,
  answerArrival,
  bodyLimit,
  createServiceRequest,
  openArrival,
  type RequestHead,
  reopenArrival,
  type ServiceParts,
  sendWhenDue,
} from '../arrival.ts';
import { resetConnection, sendExchange, staleConnections } from './faults.ts';
import { onDisconnect, type PendingResponses, sendFailure } from './write.ts';

/** Answers requests for the service; other paths get a 404. */
export type ServiceHandler = (
  incoming: IncomingMessage,
  response: ServerResponse,
  target?: Target,
  /** The reply to a request that violates HTTP. */
  refusal?: Reply,
) => void;

/** A call from its head until its reply has been sent. */
interface CallUnderWay {
  readonly arrival: Arrival;
  readonly response: ServerResponse;
  readonly pending: PendingResponses;
}

/** Creates the handler. It finds the sandbox and the operation, then waits for the body. */
export function createServiceHandler(
  parts: ServiceParts,
  pending: PendingResponses,
): ServiceHandler {
  return (incoming, response, target = parseTarget(incoming.url ?? '/'), refusal) => {
    if (staleConnections.has(incoming.socket)) {
      resetConnection(response);
      return;
    }
    const onLeave = (act: () => void) => onDisconnect(incoming.socket, act);
    const arrival = openArrival(parts, readHead(incoming), target, onLeave, refusal);
    const call = { arrival, response, pending };
    const limit = bodyLimit(arrival);
    if (limit === undefined) answerAndSend(call, NO_BODY);
    else {
      response.once('close', arrival.location.sandbox.beginCall());
      // A callback, because other requests could run before a promise resolves.
      receiveBody(incoming, limit, (body) => {
        answerAndSend({ ...call, arrival: reopenArrival(arrival) }, body);
      });
    }
  };
}

/** Answers a call, and sends the reply once the outcome is kept. */
function answerAndSend(call: CallUnderWay, body: RequestBody): void {
  try {
    const exchange = answerArrival(call.arrival, body);
    if (!(exchange instanceof Promise)) waitAndSend(call, exchange);
    else exchange.then((kept) => waitAndSend(call, kept)).catch((error) => fail(call, error));
  } catch (error) {
    fail(call, error);
  }
}

function waitAndSend(call: CallUnderWay, exchange: Exchange): void {
  const { arrival, response, pending } = call;
  const pause = (delay: number, act: () => void): void => pending.delay(response, delay, act);
  sendWhenDue(arrival, exchange, pause, () => {
    try {
      sendExchange(exchange, response, pending);
    } catch (error) {
      fail(call, error);
    }
  });
}

function fail({ arrival, response }: CallUnderWay, error: unknown): void {
  sendFailure(response, error, arrival.location.sandbox.state);
}

function readHead(incoming: IncomingMessage): RequestHead {
  const { method = 'GET', headers, rawHeaders, socket } = incoming;
  const receivedAt = steadyNow();
  const isMounted = 'baseUrl' in incoming && typeof incoming.baseUrl === 'string';
  // Express removes its mount path from the URL.
  const mount = isMounted ? String(incoming.baseUrl) : '';
  const port = socket.remotePort;
  return { method, headers, rawHeaders, mount, port, receivedAt };
}

const REQUEST_LINE = /^([A-Z]+) (\S+) HTTP\/1\.[01]\r?\n/;

/**
 * Describes a request that could not be read, as far as possible.
 *
 * @param received the request whose body broke off, or the bytes of its head
 * @returns undefined if the bytes are not even a request line
 */
export function createBrokenRequest(
  received: IncomingMessage | Buffer | undefined,
): ServiceRequest | undefined {
  if (received !== undefined && !Buffer.isBuffer(received)) {
    const target = parseTarget(received.url ?? '/');
    return createServiceRequest(
      readHead(received),
      target,
      received.headers.authorization,
      NO_BODY,
    );
  }
  const [, method, url] = REQUEST_LINE.exec(received?.toString('latin1') ?? '') ?? [];
  if (method === undefined || url === undefined) return undefined;
  const head = { method, headers: {}, rawHeaders: [], mount: '', port: undefined };
  const receivedAt = steadyNow();
  const target = parseTarget(url);
  // The origin is unknown, so any page may read why its request was refused.
  return {
    ...createServiceRequest({ ...head, receivedAt }, target, undefined, NO_BODY),
    origin: '*',
  };
}

/**
 * @param received called with the whole body; never if the client leaves before it is complete
 * @throws Error if a body parser of the embedding app has rounded a number
 */
export function receiveBody(
  request: IncomingMessage,
  limit: number,
  received: (body: RequestBody) => void,
): void {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length === 0 && request.headers['transfer-encoding'] === undefined) {
    received(NO_BODY);
    return;
  }
  if (length > limit) {
    received({ kind: 'too-large', limit });
    return;
  }
  if (request.readableEnded) {
    received(findParsedBody(request, limit));
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    size += chunk.length;
    if (size <= limit) return;
    request.off('data', onData).off('end', onEnd).resume();
    received({ kind: 'too-large', limit });
  };
  const onEnd = (): void => {
    const [only] = chunks;
    if (only === undefined) received(NO_BODY);
    else received(new BodyBytes(chunks.length === 1 ? only : Buffer.concat(chunks, size)));
  };
  request.on('data', onData).on('end', onEnd);
}

function findParsedBody(request: IncomingMessage, limit: number): RequestBody {
  const body: unknown = 'body' in request ? request.body : undefined;
  if (body === undefined) return NO_BODY;
  const isText = typeof body === 'string' || Buffer.isBuffer(body);
  const bytes = Buffer.from(isText ? body : JSON.stringify(body, refuseRounded));
  // A chunked body has no length in advance, so it is checked here.
  return bytes.length > limit ? { kind: 'too-large', limit } : new BodyBytes(bytes);
}

function refuseRounded(_name: string, value: unknown): unknown {
  // A parser turned 1e400 into Infinity, which JSON.stringify writes as null.
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    throw new Error(
      'A body parser before the mock rounded a number beyond 2^53: mount the mock before it.',
    );
  }
  return value;
}
