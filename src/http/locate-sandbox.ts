import type { IncomingHttpHeaders } from 'node:http';
import { NAME_FORM, NAME_PATTERN } from '../limits.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import { DEFAULT_SANDBOX } from '../sandbox/sandbox-names.ts';
import type { Sandboxes } from '../sandbox/sandboxes.ts';
import { StorageError } from '../sandbox/storage.ts';
import { bearerToken, isListedKey } from '../service/keyring.ts';
import { refuseKey } from '../service/operation.ts';
import { AssumptionTrace, errorReply, type Reply } from '../service/reply.ts';
import { describe } from '../words.ts';

/** Where a request goes. */
export interface Location {
  readonly sandbox: Sandbox;
  /** The `Authorization` header, without the sandbox name in its token. */
  readonly authorization: string | undefined;
  /** Why the request is refused; the default sandbox then answers with it. */
  readonly refusal?: Reply | undefined;
  /** Why an operation is refused. */
  readonly keyRefusal?: Reply | undefined;
}

/**
 * Finds the sandbox that a service request names: in its path, else in its key, else in its
 * `Mock-Sandbox` header. Without a name it is the default sandbox.
 *
 * @param inPath the name in the path
 */
export function locateSandbox(
  sandboxes: Sandboxes,
  inPath: string | undefined,
  headers: IncomingHttpHeaders,
): Location {
  const header = headers['mock-sandbox'];
  const inHeader = header === undefined ? undefined : String(header);
  const split = splitKey(sandboxes, inPath, inHeader, headers.authorization);
  const authorization = split?.authorization ?? headers.authorization;
  const name = inPath ?? split?.name ?? inHeader;
  const refuse = (refusal: Reply): Location => ({
    sandbox: sandboxes.default,
    authorization,
    refusal,
  });
  if (name === undefined) {
    if (sandboxes.required) return refuse(nameRequired(sandboxes));
    return { sandbox: sandboxes.default, authorization };
  }
  // A wrong name is a mistake, also where another one decides.
  const given = [split?.name, inHeader, name];
  const wrong = given.find((text) => text !== undefined && !NAME_PATTERN.test(text));
  if (wrong !== undefined) return refuse(nameInvalid(sandboxes, wrong));
  try {
    const admitted = sandboxes.admit(name, authorization);
    if (admitted instanceof Sandbox) return { sandbox: admitted, authorization };
    const sandbox = sandboxes.default;
    return { sandbox, authorization, keyRefusal: refuseKey(sandbox.state.settings, admitted) };
  } catch (error) {
    if (error instanceof StorageError) return refuse(tooMany(sandboxes, error));
    throw error;
  }
}

/**
 * The sandbox of a name, created if it is new.
 *
 * @returns a refusal if the name is invalid or there are too many sandboxes
 */
export function getOrCreate(sandboxes: Sandboxes, name: string): Sandbox | Reply {
  if (!NAME_PATTERN.test(name)) return nameInvalid(sandboxes, name);
  try {
    return sandboxes.getOrCreate(name);
  } catch (error) {
    if (error instanceof StorageError) return tooMany(sandboxes, error);
    throw error;
  }
}

function tooMany(sandboxes: Sandboxes, { code, refusal }: StorageError): Reply {
  return errorReply(startTrace(sandboxes), code, 503, refusal);
}

/** Splits a token of the form `KEY~NAME`, unless the whole token is a key of the named sandbox. */
function splitKey(
  sandboxes: Sandboxes,
  inPath: string | undefined,
  inHeader: string | undefined,
  authorization: string | undefined,
): { readonly authorization: string; readonly name: string } | undefined {
  if (!authorization?.includes('~')) return undefined;
  const sandbox = sandboxes.find(inPath ?? inHeader ?? DEFAULT_SANDBOX) ?? sandboxes.default;
  const { keys, upstream } = sandbox.state.settings;
  // The mock does not know the keys of a deployment.
  if (inPath !== undefined && upstream !== undefined) return undefined;
  if (isListedKey(keys, authorization) || bearerToken(authorization) === undefined) {
    return undefined;
  }
  const tilde = authorization.lastIndexOf('~');
  return { authorization: authorization.slice(0, tilde), name: authorization.slice(tilde + 1) };
}

function nameRequired(sandboxes: Sandboxes): Reply {
  const how = 'in the path (/~NAME/v1), in the key (KEY~NAME) or in the header Mock-Sandbox: NAME';
  return errorReply(startTrace(sandboxes), 'sandbox_required', 400, `name a sandbox: ${how}`);
}

/** The reply to a malformed sandbox name. */
export function nameInvalid(sandboxes: Sandboxes, name: string): Reply {
  const message = `sandbox name: expected ${NAME_FORM}, found ${describe(name)}`;
  return errorReply(startTrace(sandboxes), 'sandbox_name_invalid', 400, message);
}

function startTrace(sandboxes: Sandboxes): AssumptionTrace {
  return new AssumptionTrace(sandboxes.default.state.settings.choices);
}
