import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  BASE_PATH,
  OPERATION_IDS,
  type OperationId,
  type OperationShape,
  operationShape,
} from '../contract/operations.ts';
import { type ReceivedBody, ReceivedBytes } from '../service/received-body.ts';
import { askForBody } from './expect.ts';

/** A path of the service and its operations. */
export interface Route {
  readonly operations: ReadonlyMap<string, OperationId>;
  /** The value of `Allow` (RFC 9110, section 10.2.1). */
  readonly allow: string;
}

/** The parts of a request target (RFC 9112, section 3.2). */
export interface Target {
  /** The whole of it, as the client wrote it. */
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

const routes = new Map<string, Route>();
/** Routes that end in a parameter, by what stands before it. */
const routesWithParameter = new Map<string, Route>();

for (const id of OPERATION_IDS) {
  const { method, path }: OperationShape = operationShape(id);
  const parameter = path.indexOf('{');
  const [table, key] =
    parameter < 0
      ? [routes, BASE_PATH + path]
      : [routesWithParameter, BASE_PATH + path.slice(0, parameter)];
  const operations = new Map(table.get(key)?.operations).set(method, id);
  const methods = [...operations.keys()].flatMap((name) =>
    name === 'GET' ? ['GET', 'HEAD'] : [name],
  );
  table.set(key, { operations, allow: [...methods, 'OPTIONS'].join(', ') });
}

const NO_QUERY: Target['query'] = [];
const AUTHORITY = /^https?:\/\/[^/?#]*/i;
/** A sandbox in a path, well-formed or not. */
const SANDBOX = /^\/~([^/]*)(?=\/)/;

/**
 * Targets that were split before, since clients repeat them: each place holds its latest.
 * A power of two.
 */
const PLACES = 1024;
const LONGEST_TARGET = 256;
const targets: (Target | undefined)[] = new Array(PLACES).fill(undefined);

/** Splits a request target, in origin or absolute form. */
export function decodeTarget(url: string): Target {
  if (url.length > LONGEST_TARGET) return takeApart(url);
  const place = placeOf(url);
  const known = targets[place];
  if (known !== undefined && known.url === url) return known;
  const target = takeApart(url);
  targets[place] = target;
  return target;
}

/** The place of a target, from its last digits: consecutive ids get consecutive places. */
function placeOf(url: string): number {
  let number = 0;
  let scale = 1;
  let at = url.length - 1;
  for (; at >= 0 && scale < 10_000; at -= 1) {
    const digit = url.charCodeAt(at) - DIGIT_ZERO;
    if (digit < 0 || digit > 9) break;
    number += digit * scale;
    scale *= 10;
  }
  return (number + 37 * at) & (PLACES - 1);
}

const DIGIT_ZERO = 48;

function takeApart(url: string): Target {
  const target = url.startsWith('/') ? url : url.replace(AUTHORITY, '') || '/';
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const sandbox = path.startsWith('/~') ? SANDBOX.exec(path) : null;
  const { route, pathId } = findRoute(sandbox === null ? path : path.slice(sandbox[0].length));
  return {
    url,
    sandbox: sandbox?.[1],
    path,
    query: mark < 0 || mark === target.length - 1 ? NO_QUERY : decodeQuery(target.slice(mark + 1)),
    route,
    pathId,
  };
}

function findRoute(written: string): Pick<Target, 'route' | 'pathId'> {
  const path = written.includes('%') ? written.split('/').map(decodeSegment).join('/') : written;
  const route = routes.get(path);
  if (route !== undefined) return { route, pathId: undefined };
  const slash = path.lastIndexOf('/') + 1;
  const pathId = path.slice(slash);
  if (pathId === '') return { route: undefined, pathId: undefined };
  return { route: routesWithParameter.get(path.slice(0, slash)), pathId };
}

/** Leaves an invalid encoding, or one of a separator, as it is. */
function decodeSegment(segment: string): string {
  try {
    const decoded = decodeURIComponent(segment);
    return decoded.includes('/') ? segment : decoded;
  } catch {
    return segment;
  }
}

const PLAIN_QUERY = /^[\w.~-]+=[\w.~-]*(?:&[\w.~-]+=[\w.~-]*)*$/;

function decodeQuery(text: string): Target['query'] {
  if (!PLAIN_QUERY.test(text)) return [...new URLSearchParams(text)];
  return text.split('&').map((pair) => {
    const equals = pair.indexOf('=');
    return [pair.slice(0, equals), pair.slice(equals + 1)];
  });
}

/**
 * Receives a request's body, up to `limit` bytes. Asks the client for it if it holds the body back.
 *
 * @param received never called if the client leaves before the body is complete
 * @throws Error if a body parser of the embedding app has rounded a number
 */
export function receiveBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
  received: (body: ReceivedBody) => void,
): void {
  const length = request.headers['content-length'];
  if (
    length === '0' ||
    (length === undefined && request.headers['transfer-encoding'] === undefined)
  ) {
    received({ kind: 'none' });
    return;
  }
  if (length !== undefined && Number(length) > limit) {
    received({ kind: 'too-large', limit });
    return;
  }
  if (request.readableEnded) {
    received(readBefore(request, limit));
    return;
  }
  askForBody(request, response);
  const chunks: Buffer[] = [];
  let size = 0;
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    if (size <= limit) {
      chunks.push(chunk);
      return;
    }
    request.off('data', onData).off('end', onEnd).resume();
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
