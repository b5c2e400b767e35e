import { createReadStream } from 'node:fs';
import { crc32 } from 'node:zlib';

/** Identifies the content of a file. */
export interface Fingerprint {
  /** In bytes. */
  readonly size: number;
  readonly crc32: number;
}

/** The fingerprint of an empty file. */
export const EMPTY: Fingerprint = { size: 0, crc32: 0 };

/** The fingerprint after these bytes are appended. */
export function extended({ size, crc32: before }: Fingerprint, bytes: Buffer): Fingerprint {
  return { size: size + bytes.length, crc32: crc32(bytes, before) };
}

/** The fingerprint of a file. Reads it in turns with other requests. */
export async function fingerprintOf(path: string): Promise<Fingerprint> {
  let fingerprint = EMPTY;
  for await (const bytes of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    fingerprint = extended(fingerprint, bytes);
  }
  return fingerprint;
}

export function isSame(one: Fingerprint, other: Fingerprint): boolean {
  return one.size === other.size && one.crc32 === other.crc32;
}
