import { DEFAULT_SANDBOX, NAME_PATTERN } from '../core/limits.ts';
import { Sandbox } from '../core/sandbox/sandbox.ts';
import { refuseName, refuseRequest, type Sandboxes } from '../core/sandbox/sandboxes.ts';
import { StorageError } from '../core/sandbox/storage-error.ts';
import type { RequestHeaders } from '../core/service/input.ts';
import { bearerToken, isListedKey } from '../core/service/keyring.ts';
import { refuseKey } from '../core/service/operation.ts';
import type { Reply } from '../core/service/reply.ts';

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
    if (!sandboxes.options.sandboxRequired) return { sandbox, authorization };
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
    const refusal = refuseRequest(sandboxes, error.code, 503, error.consequence);
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
