import type { Exchange } from './exchange.ts';
import { type ExchangeFilter, passes } from './exchange-filter.ts';

/** Called after each exchange, with the name of its sandbox. */
export type ExchangeListener = (sandbox: string, exchange: Readonly<Exchange>) => void;

/** The latest exchanges of a sandbox as JSON, and the number of earlier ones. */
export interface JournalState {
  readonly exchanges: readonly Exchange[];
  readonly number: number;
  readonly dropped: number;
}

const NOTHING: JournalState = { exchanges: [], number: 0, dropped: 0 };

/** The latest exchanges of a sandbox, and the number of earlier ones. */
export class Journal {
  readonly #capacity: number;
  /** A ring once it is full. */
  #exchanges: Exchange[] = [];
  #number: number;
  /** The number of the latest exchange that was cleared. */
  #cleared: number;

  /** @param capacity the number of exchanges to keep; may be 0 */
  constructor(capacity: number, { exchanges, number, dropped }: JournalState = NOTHING) {
    this.#capacity = capacity;
    this.#cleared = number - dropped - exchanges.length;
    this.#number = number - exchanges.length;
    for (const exchange of exchanges) this.add(exchange);
  }

  get dropped(): number {
    return this.#number - this.#cleared - this.size;
  }

  get number(): number {
    return this.#number;
  }

  get latest(): Exchange | undefined {
    return this.at(this.#number);
  }

  get size(): number {
    return this.#exchanges.length;
  }

  /** Keeps an exchange and gives it its number. Drops the oldest one if there are too many. */
  add(exchange: Exchange): void {
    this.#number += 1;
    exchange.number = this.#number;
    if (this.#capacity > 0) this.#exchanges[this.#indexOf(this.#number)] = exchange;
  }

  /** The exchange with a number, if it is still kept. */
  at(number: number): Exchange | undefined {
    const exchange = this.#exchanges[this.#indexOf(number)];
    return exchange?.number === number ? exchange : undefined;
  }

  #indexOf(number: number): number {
    return (number - this.#cleared - 1) % this.#capacity;
  }

  /** The kept exchanges that match a filter, the latest first. */
  *select(filter: ExchangeFilter = {}): Generator<Exchange> {
    for (let number = this.#number; number > this.#number - this.size; number -= 1) {
      const exchange = this.at(number);
      if (exchange !== undefined && passes(exchange, filter)) yield exchange;
    }
  }

  /** Whether no dropped exchange could match a filter, as long as the clock was not set back. */
  isComplete({ from = Number.NEGATIVE_INFINITY, after = 0 }: ExchangeFilter): boolean {
    const oldest = this.#number - this.size + 1;
    const { at } = this.at(oldest) ?? { at: Number.POSITIVE_INFINITY };
    return this.dropped === 0 || from > at || after >= oldest - 1;
  }

  get state(): JournalState {
    const exchanges = [...this.select()].reverse();
    return { exchanges, number: this.#number, dropped: this.dropped };
  }

  /** Removes every exchange, and forgets that any were dropped. */
  clear(): void {
    this.#exchanges = [];
    this.#cleared = this.#number;
  }
}
