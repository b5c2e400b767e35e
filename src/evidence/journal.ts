import { contains, type Exchange, hasKey } from './exchange.ts';
import type { ExchangeFilter } from './report-shapes.ts';

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
