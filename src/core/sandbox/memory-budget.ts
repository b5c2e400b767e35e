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
  /** The last used comes last. */
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
