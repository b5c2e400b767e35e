import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import {
  BASE_PATH,
  OPERATION_IDS,
  type OperationId,
  operationShape,
} from '../../core/contract/operations.ts';
import { parseAddress, parseQuery, parseTarget, type Target } from '../../core/contract/target.ts';
import { type Exchange, isDropped, type ServiceRequest } from '../../core/sandbox/exchange.ts';
import { BodyBytes, type Call, type RequestBody } from '../../core/service/input.ts';
import type { UnknownRoute } from '../../core/service/operation.ts';
import { suggest } from '../../core/words.ts';

export interface RequestHead {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as the client sent them. */
  readonly rawHeaders: readonly string[];
  /** Where an Express app has mounted the mock. */
  readonly mount: string;
  readonly port: number | undefined;
  readonly receivedAt: number;
}

export function readHead(incoming: IncomingMessage): RequestHead {
  const { method = 'GET', headers, rawHeaders, socket } = incoming;
  const receivedAt = performance.now();
  const isMounted = 'baseUrl' in incoming && typeof incoming.baseUrl === 'string';
  // Express removes its mount path from the target.
  const mount = isMounted ? String(incoming.baseUrl) : '';
  const port = socket.remotePort;
  return { method, headers, rawHeaders: shareHeaders(rawHeaders), mount, port, receivedAt };
}

let latestHeaders: readonly string[] = [];

/** Most requests repeat the headers of the one before: the journal keeps them once, 0.6 KB less for each. */
function shareHeaders(headers: readonly string[]): readonly string[] {
  const isSame =
    headers.length === latestHeaders.length &&
    headers.every((text, index) => text === latestHeaders[index]);
  if (!isSame) latestHeaders = headers;
  return latestHeaders;
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
): ServiceRequest {
  const { method, headers, rawHeaders, mount, port, receivedAt } = head;
  const operation = findOperation(target, method);
  return {
    method,
    target: mount + target.url,
    authorization,
    headers: rawHeaders,
    crossOrigin: headers.origin !== undefined,
    port,
    receivedAt,
    replays: undefined,
    call: operation && createCall(operation, head, target, authorization, body),
    route: operation === undefined ? describeRoute(head, target) : undefined,
    given: undefined,
  };
}

function createCall(
  operation: OperationId,
  { headers, mount }: RequestHead,
  target: Target,
  authorization: string | undefined,
  body: RequestBody,
): Call {
  return {
    operation,
    path: mount + target.path,
    pathId: target.pathId,
    query: parseQuery(target),
    headers,
    authorization,
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
    body,
  };
}

function describeRoute({ method, headers }: RequestHead, target: Target): UnknownRoute {
  const isPreflight = headers.origin !== undefined && headers['access-control-request-method'];
  return {
    method,
    path: target.path,
    allow: target.route?.allow,
    hint: target.route === undefined ? suggestPath(target) : '',
    preflight: isPreflight ? { headers: headers['access-control-request-headers'] } : undefined,
  };
}

const PATHS = [...new Set(OPERATION_IDS.map((id) => operationShape(id).path))];

/**
 * Suggests the service path that a client probably meant, to follow a wrong path in a message: wrong
 * case, missing, doubled or extra segments and slashes, a spelling mistake. Empty if none is near.
 *
 * @example suggestPath(parseTarget('/pets/1/')) // ' (did you mean /v1/pets/1?)'
 */
function suggestPath({ mount, below }: Target): string {
  const segments = below
    .split('/')
    .filter((segment) => segment !== '' && `/${segment.toLowerCase()}` !== BASE_PATH);
  const [last, before] = segments.toReversed();
  const base = mount + BASE_PATH;
  if (last === undefined) return ` (did you mean ${base}${PATHS[0]}?)`;
  const paths = PATHS.map((path) => path.replace(/\{\w+\}$/, () => last));
  const meant = paths.find((path, at) => {
    const end = path === PATHS[at] ? `/${last}` : `/${before}/${last}`;
    return path.toLowerCase().endsWith(end.toLowerCase());
  });
  if (meant !== undefined) return ` (did you mean ${base}${meant}?)`;
  const alike = paths.filter((path) => path.split('/').length === segments.length + 1);
  const candidates = alike.map((path) => base + path);
  return suggest(`${base}/${segments.join('/').toLowerCase()}`, candidates);
}

/** @returns undefined if the journal has dropped its body */
export function recreateRequest(exchange: Exchange): ServiceRequest | undefined {
  const { number, method, authorization, request, operation, target: whole } = exchange;
  if (isDropped(request)) return undefined;
  const headers: Record<string, string> = {};
  for (let at = 0; at < request.headers.length; at += 2) {
    const [name = '', value = ''] = request.headers.slice(at, at + 2);
    const earlier = headers[name.toLowerCase()];
    headers[name.toLowerCase()] = earlier === undefined ? value : `${earlier}, ${value}`;
  }
  // The mount of an embedding app is not part of the service's path. Nothing else precedes an operation.
  const mount = operation === undefined ? '' : parseAddress(whole.replace(/\?.*/s, '')).root;
  const url = whole.slice(mount.length);
  const head = { method, headers, rawHeaders: request.headers, mount, port: undefined };
  const { body } = request;
  const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
  const received: RequestBody = bytes === undefined ? { kind: 'none' } : new BodyBytes(bytes);
  const target = parseTarget(url);
  const receivedAt = performance.now();
  return {
    ...createServiceRequest({ ...head, receivedAt }, target, authorization, received),
    replays: number,
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
    received({ kind: 'none' });
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
    if (only === undefined) received({ kind: 'none' });
    else received(new BodyBytes(chunks.length === 1 ? only : Buffer.concat(chunks, size)));
  };
  request.on('data', onData).on('end', onEnd);
}

function findParsedBody(request: IncomingMessage, limit: number): RequestBody {
  const body: unknown = 'body' in request ? request.body : undefined;
  if (body === undefined) return { kind: 'none' };
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
