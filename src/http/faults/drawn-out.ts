import type { ServerResponse } from 'node:http';

/** The faults that take their time. */
export class DrawnOut {
  readonly #endings = new Set<() => void>();
  #over = false;

  /** Notes a fault that has begun, with what ends it now, until its response is at its end. */
  add(response: ServerResponse, end: () => void): void {
    if (this.#over) {
      end();
      return;
    }
    this.#endings.add(end);
    response.once('close', () => this.#endings.delete(end));
  }

  /** Ends all that have begun, and from now on each as it begins. */
  endAll(): void {
    this.#over = true;
    for (const end of this.#endings) end();
    this.#endings.clear();
  }
}
