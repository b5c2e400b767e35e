import type { ServerResponse } from 'node:http';

/** The faults and delays that are in progress. */
export class DrawnOut {
  readonly #endings = new Set<() => void>();
  #over = false;

  /** Adds one that has begun, with what ends it early, until its response is finished. */
  add(response: ServerResponse, end: () => void): void {
    if (this.#over) {
      end();
      return;
    }
    this.#endings.add(end);
    response.once('close', () => this.#endings.delete(end));
  }

  /** Ends all of them, and from now on each one as it begins. */
  endAll(): void {
    this.#over = true;
    for (const end of this.#endings) end();
    this.#endings.clear();
  }
}
