import type { IncomingMessage } from 'node:http';
import {
  BASE_PATH,
  OPERATION_IDS,
  type OperationId,
  type OperationShape,
  operationShape,
} from '../contract/operations.ts';
import { type ReceivedBody, ReceivedBytes } from '../service/received-body.ts';

/** A path of the service and its operations. */
export interface Route {
  readonly operations: ReadonlyMap<string, OperationId>;
  /** The value of `Allow` (RFC 9110, section 10.2.1). */
  readonly allow: string;
}

/** The parts of a request target (RFC 9112, section 3.2). */
export interface Target {
  /** The whole target, as the client wrote it. */
  readonly url: string;
  /** The sandbox in the path, or undefined for the default one. */
  readonly sandbox: string | undefined;
  /** The path as the client wrote it. */
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  /** Undefined if the service has nothing at this path. */
  readonly route: Route | undefined;
  /** The segment at the route's parameter. */
  readonly pathId: string | undefined;
}

/** Keyed by path; a path that ends in a parameter is keyed by its prefix, slash included. */
const routes = new Map<string, Route>();

for (const id of OPERATION_IDS) {
  const { method, path }: OperationShape = operationShape(id);
  const key = BASE_PATH + path.replace(/\{.*/, '');
  const operations = new Map(routes.get(key)?.operations).set(method, id);
  const methods = [...operations.keys()].flatMap((name) =>
    name === 'GET' ? ['GET', 'HEAD'] : [name],
  );
  routes.set(key, { operations, allow: [...methods, 'OPTIONS'].join(', ') });
}

const AUTHORITY = /^https?:\/\/[^/?#]*/i;
/** A sandbox in a path, valid or not. */
const SANDBOX = /^\/~([^/]*)(?=\/)/;

/** The base path, in a sandbox or not. */
const OF_SERVICE = new RegExp(`^(?:/~[^/]*)?${BASE_PATH}(?=[/?]|$)`);

/** Splits a request target, in origin or absolute form. */
export function decodeTarget(url: string): Target {
  const target = url.startsWith('/') ? url : url.replace(AUTHORITY, '') || '/';
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const sandbox = path.startsWith('/~') ? SANDBOX.exec(path) : null;
  const { route, pathId } = findRoute(sandbox === null ? path : path.slice(sandbox[0].length));
  return {
    url,
    sandbox: sandbox?.[1],
    path,
    query: mark < 0 ? NO_QUERY : queryOf(target.slice(mark + 1)),
    route,
    pathId,
  };
}

const NO_QUERY: Target['query'] = [];

/** A name and a value without escapes, which need no decoder: that takes 1.5 µs. */
const PLAIN_PAIR = /^([\w.~-]+)=([\w.~-]*)$/;

function queryOf(query: string): Target['query'] {
  const [, name, value] = PLAIN_PAIR.exec(query) ?? [];
  return name === undefined || value === undefined
    ? [...new URLSearchParams(query)]
    : [[name, value]];
}

function findRoute(written: string): Pick<Target, 'route' | 'pathId'> {
  const path = written.includes('%') ? written.split('/').map(decodeSegment).join('/') : written;
  const slash = path.lastIndexOf('/') + 1;
  const pathId = path.slice(slash);
  if (pathId === '') return { route: undefined, pathId: undefined };
  const route = routes.get(path);
  if (route !== undefined) return { route, pathId: undefined };
  return { route: routes.get(path.slice(0, slash)), pathId };
}

/**
 * What a target asks of the service: the path below its base path, and the query, as the client wrote
 * them. Undefined for a path outside.
 */
export function belowBase({ url }: Target): string | undefined {
  const target = url.replace(AUTHORITY, '');
  return OF_SERVICE.test(target) ? target.replace(OF_SERVICE, '') : undefined;
}

/** Leaves invalid encodings and encoded separators unchanged. */
function decodeSegment(segment: string): string {
  try {
    const decoded = decodeURIComponent(segment);
    return decoded.includes('/') ? segment : decoded;
  } catch {
    return segment;
  }
}

/** Chunks that are kept as they came. One of a single byte takes 200. */
const MOST_CHUNKS = 1024;

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
  received: (body: ReceivedBody) => void,
  streamed = false,
): void {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length === 0 && request.headers['transfer-encoding'] === undefined) {
    received({ kind: 'none' });
    return;
  }
  if (request.readableEnded && (streamed || length <= limit)) {
    received(readBefore(request, streamed ? Number.POSITIVE_INFINITY : limit));
    return;
  }
  if (length > limit) {
    received({ kind: 'too-large', limit });
    return;
  }
  const chunks: Buffer[] = [];
  let merged = 0;
  let size = 0;
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    if (size <= limit) {
      chunks.push(chunk);
      if (chunks.length - merged < MOST_CHUNKS) return;
      chunks.push(Buffer.concat(chunks.splice(merged)));
      merged += 1;
      return;
    }
    request.off('data', onData).off('end', onEnd);
    if (streamed) request.pause().unshift(Buffer.concat([...chunks, chunk]));
    else request.resume();
    received({ kind: 'too-large', limit });
  };
  const onEnd = (): void => {
    const [only] = chunks;
    if (only === undefined) received({ kind: 'none' });
    else received(new ReceivedBytes(chunks.length === 1 ? only : Buffer.concat(chunks, size)));
  };
  request.on('data', onData).on('end', onEnd);
}

/** The body of a request that a parser of the embedding app has already read. */
function readBefore(request: IncomingMessage, limit: number): ReceivedBody {
  const body: unknown = 'body' in request ? request.body : undefined;
  if (body === undefined) return { kind: 'none' };
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body, refuseRounded));
  // A chunked body announces no length.
  return bytes.length > limit ? { kind: 'too-large', limit } : new ReceivedBytes(bytes);
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
