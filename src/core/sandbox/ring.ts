/**
 * The newest items of a sequence. One array for all of them: the tables that a growing and shrinking
 * Map or array leaves behind would keep each item alive through many garbage collections.
 */
export class Ring<T> {
  readonly #capacity: number;
  readonly #slots: (T | undefined)[] = [];
  #start = 0;
  #size = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#size;
  }

  /** @param index from 0 for the oldest, or from -1 for the newest */
  at(index: number): T | undefined {
    const from = index < 0 ? index + this.#size : index;
    if (from < 0 || from >= this.#size) return undefined;
    return this.#slots[(this.#start + from) % this.#capacity];
  }

  /** A full ring has no room: `shift` first. */
  push(item: T): void {
    this.#slots[(this.#start + this.#size) % this.#capacity] = item;
    this.#size += 1;
  }

  shift(): T | undefined {
    const oldest = this.at(0);
    if (this.#size === 0) return undefined;
    this.#slots[this.#start] = undefined;
    this.#start = (this.#start + 1) % this.#capacity;
    this.#size -= 1;
    return oldest;
  }

  *[Symbol.iterator](): Generator<T> {
    for (let index = 0; index < this.#size; index += 1) {
      const item = this.at(index);
      if (item !== undefined) yield item;
    }
  }
}
