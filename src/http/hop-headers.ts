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

/** What `Connection` says besides naming headers. */
const NAMES_NONE = /^(?:close|keep-alive)$/i;

/**
 * The headers that are passed on, as they were written: all but those of one connection, which
 * `Connection` can add to.
 *
 * @param headers names and values in turn
 * @param dropped names of others to leave out, in lower case
 */
export function passedOn(headers: readonly string[], dropped: ReadonlySet<string>): string[] {
  const end = without(headers, OF_ONE_HOP);
  const kept = dropped.size > 0 ? without(end, dropped) : end;
  const named = new Set<string>();
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const value = headers[at + 1] ?? '';
    if (NAMES_NONE.test(value) || headers[at]?.toLowerCase() !== 'connection') continue;
    for (const name of value.split(',')) named.add(name.trim().toLowerCase());
  }
  return named.size > 0 ? without(kept, named) : kept;
}

/** Leaves out headers by their names in lower case. */
export function without(headers: readonly string[], names: ReadonlySet<string>): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]];
    if (!names.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}

/** Whether there is a header; `name` in lower case. */
export function hasHeader(headers: readonly string[], name: string): boolean {
  return headers.some((text, at) => at % 2 === 0 && text.toLowerCase() === name);
}
