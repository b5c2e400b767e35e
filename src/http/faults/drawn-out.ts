import type { ServerResponse } from 'node:http';

/** The faults and delays of one server that are in progress. */
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

  /** Calls `act` after some milliseconds, unless the client leaves first. */
  delay(response: ServerResponse, milliseconds: number, act: () => void): void {
    // A response that waits behind others does not hear that its client has left: the socket does.
    const { socket } = response.req;
    let over = false;
    const settle = (): void => {
      over = true;
      clearTimeout(timer);
      socket.off('close', settle);
    };
    const end = (): void => {
      if (over) return;
      settle();
      act();
    };
    const timer = setTimeout(end, milliseconds);
    socket.once('close', settle);
    this.add(response, end);
  }

  /** Ends all of them, and from now on each one as it begins, so that a server can close. */
  endAll(): void {
    this.#over = true;
    for (const end of this.#endings) end();
    this.#endings.clear();
  }
}
