import { MOST_HELD } from './pass-on.ts';

/**
 * Takes a body out of its content coding (RFC 9110, section 8.4).
 *
 * @returns undefined for an unknown or broken coding, and for more than may be held
 */
export function decodeContent(bytes: Buffer, headers: readonly string[]): Buffer | undefined {
  const at = headers.findIndex(
    (name, index) => index % 2 === 0 && /^content-encoding$/i.test(name),
  );
  const coding = at < 0 ? 'identity' : (headers[at + 1] ?? '').trim().toLowerCase();
  if (coding === 'identity' || bytes.length === 0) return bytes;
  const zlib = process.getBuiltinModule('node:zlib');
  const limit = { maxOutputLength: MOST_HELD };
  try {
    switch (coding) {
      case 'gzip':
      case 'x-gzip':
        return zlib.gunzipSync(bytes, limit);
      case 'deflate':
        return zlib.inflateSync(bytes, limit);
      case 'br':
        return zlib.brotliDecompressSync(bytes, limit);
    }
  } catch {
    // The client gets it as it is.
  }
  return undefined;
}
