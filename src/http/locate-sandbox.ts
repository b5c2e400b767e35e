import type { IncomingHttpHeaders } from 'node:http';
import { sandboxLimitReached } from '../sandbox/keeper.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import { DEFAULT_SANDBOX, SANDBOX_NAME, SANDBOX_NAME_FORM } from '../sandbox/sandbox-names.ts';
import type { Sandboxes } from '../sandbox/sandboxes.ts';
import type { State } from '../sandbox/state.ts';
import { bearerToken, isListedKey } from '../service/keyring.ts';
import { errorReply, Grounds, type Reply } from '../service/reply.ts';
import { describe } from '../words.ts';

/** Where a request goes. */
interface Location {
  readonly sandbox: Sandbox;
  /** The `Authorization` header, without the sandbox name in its token. */
  readonly authorization: string | undefined;
  /** Why the request is refused; the default sandbox then answers with it. */
  readonly refusal?: Reply;
  /** What the default sandbox answers from, in place of a sandbox that does not exist. */
  readonly initial?: State;
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
  const split = splitKey(sandboxes, inPath ?? inHeader, headers.authorization);
  const authorization = split?.authorization ?? headers.authorization;
  const name = inPath ?? split?.name ?? inHeader;
  if (name === undefined) {
    const { default: sandbox, required } = sandboxes;
    if (!required) return { sandbox, authorization };
    return { sandbox, authorization, refusal: nameRequired(sandboxes) };
  }
  // A wrong name is a mistake, also where another one decides.
  const isWrong = (it: string | undefined): boolean => it !== undefined && !SANDBOX_NAME.test(it);
  const wrong = [split?.name, inHeader, name].find(isWrong);
  const entered =
    wrong === undefined
      ? (sandboxes.enter(name, authorization) ?? tooMany(sandboxes, name))
      : nameInvalid(sandboxes, wrong);
  if (entered instanceof Sandbox) return { sandbox: entered, authorization };
  const sandbox = sandboxes.default;
  return 'store' in entered
    ? { sandbox, authorization, initial: entered }
    : { sandbox, authorization, refusal: entered };
}

/**
 * Finds a sandbox by its name, or creates it.
 *
 * @returns a refusal if the name is invalid or there are too many sandboxes
 */
export function locateByName(sandboxes: Sandboxes, name: string): Sandbox | Reply {
  if (!SANDBOX_NAME.test(name)) return nameInvalid(sandboxes, name);
  return sandboxes.find(name) ?? tooMany(sandboxes, name);
}

function tooMany(sandboxes: Sandboxes, name: string): Reply {
  const { message } = sandboxLimitReached(sandboxes.most, name);
  return errorReply(groundsOf(sandboxes), 'too_many_sandboxes', 503, message);
}

/** Splits a token of the form `KEY~NAME`, unless the whole token is a key of the named sandbox. */
function splitKey(
  sandboxes: Sandboxes,
  named: string | undefined,
  authorization: string | undefined,
): { readonly authorization: string; readonly name: string } | undefined {
  if (!authorization?.includes('~')) return undefined;
  const keys = sandboxes.keysOf(named ?? DEFAULT_SANDBOX);
  if (isListedKey(keys, authorization) || bearerToken(authorization) === undefined) {
    return undefined;
  }
  const tilde = authorization.lastIndexOf('~');
  return { authorization: authorization.slice(0, tilde), name: authorization.slice(tilde + 1) };
}

function nameRequired(sandboxes: Sandboxes): Reply {
  const how = 'in the path (/~NAME/v1), in the key (KEY~NAME) or in the header Mock-Sandbox: NAME';
  return errorReply(groundsOf(sandboxes), 'sandbox_required', 400, `name a sandbox: ${how}`);
}

/** The reply to a malformed sandbox name. */
export function nameInvalid(sandboxes: Sandboxes, name: string): Reply {
  const message = `sandbox name: expected ${SANDBOX_NAME_FORM}, found ${describe(name)}`;
  return errorReply(groundsOf(sandboxes), 'sandbox_name_invalid', 400, message);
}

function groundsOf(sandboxes: Sandboxes): Grounds {
  return new Grounds(sandboxes.default.state.settings.choices);
}
