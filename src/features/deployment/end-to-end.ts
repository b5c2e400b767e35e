import { type RawHeaders, withoutHeaders } from '../../core/raw-http.ts';

/** Headers that belong to one connection (RFC 9110, sections 7.6.1 and 11.7). */
export const HOP_BY_HOP: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
];

/** @param dropped in lower case; a `Connection` header adds to them */
export function endToEndHeaders(headers: RawHeaders, dropped: ReadonlySet<string>): string[] {
  const passed: string[] = [];
  const named: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]];
    const lower = name.toLowerCase();
    if (lower === 'connection') named.push(...value.toLowerCase().split(/[\s,]+/));
    if (!dropped.has(lower)) passed.push(name, value);
  }
  return named.length === 0 ? passed : withoutHeaders(passed, new Set(named));
}
