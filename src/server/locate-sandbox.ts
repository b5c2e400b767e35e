import { DEFAULT_SANDBOX, NAME_PATTERN } from '../core/limits.ts';
import { Sandbox } from '../core/sandbox/sandbox.ts';
import { refuseName, refuseRequest, type Sandboxes } from '../core/sandbox/sandboxes.ts';
import { StorageError } from '../core/sandbox/storage-error.ts';
import type { RequestHeaders } from '../core/service/input.ts';
import { bearerToken, isListedKey } from '../core/service/keyring.ts';
import { refuseKey } from '../core/service/operation.ts';
import type { Reply } from '../core/service/reply.ts';

/** The sandbox that a request addresses. */
export interface SandboxLocation {
  readonly sandbox: Sandbox;
  /** The header without the sandbox name in its token. */
  readonly authorization: string | undefined;
  /** Set if the sandbox's name is invalid, or similar: the default sandbox sends this reply. */
  readonly refusal?: Reply;
  /** Set if the key is invalid and the sandbox is unknown; sent if an operation is called. */
  readonly keyRefusal?: Reply;
}

/** Finds the sandbox by the path, else by the key, else by `Mock-Sandbox`; else the default one. */
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
  // An invalid name is an error, even in a place that does not decide.
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

/** Splits a token `KEY~NAME`, unless the whole token is a key that the named sandbox accepts. */
function splitKey(
  sandboxes: Sandboxes,
  inPath: string | undefined,
  inHeader: string | undefined,
  authorization: string | undefined,
): readonly [authorization: string | undefined, name?: string] {
  if (!authorization?.includes('~')) return [authorization];
  const sandbox = sandboxes.peek(inPath ?? inHeader ?? DEFAULT_SANDBOX) ?? sandboxes.default;
  const { keys } = sandbox.state.settings;
  // Keys of a deployment are unknown here, so `~` may be a part of them.
  const isWhole =
    (inPath !== undefined && sandboxes.upstream !== undefined) || isListedKey(keys, authorization);
  if (isWhole || bearerToken(authorization) === undefined) return [authorization];
  const tilde = authorization.lastIndexOf('~');
  return [authorization.slice(0, tilde), authorization.slice(tilde + 1)];
}
