import type { IncomingHttpHeaders } from 'node:http';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { SANDBOX_NAME, type Sandboxes } from '../sandbox/sandboxes.ts';
import { errorReply, Grounds, type Reply } from '../service/reply.ts';

/** Where a request goes. */
export interface Location {
  readonly sandbox: Sandbox;
  /** The `Authorization` header, without the name of a sandbox in its token. */
  readonly authorization: string | undefined;
  /** Why it cannot go there; it is answered so in the default sandbox. */
  readonly refusal: Reply | undefined;
}

/**
 * Finds the sandbox that a request names: in its path, else in its key, else in its `Mock-Sandbox`
 * header. Without a name it is the default one.
 *
 * @param inPath the name in the path
 */
export function locate(
  sandboxes: Sandboxes,
  inPath: string | undefined,
  headers: IncomingHttpHeaders,
): Location {
  let { authorization } = headers;
  const inHeader = headers['mock-sandbox'];
  let name = inPath ?? (inHeader === undefined ? undefined : String(inHeader));
  if (authorization?.includes('~') && !isKnownKey(sandboxes, name, authorization)) {
    const split = splitKey(authorization);
    if (split !== undefined) {
      authorization = split.key;
      name = inPath ?? split.name;
    }
  }
  if (name === undefined && !sandboxes.required) {
    return { sandbox: sandboxes.default, authorization, refusal: undefined };
  }
  const refused = (refusal: Reply): Location => ({
    sandbox: sandboxes.default,
    authorization,
    refusal,
  });
  const grounds = new Grounds(sandboxes.default.world.choices);
  if (name === undefined) return refused(nameRequired(grounds));
  if (!SANDBOX_NAME.test(name)) return refused(nameInvalid(grounds, name));
  const sandbox = sandboxes.find(name);
  if (sandbox === undefined) return refused(tooMany(grounds, name, sandboxes.most));
  return { sandbox, authorization, refusal: undefined };
}

/** A key can have a `~` of its own, which the sandbox knows that is named otherwise. */
function isKnownKey(
  sandboxes: Sandboxes,
  name: string | undefined,
  authorization: string,
): boolean {
  if (name === undefined) return sandboxes.default.world.keys.expected.has(authorization);
  // Not made yet where it is new: the key may name another one.
  const known = sandboxes.has(name) ? sandboxes.find(name)?.world : sandboxes.startOf(name);
  return known?.keys.expected.has(authorization) === true;
}

/** Takes a token that ends in the name of a sandbox apart: `KEY~NAME`. */
function splitKey(authorization: string): { key: string; name: string } | undefined {
  const tilde = authorization.lastIndexOf('~');
  const name = authorization.slice(tilde + 1);
  if (!/^Bearer /i.test(authorization) || !SANDBOX_NAME.test(name)) return undefined;
  return { key: authorization.slice(0, tilde), name };
}

function nameRequired(grounds: Grounds): Reply {
  const how = 'in the path (/~NAME/v1), in the key (KEY~NAME) or in the header Mock-Sandbox: NAME';
  return errorReply(grounds, 'sandbox_required', 400, `name a sandbox: ${how}`);
}

function nameInvalid(grounds: Grounds, name: string): Reply {
  const expected = 'expected 1 to 64 of a-z A-Z 0-9 . _ -';
  const message = `the name of a sandbox: ${expected}, found ${JSON.stringify(name.slice(0, 100))}`;
  return errorReply(grounds, 'sandbox_name_invalid', 400, message);
}

function tooMany(grounds: Grounds, name: string, most: number): Reply {
  const message = `there are ${most} sandboxes, as many as there may be: ${name} is not made. Delete some, or allow more with --max-sandboxes`;
  return errorReply(grounds, 'too_many_sandboxes', 503, message);
}
