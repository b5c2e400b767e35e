/** The Bearer scheme (RFC 6750, section 2.1). */
const BEARER = /^Bearer(?: +(.*))?$/i;

/** Returns the token of an `Authorization` header: empty if missing, undefined for another scheme. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const bearer = BEARER.exec(authorization);
  return bearer === null ? undefined : (bearer[1] ?? '').trim();
}
