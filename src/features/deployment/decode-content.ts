import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { findHeader, isCoded, type RawHeaders } from '../../core/raw-http.ts';

const DECODERS = new Map([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
]);

/** Undefined for an unknown or broken coding (RFC 9110, section 8.4), and for more bytes. */
export function decodeContent(
  bytes: Uint8Array,
  headers: RawHeaders,
  maxBytes: number,
): Uint8Array | undefined {
  if (!isCoded(headers) || bytes.length === 0) return bytes;
  const coding = findHeader(headers, 'content-encoding')?.trim().toLowerCase() ?? '';
  try {
    return DECODERS.get(coding)?.(bytes, { maxOutputLength: maxBytes });
  } catch {
    return undefined;
  }
}
