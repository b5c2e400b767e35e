/** Headers that belong to one connection (RFC 9110, sections 7.6.1 and 11.7). */
const OF_ONE_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/**
 * The headers that are passed on, as they were written: all but those of one connection, which
 * `Connection` can add to.
 *
 * @param headers names and values in turn
 * @param dropped names of others to leave out, in lower case
 */
export function passedOn(headers: readonly string[], dropped: ReadonlySet<string>): string[] {
  const named = headers
    .filter((_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'connection')
    .flatMap((value) => value.toLowerCase().split(','))
    .map((name) => name.trim());
  return without(headers, new Set([...OF_ONE_HOP, ...dropped, ...named]));
}

/** Leaves out headers by their names in lower case. */
export function without(headers: readonly string[], names: ReadonlySet<string>): string[] {
  return headers.filter((_, at) => !names.has(headers[at - (at % 2)]?.toLowerCase() ?? ''));
}
