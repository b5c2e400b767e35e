/** What was written, with what it takes to keep it. */
interface Sized {
  readonly bytes: number;
}

/** Keeps what was written, by what it was written from. Beyond `most` bytes the oldest is dropped. */
export class Kept<V extends Sized> {
  readonly #most: number;
  readonly #values = new Map<string, V>();
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string, write: () => V): V {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const value = write();
    this.#values.set(key, value);
    this.#bytes += sizeOf(key, value);
    for (const [oldest, { bytes }] of this.#values) {
      if (this.#bytes <= this.#most) break;
      this.#values.delete(oldest);
      this.#bytes -= sizeOf(oldest, { bytes });
    }
    return value;
  }
}

/** A string can take two bytes for each character. */
function sizeOf(key: string, { bytes }: Sized): number {
  return bytes + 2 * key.length;
}
