/** What was written, with what it takes to keep it. */
interface Sized {
  readonly bytes: number;
}

/** A number for what is asked most: a string has to be built and hashed at each request. */
type Key = number | string;

/** Keeps what was written, by what it was written from. Beyond `most` bytes the oldest is dropped. */
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

  /** @param key undefined for what must not be kept */
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

/** A string can take two bytes for each character. */
function sizeOf(key: Key, { bytes }: Sized): number {
  return typeof key === 'string' ? bytes + 2 * key.length : bytes;
}
