const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const strict = new TextDecoder('utf-8', { fatal: true });

const scratch = new Uint8Array(8192);

/** In UTF-8. */
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
  // A tenth of the time of `every` and of `for … of`.
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
