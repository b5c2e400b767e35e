import type { IncomingMessage } from 'node:http';
import { BodyBytes, type RequestBody } from '../service/input.ts';

/**
 * Receives a request's body, up to `limit` bytes.
 *
 * @param received never called if the client leaves before the body is complete
 * @param streamed whether a larger body is left in the request, to be read from its start; else it is
 *   dropped
 * @throws Error if a body parser of the embedding app has rounded a number
 */
export function receiveBody(
  request: IncomingMessage,
  limit: number,
  received: (body: RequestBody) => void,
  streamed = false,
): void {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length === 0 && request.headers['transfer-encoding'] === undefined) {
    received({ kind: 'none' });
    return;
  }
  if (request.readableEnded && (streamed || length <= limit)) {
    received(findParsedBody(request, streamed ? Number.POSITIVE_INFINITY : limit));
    return;
  }
  if (length > limit) {
    received({ kind: 'too-large', limit });
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    size += chunk.length;
    if (size <= limit) return;
    request.off('data', onData).off('end', onEnd);
    if (streamed) request.pause().unshift(Buffer.concat(chunks));
    else request.resume();
    received({ kind: 'too-large', limit });
  };
  const onEnd = (): void => {
    const [only] = chunks;
    if (only === undefined) received({ kind: 'none' });
    else received(new BodyBytes(chunks.length === 1 ? only : Buffer.concat(chunks, size)));
  };
  request.on('data', onData).on('end', onEnd);
}

/** The body that a parser of the embedding app has already read. */
function findParsedBody(request: IncomingMessage, limit: number): RequestBody {
  const body: unknown = 'body' in request ? request.body : undefined;
  if (body === undefined) return { kind: 'none' };
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body, refuseRounded));
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
