/** Headers as they are written: names and values alternate. */
export type RawHeaders = readonly string[];

/** The first value of a header; `name` in lower case. */
export function findHeader(headers: RawHeaders, name: string): string | undefined {
  return headers.find((_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === name);
}

/** Leaves out headers by their names in lower case. */
export function withoutHeaders(headers: RawHeaders, names: ReadonlySet<string>): string[] {
  return headers.filter((_, at) => !names.has(headers[at - (at % 2)]?.toLowerCase() ?? ''));
}

/** Headers that belong to one connection (RFC 9110, sections 7.6.1 and 11.7). */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
];

/**
 * The headers that are passed on, as they were written: all but those of one connection, which
 * `Connection` can add to.
 *
 * @param dropped names of others to leave out, in lower case
 */
export function endToEndHeaders(headers: RawHeaders, dropped: readonly string[]): string[] {
  const named = headers
    .filter((_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'connection')
    .flatMap((value) => value.toLowerCase().split(','))
    .map((name) => name.trim());
  return withoutHeaders(headers, new Set([...HOP_BY_HOP, ...dropped, ...named]));
}

/**
 * Takes a body out of its content coding (RFC 9110, section 8.4).
 *
 * @param maxBytes of the result
 * @returns undefined for an unknown or broken coding, and for more bytes
 */
export function decodeContent(
  bytes: Buffer,
  headers: RawHeaders,
  maxBytes: number,
): Buffer | undefined {
  const coding = findHeader(headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (coding === 'identity' || bytes.length === 0) return bytes;
  const { gunzipSync, inflateSync, brotliDecompressSync } = process.getBuiltinModule('node:zlib');
  const decoders = new Map([
    ['gzip', gunzipSync],
    ['x-gzip', gunzipSync],
    ['deflate', inflateSync],
    ['br', brotliDecompressSync],
  ]);
  try {
    return decoders.get(coding)?.(bytes, { maxOutputLength: maxBytes });
  } catch {
    return undefined;
  }
}
