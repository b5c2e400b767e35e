import { LIMITS } from '../limits.ts';
import type { Message } from '../raw-http.ts';
import { Totals } from './coverage.ts';
import { EditLog, type EditText } from './edit-log.ts';
import {
  type Exchange,
  type ExchangeUnderWay,
  type ExchangeWithHold,
  findHoldFindings,
  type HoldEnd,
} from './exchange.ts';
import {
  type JournalPage,
  type JournalQuery,
  type JournalSize,
  selectExchanges,
} from './journal-page.ts';
import type { State } from './state.ts';

export interface JournalContext {
  /** How many exchanges each journal keeps; may be 0. */
  readonly capacity: number;
  readonly memory: MemoryBudget;
  /** The totals of cleared journals and of deleted sandboxes. */
  readonly formerTotals: Totals;
}

interface Entry {
  exchange: Exchange;
  /** The states before and after the call; undefined once forgotten. */
  before: State | undefined;
  after: State | undefined;
  readonly bytes: number;
}

export class Journal {
  readonly #sandbox: string;
  readonly #context: JournalContext;
  /** The latest exchanges, with consecutive numbers. */
  readonly #entries: Ring<Entry>;
  #number = 0;
  #isClosed = false;
  #cleared = 0;
  #totals = new Totals();
  readonly edits = new EditLog();

  constructor(sandbox: string, context: JournalContext) {
    this.#sandbox = sandbox;
    this.#context = context;
    this.#entries = new Ring(context.capacity);
  }

  size(): JournalSize {
    const { size } = this.#entries;
    return { number: this.#number, size, dropped: this.#number - this.#cleared - size };
  }

  add(exchange: ExchangeUnderWay, before: State, after: State): void {
    exchange.number ||= this.#number + 1;
    this.#number = exchange.number;
    this.#totals.add(exchange, this.#sandbox);
    if (before.store !== after.store) this.edits.noteCall();
    const { capacity } = this.#context;
    if (capacity === 0 || this.#isClosed) return;
    const previous = this.#entries.at(-1)?.exchange;
    if (this.#entries.size >= capacity) this.#forgetExchange();
    const kept = withoutBodies(exchange);
    const bytes = countExchange(kept, previous) + countStates(before, after);
    this.#entries.push({ exchange: kept, before, after, bytes });
    this.#context.memory.add(this, bytes);
  }

  #forgetExchange(): void {
    this.#context.memory.remove(this, this.#entries.shift()?.bytes ?? 0);
  }

  /** Forgets the oldest edit's state or the oldest exchange, by age. Returns the bytes freed. */
  forgetOldest(): number {
    const oldest = this.#entries.at(0)?.exchange.number;
    return this.edits.forgetOldest(oldest) || (this.#entries.shift()?.bytes ?? 0);
  }

  addEdit(text: EditText, at: number, before: State, after: State): void {
    if (this.#isClosed) return;
    const bytes = this.edits.add(text, at, this.#number, before, after);
    this.#context.memory.add(this, bytes);
  }

  forgetStates(): void {
    if (this.#isClosed) return;
    this.#context.memory.remove(this, this.edits.forgetStates());
    for (const entry of this.#entries) {
      entry.before = undefined;
      entry.after = undefined;
    }
  }

  /** The states before and after an exchange, if they are still remembered. */
  remembered(number: number): { readonly before: State; readonly after: State } | undefined {
    const { before, after } = this.#entry(number) ?? {};
    return before === undefined || after === undefined ? undefined : { before, after };
  }

  #entry(number: number): Entry | undefined {
    const index = number - (this.#entries.at(0)?.exchange.number ?? 0);
    return index < 0 ? undefined : this.#entries.at(index);
  }

  find(number: number): Exchange | undefined {
    return this.#entry(number)?.exchange;
  }

  /** @param held the replies that are held now, some of which the journal may have dropped */
  select(query: JournalQuery, held: readonly ExchangeWithHold[] = []): JournalPage {
    return selectExchanges(
      this.size(),
      Array.from(this.#entries, ({ exchange }) => exchange).reverse(),
      held,
      query,
    );
  }

  totals(): Totals {
    return this.#totals;
  }

  /** @returns the exchange that replaces the held one */
  endHold(held: ExchangeWithHold, why: HoldEnd, lasted: number): ExchangeWithHold {
    const { number, duration, hold } = held;
    const exchange = {
      ...held,
      duration: duration + lasted,
      hold: { ...hold, ended: why, lasted },
    };
    const entry = this.#entry(number);
    if (entry !== undefined) entry.exchange = withoutBodies(exchange);
    const findings = findHoldFindings(exchange);
    if (findings.length > 0) this.#totals.add({ ...exchange, covers: [], findings }, this.#sandbox);
    return exchange;
  }

  /** Called when the sandbox is deleted. Open streams can read on, but its totals count no more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const bytes = Array.from(this.#entries).reduce((sum, entry) => sum + entry.bytes, 0);
    this.#context.memory.remove(this, bytes + this.edits.bytes, true);
  }

  /** Removes all exchanges and resets the count of dropped ones; `all` also edits and totals. */
  clear(what: 'journal' | 'all'): void {
    if (this.#isClosed) return;
    while (this.#entries.size > 0) this.#forgetExchange();
    this.#cleared = this.#number;
    if (what === 'journal') return;
    this.#context.memory.remove(this, this.edits.clear(), true);
    this.#context.formerTotals.merge(this.#totals);
    this.#totals = new Totals();
  }
}

/** @param max how many bytes a body may have to be kept; by default, the journal's own limit */
export function withoutBodies(exchange: Exchange, max = LIMITS.keptBody): Exchange {
  const [request, reply] = [shorten(exchange.request, max), exchange.reply];
  const shorter = reply && shorten(reply, max);
  const isSame = request === exchange.request && shorter === reply;
  return isSame ? exchange : { ...exchange, request, reply: shorter };
}

function shorten<M extends Message>(message: M, max: number): M {
  const { size, decoded = '' } = message;
  const isShort = size <= max && decoded.length <= max;
  return isShort ? message : { ...message, body: undefined, decoded: undefined };
}

/** A rough size of the objects of an exchange, without their texts and bytes. */
const EXCHANGE_BYTES = 1024;
const TEXT_BYTES = 32;
const COUNTER_BYTES = 64;
/** A rough size of what a change of the store copies: a chunk, the list of chunks, a record. */
const STORE_BYTES = 4096;

/** A body that equals the one in the previous exchange shares its memory, so it counts once. */
export function countExchange({ target, request, reply }: Exchange, previous?: Exchange): number {
  const own = EXCHANGE_BYTES + target.length + countMessage(request, previous?.request);
  return reply === undefined ? own : own + countMessage(reply, previous?.reply);
}

function countMessage({ headers, body, decoded = '', size }: Message, previous?: Message): number {
  let bytes = 0;
  for (const text of headers) bytes += TEXT_BYTES + text.length;
  return body === undefined || body === previous?.body ? bytes : bytes + size + decoded.length;
}

function countStates({ store, counters }: State, after: State): number {
  if (counters === after.counters && store === after.store) return 0;
  const { rules, rates } = after.counters;
  const copied =
    (rules === counters.rules ? 0 : rules.size) + (rates === counters.rates ? 0 : rates.size);
  return (store === after.store ? 0 : STORE_BYTES) + copied * COUNTER_BYTES;
}

/** Limits all heads, bodies and states that a server remembers. The heap takes twice as much. */
export const MAX_REMEMBERED_BYTES = 128 * 1024 * 1024;

/** Bounds the memory of all journals: the one used longest ago loses its oldest exchange. */
export class MemoryBudget {
  #bytes = 0;
  /** Journals by their last use, the most recent one last. */
  readonly #journals = new Set<Journal>();
  #lastUsed: Journal | undefined;

  add(journal: Journal, bytes: number): void {
    this.#bytes += bytes;
    if (journal !== this.#lastUsed) {
      this.#journals.delete(journal);
      this.#journals.add(journal);
      this.#lastUsed = journal;
    }
    while (this.#bytes > MAX_REMEMBERED_BYTES) {
      const [unused] = this.#journals;
      if (unused === undefined) return;
      const freed = unused.forgetOldest();
      if (freed === 0) this.#drop(unused);
      this.#bytes -= freed;
    }
  }

  /** @param isLast whether the journal is empty after this */
  remove(journal: Journal, bytes: number, isLast = false): void {
    this.#bytes -= bytes;
    if (isLast) this.#drop(journal);
  }

  #drop(journal: Journal): void {
    this.#journals.delete(journal);
    if (journal === this.#lastUsed) this.#lastUsed = undefined;
  }
}

/**
 * The newest items of a sequence, in one array of fixed size. A Map or an array that shrinks and
 * grows leaves tables behind that keep items alive through many garbage collections.
 */
export class Ring<T> {
  readonly #capacity: number;
  readonly #slots: (T | undefined)[] = [];
  #start = 0;
  #size = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#size;
  }

  /** @param index counted from the oldest (0), or back from the newest (-1) */
  at(index: number): T | undefined {
    const from = index < 0 ? index + this.#size : index;
    if (from < 0 || from >= this.#size) return undefined;
    return this.#slots[(this.#start + from) % this.#capacity];
  }

  /** The ring must not be full: call `shift` first. */
  push(item: T): void {
    this.#slots[(this.#start + this.#size) % this.#capacity] = item;
    this.#size += 1;
  }

  shift(): T | undefined {
    const oldest = this.at(0);
    if (this.#size === 0) return undefined;
    this.#slots[this.#start] = undefined;
    this.#start = (this.#start + 1) % this.#capacity;
    this.#size -= 1;
    return oldest;
  }

  *[Symbol.iterator](): Generator<T> {
    for (let index = 0; index < this.#size; index += 1) {
      const item = this.at(index);
      if (item !== undefined) yield item;
    }
  }
}
