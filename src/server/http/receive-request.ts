import type { IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import { parseTarget } from '../../core/contract/target.ts';
import type { ServiceRequest } from '../../core/sandbox/exchange.ts';
import { createServiceRequest, type RequestHead } from '../../core/sandbox/service-request.ts';
import { BodyBytes, NO_BODY, type RequestBody } from '../../core/service/input.ts';

export function readHead(incoming: IncomingMessage): RequestHead {
  const { method = 'GET', headers, rawHeaders, socket } = incoming;
  const receivedAt = performance.now();
  const isMounted = 'baseUrl' in incoming && typeof incoming.baseUrl === 'string';
  // Express removes its mount path from the target.
  const mount = isMounted ? String(incoming.baseUrl) : '';
  const port = socket.remotePort;
  return { method, headers, rawHeaders: rawHeaders, mount, port, receivedAt };
}

const REQUEST_LINE = /^([A-Z]+) (\S+) HTTP\/1\.[01]\r?\n/;

/**
 * What can be known of a request that could not be read.
 *
 * @param received the request whose body broke off, or the bytes of a head
 * @returns undefined if they are no request
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
  const receivedAt = performance.now();
  const target = parseTarget(url);
  // Its origin is unknown, and any page may read why it was refused.
  return {
    ...createServiceRequest({ ...head, receivedAt }, target, undefined, NO_BODY),
    origin: '*',
  };
}

/**
 * @param received never called if the client leaves before the body is complete
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
  // A chunked body announces no length.
  return bytes.length > limit ? { kind: 'too-large', limit } : new BodyBytes(bytes);
}

function refuseRounded(_name: string, value: unknown): unknown {
  // 1e400 is parsed to Infinity, which JSON.stringify writes as null.
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    throw new Error(
      'A body parser before the mock rounded a number beyond 2^53: mount the mock before it.',
    );
  }
  return value;
}
