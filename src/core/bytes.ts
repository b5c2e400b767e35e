const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const strict = new TextDecoder('utf-8', { fatal: true });

const scratch = new Uint8Array(8192);

/** How many bytes a text has in UTF-8. */
export function byteLength(text: string): number {
  let size = 0;
  let rest = text;
  while (true) {
    const { read, written } = encoder.encodeInto(rest, scratch);
    size += written;
    if (read === rest.length) return size;
    rest = rest.slice(read);
  }
}

export function toBytes(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Invalid bytes become U+FFFD. A byte order mark stays, so that JSON refuses it. */
export function toText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    strict.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

export function isAscii(bytes: Uint8Array): boolean {
  // `every` and `for … of` are far slower than a plain loop over a large body.
  for (let at = 0; at < bytes.length; at += 1) if ((bytes[at] ?? 0) >= 0x80) return false;
  return true;
}

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * A 53-bit hash (cyrb53) that tells texts apart. It does not resist an attacker, but the hashes of
 * the web platform are asynchronous.
 */
export function hashOf(...parts: readonly (string | Uint8Array)[]): string {
  let [one, other] = [0xdeadbeef, 0x41c6ce57];
  for (const part of parts) {
    for (let at = 0; at < part.length; at += 1) {
      const unit = typeof part === 'string' ? part.charCodeAt(at) : (part[at] ?? 0);
      one = Math.imul(one ^ unit, 2654435761);
      other = Math.imul(other ^ unit, 1597334677);
    }
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909);
  other = Math.imul(other ^ (other >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return ((other >>> 0) * 2 ** 21 + ((one >>> 0) >>> 11)).toString(36);
}
