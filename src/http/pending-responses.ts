import type { ServerResponse } from 'node:http';
import { clearTimeout, setTimeout } from 'node:timers';

/** The replies of one server that are complete but wait: for a delay, or in a slow fault. */
export class PendingResponses {
  readonly #endings = new Set<() => void>();
  #isOver = false;

  /** Tracks a response, and how to end it early, until it is finished. */
  add(response: ServerResponse, end: () => void): void {
    if (this.#isOver) {
      end();
      return;
    }
    this.#endings.add(end);
    response.once('close', () => this.#endings.delete(end));
  }

  /** Calls `act` after some milliseconds, unless the client disconnects first. */
  delay(response: ServerResponse, milliseconds: number, act: () => void): void {
    // A response queued behind others gets no event when its client disconnects, and a socket
    // listener for each of them would be too many.
    const { socket } = response.req;
    const end = (): void => {
      clearTimeout(timer);
      this.#endings.delete(end);
      if (!socket.destroyed) act();
    };
    const timer = setTimeout(end, milliseconds);
    response.once('close', () => clearTimeout(timer));
    this.add(response, end);
  }

  /** Ends all of them, and each later one as soon as it begins, so that the server can close. */
  endAll(): void {
    this.#isOver = true;
    for (const end of this.#endings) end();
    this.#endings.clear();
  }
}
