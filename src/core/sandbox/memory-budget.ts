/** Whatever remembers, and can forget the oldest of it. */
interface Memory {
  /** The bytes that this gives back; 0 if nothing is left. */
  forgetOldest(): number;
}

/** Of all that a server remembers: heads, bodies and earlier states. Twice as much in a heap. */
export const MAX_REMEMBERED_BYTES = 128 * 1024 * 1024;

/** One for a server. When it is used up, the memory that was used longest ago forgets its oldest. */
export class MemoryBudget {
  #bytes = 0;
  /** In the order of their last use, the latest last. */
  readonly #memories = new Set<Memory>();
  #lastUsed: Memory | undefined;

  add(memory: Memory, bytes: number): void {
    this.#bytes += bytes;
    if (memory !== this.#lastUsed) {
      this.#memories.delete(memory);
      this.#memories.add(memory);
      this.#lastUsed = memory;
    }
    while (this.#bytes > MAX_REMEMBERED_BYTES) {
      const [unused] = this.#memories;
      if (unused === undefined) return;
      const freed = unused.forgetOldest();
      if (freed === 0) this.#drop(unused);
      this.#bytes -= freed;
    }
  }

  /** @param isLast whether nothing is left in this memory */
  remove(memory: Memory, bytes: number, isLast = false): void {
    this.#bytes -= bytes;
    if (isLast) this.#drop(memory);
  }

  #drop(memory: Memory): void {
    this.#memories.delete(memory);
    if (memory === this.#lastUsed) this.#lastUsed = undefined;
  }
}

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
