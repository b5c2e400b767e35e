import { contains, type Exchange, hasKey } from './exchange.ts';
import type { ExchangeFilter } from './report-shapes.ts';

/** Called after each exchange, with the name of its sandbox. */
export type ExchangeListener = (sandbox: string, exchange: Readonly<Exchange>) => void;

/** The latest exchanges of a sandbox as JSON, and the number of earlier ones. */
export interface JournalState {
  readonly exchanges: readonly Exchange[];
  /** The number of the latest exchange. */
  readonly number: number;
  readonly dropped: number;
  /** No dropped exchange is later. */
  readonly droppedUntil?: number | undefined;
}

const NOTHING: JournalState = { exchanges: [], number: 0, dropped: 0 };

/** The latest exchanges of a sandbox, and the number of earlier ones. */
export class Journal {
  readonly #capacity: number;
  /** A ring once it is full: the oldest exchange is at `#oldest`. */
  readonly #exchanges: Exchange[];
  #oldest = 0;
  #number: number;
  #dropped: number;
  /** The exchange that was dropped last. Only held: reading each one costs a request 1 %. */
  #gone: Exchange | undefined;
  #latestAt = Number.NEGATIVE_INFINITY;
  /** The latest instant from which the clock was set back. */
  #setBackFrom: number;

  /** @param capacity the number of exchanges to keep; may be 0 */
  constructor(
    capacity: number,
    { exchanges, number, dropped, droppedUntil }: JournalState = NOTHING,
  ) {
    this.#capacity = capacity;
    this.#exchanges = exchanges.slice(Math.max(0, exchanges.length - capacity));
    this.#number = number;
    this.#dropped = dropped;
    this.#setBackFrom = droppedUntil ?? Number.NEGATIVE_INFINITY;
    for (const { at } of this.#exchanges) this.#noteTime(at);
  }

  /** The number of dropped exchanges. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The number of the latest exchange. */
  get number(): number {
    return this.#number;
  }

  /** The latest exchange, if it is kept. */
  get latest(): Exchange | undefined {
    return this.at(this.#number);
  }

  /** The number of kept exchanges. */
  get size(): number {
    return this.#exchanges.length;
  }

  /** Keeps an exchange and gives it its number. Drops the oldest one if there are too many. */
  add(exchange: Exchange): void {
    this.#number += 1;
    exchange.number = this.#number;
    this.#noteTime(exchange.at);
    if (this.#exchanges.length < this.#capacity) {
      this.#exchanges.push(exchange);
      return;
    }
    this.#dropped += 1;
    this.#gone = this.#exchanges[this.#oldest] ?? exchange;
    if (this.#capacity === 0) return;
    this.#exchanges[this.#oldest] = exchange;
    this.#oldest = (this.#oldest + 1) % this.#capacity;
  }

  /** The exchange with a number, if it is still kept. */
  at(number: number): Exchange | undefined {
    const index = number - 1 - (this.#number - this.size);
    const isKept = index >= 0 && number <= this.#number;
    return isKept ? this.#exchanges[(this.#oldest + index) % this.size] : undefined;
  }

  /** The kept exchanges that match a filter, the latest first. */
  *select(filter: ExchangeFilter = {}): Generator<Exchange> {
    for (let number = this.#number; number > this.#number - this.size; number -= 1) {
      const exchange = this.at(number);
      if (exchange !== undefined && passes(exchange, filter)) yield exchange;
    }
  }

  /** Whether no dropped exchange could match a filter. */
  isComplete({ from = Number.NEGATIVE_INFINITY, after = 0 }: ExchangeFilter): boolean {
    return this.dropped === 0 || from > this.#droppedUntil || after >= this.#number - this.size;
  }

  get state(): JournalState {
    const until = this.#droppedUntil;
    return {
      exchanges: [...this.select()].reverse(),
      number: this.#number,
      dropped: this.#dropped,
      ...(Number.isFinite(until) && { droppedUntil: until }),
    };
  }

  get #droppedUntil(): number {
    return Math.max(this.#setBackFrom, this.#gone?.at ?? Number.NEGATIVE_INFINITY);
  }

  #noteTime(at: number): void {
    if (at < this.#latestAt) this.#setBackFrom = Math.max(this.#setBackFrom, this.#latestAt);
    this.#latestAt = at;
  }

  /** Removes every exchange, and forgets that any were dropped. */
  clear(): void {
    this.#exchanges.length = 0;
    this.#gone = undefined;
    this.#oldest = this.#dropped = 0;
    this.#setBackFrom = this.#latestAt = Number.NEGATIVE_INFINITY;
  }
}

type FilterTest = (exchange: Readonly<Exchange>, filter: ExchangeFilter) => boolean;

/** Tests one member of a filter, if that is given. */
function test<Name extends keyof ExchangeFilter>(
  name: Name,
  matches: (exchange: Readonly<Exchange>, wanted: NonNullable<ExchangeFilter[Name]>) => boolean,
): FilterTest {
  return (exchange, { [name]: wanted }) =>
    wanted === undefined || wanted === null || matches(exchange, wanted);
}

/** A member without a test does not compile. */
const TESTS: { readonly [Name in keyof ExchangeFilter]-?: FilterTest } = {
  operation: test('operation', ({ operation }, wanted) => operation === wanted),
  status: test('status', ({ status }, wanted) => status === wanted),
  statusClass: test('statusClass', ({ status }, wanted) =>
    `${status}`.startsWith(wanted.charAt(0))),
  basis: test('basis', ({ basis }, wanted) => basis.kind === wanted),
  findings: test('findings', ({ findings }, wanted) => findings.length > 0 === wanted),
  unmatched: test('unmatched', ({ operation }, wanted) => (operation === undefined) === wanted),
  method: test('method', ({ method }, wanted) => method === wanted),
  key: test('key', hasKey),
  from: test('from', ({ at }, wanted) => at >= wanted),
  to: test('to', ({ at }, wanted) => at <= wanted),
  after: test('after', ({ number }, wanted) => number > wanted),
  before: test('before', ({ number }, wanted) => number < wanted),
  trace: test('trace', ({ traceId }, wanted) => traceId === wanted),
  hold: test('hold', ({ hold }, wanted) => hold?.name === wanted),
  held: test('held', ({ hold }, wanted) => (hold !== undefined && !hold.ended) === wanted),
  text: test('text', contains),
};

const ALL_TESTS = Object.values(TESTS);

/** Whether an exchange matches a filter: each of its members must match. */
export function passes(exchange: Readonly<Exchange>, filter: ExchangeFilter): boolean {
  return ALL_TESTS.every((matches) => matches(exchange, filter));
}
