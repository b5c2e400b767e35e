import type { ErrorCode, StatusOf } from '../contract/error-codes.ts';
import {
  BASE_PATH,
  OPERATION_IDS,
  type OperationId,
  operationShape,
} from '../contract/operations.ts';
import { parseQuery, type Target } from '../contract/target.ts';
import { DEFAULT_SANDBOX, NAME_FORM, NAME_PATTERN } from '../limits.ts';
import type { Call, RequestBody, RequestHeaders } from '../service/input.ts';
import { bearerToken, isListedKey } from '../service/keyring.ts';
import { refuseKey, type UnknownRoute } from '../service/operation.ts';
import { AssumptionTrace, errorReply, type Reply } from '../service/reply.ts';
import { describe, suggest } from '../words.ts';
import type { ServiceRequest } from './exchange.ts';
import { StorageError } from './persistence.ts';
import { Sandbox } from './sandbox.ts';
import type { Sandboxes } from './sandboxes.ts';

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
    route: operation === undefined ? describeRoute(head, target) : undefined,
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

function describeRoute({ method, headers }: RequestHead, target: Target): UnknownRoute {
  const asked = headers['access-control-request-method'];
  const isPreflight = method === 'OPTIONS' && headers.origin !== undefined && asked !== undefined;
  return {
    method,
    path: target.path,
    allow: target.route?.allow,
    hint: target.route === undefined ? suggestPath(target) : '',
    preflight: isPreflight
      ? {
          method: asked.toString(),
          headers: headers['access-control-request-headers']?.toString(),
        }
      : undefined,
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

/** The sandbox that a request is for. */
export interface SandboxLocation {
  readonly sandbox: Sandbox;
  /** The `Authorization` header, without the sandbox name in its token. */
  readonly authorization: string | undefined;
  /** The default sandbox then answers with it. */
  readonly refusal?: Reply;
  /** The same, if the request calls an operation. */
  readonly keyRefusal?: Reply;
}

/** The path names the sandbox, else the key, else the header `Mock-Sandbox`, else it is the default one. */
export function locateSandbox(
  sandboxes: Sandboxes,
  inPath: string | undefined,
  { authorization: sent, 'mock-sandbox': header }: RequestHeaders,
): SandboxLocation {
  const inHeader = header?.toString();
  const [authorization, inKey] = splitKey(sandboxes, inPath, inHeader, sent?.toString());
  const name = inPath ?? inKey ?? inHeader;
  const sandbox = sandboxes.default;
  if (name === undefined) {
    if (!sandboxes.required) return { sandbox, authorization };
    const how =
      'in the path (/~NAME/v1), in the key (KEY~NAME) or in the header Mock-Sandbox: NAME';
    const refusal = refuseRequest(sandboxes, 'sandbox_required', 400, `name a sandbox: ${how}`);
    return { sandbox, authorization, refusal };
  }
  // A wrong name is a mistake, also where another one decides.
  const given = [inKey, inHeader, name];
  const wrong = given.find((text) => text !== undefined && !NAME_PATTERN.test(text));
  if (wrong !== undefined) {
    return { sandbox, authorization, refusal: refuseName(sandboxes, wrong) };
  }
  try {
    const admitted = sandboxes.admit(name, authorization);
    if (admitted instanceof Sandbox) return { sandbox: admitted, authorization };
    return { sandbox, authorization, keyRefusal: refuseKey(sandbox.state.settings, admitted) };
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    const refusal = refuseRequest(sandboxes, error.code, 503, error.refusal);
    return { sandbox, authorization, refusal };
  }
}

/** Splits a token of the form `KEY~NAME`, unless the whole token is a key of the named sandbox. */
function splitKey(
  sandboxes: Sandboxes,
  inPath: string | undefined,
  inHeader: string | undefined,
  authorization: string | undefined,
): readonly [authorization: string | undefined, name?: string] {
  if (!authorization?.includes('~')) return [authorization];
  const sandbox = sandboxes.find(inPath ?? inHeader ?? DEFAULT_SANDBOX) ?? sandboxes.default;
  const { keys } = sandbox.state.settings;
  // The mock does not know the keys of a deployment.
  const isWhole =
    (inPath !== undefined && sandboxes.upstream !== undefined) || isListedKey(keys, authorization);
  if (isWhole || bearerToken(authorization) === undefined) return [authorization];
  const tilde = authorization.lastIndexOf('~');
  return [authorization.slice(0, tilde), authorization.slice(tilde + 1)];
}

export function refuseName(sandboxes: Sandboxes, name: string): Reply {
  const message = `sandbox name: expected ${NAME_FORM}, found ${describe(name)}`;
  return refuseRequest(sandboxes, 'sandbox_name_invalid', 400, message);
}

function refuseRequest<C extends ErrorCode>(
  { default: sandbox }: Sandboxes,
  code: C,
  status: StatusOf<C>,
  message: string,
): Reply {
  return errorReply(new AssumptionTrace(sandbox.state.settings.choices), code, status, message);
}
