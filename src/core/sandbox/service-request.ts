import type { ErrorCode, StatusOf } from '../contract/error-codes.ts';
import type { OperationId } from '../contract/operations.ts';
import { parseQuery, type Target } from '../contract/target.ts';
import { DEFAULT_SANDBOX, NAME_FORM, NAME_PATTERN } from '../limits.ts';
import type { Call, RequestBody, RequestHeaders } from '../service/input.ts';
import { bearerToken, isListedKey } from '../service/keyring.ts';
import { refuseKey } from '../service/operation.ts';
import { AssumptionTrace, errorReply, type Reply } from '../service/reply.ts';
import { describeRoute } from '../service/unknown-route.ts';
import { describe } from '../words.ts';
import type { ServiceRequest } from './exchange.ts';
import { Sandbox } from './sandbox.ts';
import type { Sandboxes } from './sandboxes.ts';
import { StorageError } from './storage-error.ts';

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
