/**
 * A hash of texts and bytes, to tell contents apart that nobody made to collide: cyrb53, 53 bits.
 * Web standards have no synchronous one.
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
