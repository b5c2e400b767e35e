export class Emitter<Event> {
  // Created on first use: few sandboxes of many are followed.
  #listeners: Set<(event: Event) => void> | undefined;

  get isEmpty(): boolean {
    return this.#listeners === undefined || this.#listeners.size === 0;
  }

  /** Returns how to cancel. */
  add(listener: (event: Event) => void): () => void {
    this.#listeners ??= new Set();
    const listeners = this.#listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  emit(event: Event): void {
    if (this.#listeners !== undefined) for (const listener of this.#listeners) listener(event);
  }
}
