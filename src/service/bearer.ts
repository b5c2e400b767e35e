/** The Bearer scheme (RFC 6750, section 2.1). */
const BEARER = /^Bearer(?: +(.*))?$/i;

/** The token in an `Authorization` header, empty if it has none; undefined for another scheme. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const bearer = BEARER.exec(authorization);
  return bearer === null ? undefined : (bearer[1] ?? '').trim();
}
