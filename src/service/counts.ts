/** Called with each count before it changes, so that a change can be repeated and undone. */
export interface CountNote {
  readonly counts: object;
  readonly key: number | string;
  /** Gives the key its former count. */
  readonly undo: () => void;
}

/** Takes the notes; while `notes` is undefined, nothing is noted. */
export interface CountNotes {
  readonly notes: CountNote[] | undefined;
}

/** Counts by key, in the order in which they were first set. */
export class Counts<V> {
  readonly #noting: CountNotes | undefined;
  /** Created when needed: most sandboxes count nothing. */
  #values: Map<number | string, V> | undefined;

  constructor(noting?: CountNotes) {
    this.#noting = noting;
  }

  get size(): number {
    return this.#values?.size ?? 0;
  }

  get(key: number | string): V | undefined {
    return this.#values?.get(key);
  }

  /** @param value undefined forgets the key */
  set(key: number | string, value: V | undefined): void {
    const former = this.get(key);
    this.#noting?.notes?.push({ counts: this, key, undo: () => this.#put(key, former) });
    this.#put(key, value);
  }

  /** The keys, the oldest first. */
  keys(): Iterable<number | string> {
    return this.#values?.keys() ?? [];
  }

  #put(key: number | string, value: V | undefined): void {
    this.#values ??= new Map();
    if (value === undefined) this.#values.delete(key);
    else this.#values.set(key, value);
  }
}
