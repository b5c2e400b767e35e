/** A value of a known size. */
interface Sized {
  readonly bytes: number;
}

/** Numbers are for the most frequent requests: a string must be built and hashed each time. */
type Key = number | string;

/** A cache that drops its oldest values when it exceeds `most` bytes. */
export class Kept<V extends Sized> {
  readonly #most: number;
  readonly #values = new Map<Key, V>();
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: Key | undefined): V | undefined {
    return key === undefined ? undefined : this.#values.get(key);
  }

  /** @param key undefined if the value must not be kept */
  keep(key: Key | undefined, value: V): V {
    if (key === undefined) return value;
    this.#values.set(key, value);
    this.#bytes += sizeOf(key, value);
    for (const [oldest, dropped] of this.#values) {
      if (this.#bytes <= this.#most) break;
      this.#values.delete(oldest);
      this.#bytes -= sizeOf(oldest, dropped);
    }
    return value;
  }
}

/** Strings take up to two bytes a character. */
function sizeOf(key: Key, { bytes }: Sized): number {
  return typeof key === 'string' ? bytes + 2 * key.length : bytes;
}
