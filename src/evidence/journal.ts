import type { Outcome } from '../scenario/outcome.ts';
import { turnTime } from '../service/turn-time.ts';
import type { Work } from '../work.ts';
import type { ExchangeEvidence, ExchangeValue, JournalState } from './evidence-shapes.ts';
import { Exchange, type Seen } from './exchange.ts';
import type { Noted } from './finding-codes.ts';
import type { ExchangeFilter } from './report-shapes.ts';

/** A frozen copy of an exchange, for observers. It can be kept. */
export type ObservedExchange = Readonly<Omit<Exchange, 'take' | 'findings'>>;

/** Called after each exchange, with the name of its sandbox. */
export type Observer = (sandbox: string, exchange: ObservedExchange) => void;

/** The latest exchanges of a sandbox, and the number of earlier ones. */
export class Journal {
  readonly #sandbox: string;
  readonly #capacity: number;
  readonly #observers: ReadonlySet<Observer>;
  /** A ring: the next exchange is at `(#taken - #skipped) % #capacity`. */
  #ring: Exchange[] = [];
  /** Exchanges since the journal was created, and since it was cleared. */
  #number = 0;
  #taken = 0;
  /** Exchanges that were dropped before the ring had its first. */
  #skipped = 0;
  /** The latest instant of a dropped exchange. The clock may have been set back since. */
  #droppedUntil = Number.NEGATIVE_INFINITY;

  /** @param capacity the number of exchanges to keep; may be 0 */
  constructor(sandbox: string, capacity: number, observers: ReadonlySet<Observer>) {
    this.#sandbox = sandbox;
    this.#capacity = capacity;
    this.#observers = observers;
  }

  /** The number of dropped exchanges. */
  get dropped(): number {
    return this.#taken - this.#ring.length;
  }

  /** The number of the latest exchange. */
  get number(): number {
    return this.#number;
  }

  /** The number of kept exchanges. */
  get size(): number {
    return this.#ring.length;
  }

  /** The exchange with a number, if it is still kept. */
  at(number: number): Exchange | undefined {
    const index = this.#taken - 1 - (this.#number - number);
    const isKept = index >= this.dropped && index < this.#taken;
    return isKept ? this.#ring[(index - this.#skipped) % this.#capacity] : undefined;
  }

  /** Adds findings to the latest exchange. */
  note(findings: readonly Noted[]): void {
    const latest = this.at(this.#number);
    if (latest === undefined) return;
    latest.findings = latest.findings.length > 0 ? [...latest.findings, ...findings] : findings;
  }

  /**
   * Records an exchange.
   *
   * @param at by the sandbox's clock
   * @param frozen whether that clock is frozen: all durations are 0 then
   */
  record(at: number, seen: Seen, outcome: Outcome, frozen = false): void {
    this.#number += 1;
    if (this.#capacity === 0) this.#droppedUntil = Math.max(this.#droppedUntil, at);
    if (this.#capacity === 0 && this.#observers.size === 0) {
      this.#taken += 1;
      return;
    }
    const exchange = this.#next();
    const duration = outcome.delay + (frozen ? 0 : this.#now() - seen.receivedAt);
    exchange.take(this.#number, at, duration, seen, outcome);
    if (this.#observers.size === 0) return;
    // The ring reuses its exchanges.
    const copy = new Exchange();
    copy.take(this.#number, at, duration, seen, outcome);
    this.#show(copy);
  }

  /**
   * Records an exchange that is a value.
   *
   * @param duration shows it to observers, with this duration
   */
  put(value: ExchangeValue, duration?: number): void {
    this.#number += 1;
    if (this.#capacity === 0) this.#droppedUntil = Math.max(this.#droppedUntil, value.at);
    this.#next().put(this.#number, value);
    if (duration === undefined || this.#observers.size === 0) return;
    const copy = new Exchange();
    copy.put(this.#number, { ...value, duration });
    this.#show(copy);
  }

  /** The state without the exchanges. */
  get state(): JournalState {
    const [number, taken, until] = [this.#number, this.#taken, this.#droppedUntil];
    return { number, taken, ...(Number.isFinite(until) && { droppedUntil: until }) };
  }

  /** @param latest the latest exchanges up to that state, as many as are known */
  restore(state: JournalState, latest: readonly ExchangeEvidence[]): void {
    const most = Math.min(this.#capacity, state.taken);
    const kept = latest.slice(Math.max(0, latest.length - most));
    this.clear();
    this.#number = state.number - kept.length;
    for (const { exchange, findings = [] } of kept) {
      this.put(exchange);
      this.note(findings);
    }
    this.#taken = state.taken;
    this.#skipped = state.taken - kept.length;
    this.#droppedUntil = state.droppedUntil ?? Number.NEGATIVE_INFINITY;
  }

  #show(exchange: Exchange): void {
    Object.freeze(exchange);
    for (const observe of this.#observers) observe(this.#sandbox, exchange);
  }

  /** Reading the time costs a request up to 3 %, so only observers, such as a log, get it exactly. */
  #now(): number {
    return this.#observers.size > 0 ? performance.now() : turnTime().steady;
  }

  #next(): Exchange {
    const position = this.#capacity === 0 ? 0 : (this.#taken - this.#skipped) % this.#capacity;
    this.#taken += 1;
    const oldest = this.#ring[position];
    if (oldest !== undefined) {
      this.#droppedUntil = Math.max(this.#droppedUntil, oldest.at);
      return oldest;
    }
    const exchange = new Exchange();
    if (this.#capacity > 0) this.#ring.push(exchange);
    return exchange;
  }

  /** The kept exchanges that match a filter, oldest first. */
  *select(filter: ExchangeFilter = {}): Generator<Exchange> {
    for (let number = this.#number - this.size + 1; number <= this.#number; number += 1) {
      const exchange = this.at(number);
      if (exchange !== undefined && passes(exchange, filter)) yield exchange;
    }
  }

  /**
   * The numbers of the kept exchanges that match a filter, latest first. Exchanges that are dropped
   * in the meantime are left out.
   */
  *numbers(filter: ExchangeFilter): Work<number[]> {
    const numbers: number[] = [];
    for (let number = this.#number; ; number -= 1) {
      const exchange = this.at(number);
      if (exchange === undefined) return numbers;
      if (passes(exchange, filter)) numbers.push(number);
      yield;
    }
  }

  /** Whether no dropped exchange could match a filter. */
  isComplete({ from = Number.NEGATIVE_INFINITY, after = 0 }: ExchangeFilter): boolean {
    return this.dropped === 0 || from > this.#droppedUntil || after >= this.#number - this.size;
  }

  /** Removes every exchange, and forgets that any were dropped. */
  clear(): void {
    this.#ring = [];
    this.#taken = this.#skipped = 0;
    this.#droppedUntil = Number.NEGATIVE_INFINITY;
  }
}

/** Whether an exchange matches a filter. */
export function passes(exchange: ObservedExchange, filter: ExchangeFilter): boolean {
  const { operation, status, basis, method, key, from, to, after, before, text } = filter;
  return (
    (operation === undefined || exchange.operation === operation) &&
    (status === undefined || exchange.status === status) &&
    (basis === undefined || exchange.basis.kind === basis) &&
    (method === undefined || exchange.method === method) &&
    (key === undefined || exchange.hasKey(key)) &&
    (from === undefined || exchange.at >= from) &&
    (to === undefined || exchange.at <= to) &&
    (after === undefined || exchange.number > after) &&
    (before === undefined || exchange.number < before) &&
    (text === undefined || exchange.contains(text))
  );
}
