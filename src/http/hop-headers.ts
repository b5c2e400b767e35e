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
  const kept: string[] = [];
  let named: Set<string> | undefined;
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]];
    const known = name.toLowerCase();
    if (known === 'connection' && !NAMES_NONE.test(value)) {
      named ??= new Set();
      for (const each of value.split(',')) named.add(each.trim().toLowerCase());
    }
    if (!OF_ONE_HOP.has(known) && !dropped.has(known)) kept.push(name, value);
  }
  return named === undefined ? kept : without(kept, named);
}

/** What `Connection` says besides naming headers. */
const NAMES_NONE = /^(?:close|keep-alive)$/i;

/** Leaves out headers by their names in lower case. */
export function without(headers: readonly string[], names: ReadonlySet<string>): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]];
    if (!names.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
