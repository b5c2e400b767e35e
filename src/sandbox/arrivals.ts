import type { Exchange } from '../evidence/exchange.ts';

/** Milliseconds between two looks at what other servers did. */
const FOLLOW = 100;

/** Called after an exchange, and without one after anything else. */
export type ArrivalListener = (exchange?: Exchange) => void;

/** Those who wait for what happens in a sandbox. */
export class Arrivals {
  readonly #listeners = new Set<ArrivalListener>();
  readonly #catchUp: (() => Promise<void>) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param catchUp reads what other servers did; undefined if there are none */
  constructor(catchUp: (() => Promise<void>) | undefined) {
    this.#catchUp = catchUp;
  }

  /** @returns cancels the listener */
  on(listener: ArrivalListener): () => void {
    this.#listeners.add(listener);
    if (this.#catchUp !== undefined) this.#timer ??= this.#follow(this.#catchUp);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  tell(exchange?: Exchange): void {
    for (const listener of this.#listeners) listener(exchange);
  }

  #follow(catchUp: () => Promise<void>): NodeJS.Timeout {
    const next = (): void => {
      if (this.#timer === timer) this.#timer = this.#follow(catchUp);
    };
    const timer = setTimeout(() => catchUp().then(next, next), FOLLOW).unref();
    return timer;
  }
}
