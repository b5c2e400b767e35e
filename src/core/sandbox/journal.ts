import { LIMITS } from '../limits.ts';
import { isMoved } from '../service/clock.ts';
import { measureChanges } from '../store/merge.ts';
import { Totals } from './coverage.ts';
import {
  type Exchange,
  type ExchangeUnderWay,
  findHoldFindings,
  type HeldExchange,
  type HoldEnd,
  withoutBodies,
} from './exchange.ts';
import {
  changesNoRecord,
  type Edit,
  type EditText,
  type JournalPage,
  type JournalQuery,
  type JournalSize,
  type RememberedStates,
  selectExchanges,
} from './journal-page.ts';
import { type MemoryBudget, Ring } from './memory-budget.ts';
import type { State } from './state.ts';

const MAX_EDITS = 1000;

export interface JournalContext {
  /** How many exchanges it keeps; may be 0. */
  readonly capacity: number;
  readonly memory: MemoryBudget;
  /** Of cleared journals and deleted sandboxes. */
  readonly past: Totals;
}

interface Entry {
  exchange: Exchange;
  /** The states around it; undefined once they are forgotten. */
  before: State | undefined;
  after: State | undefined;
  readonly bytes: number;
}

interface KeptEdit {
  edit: Edit;
  /** Undefined once it is forgotten, and for what is undone. */
  before: State | undefined;
  /** How many calls have changed the store since. */
  laterCalls: number;
  /** Counted once another edit follows, so that the latest one can always be undone. */
  bytes: number;
}

export class Journal {
  readonly #sandbox: string;
  readonly #context: JournalContext;
  /** In the order of their numbers, which have gaps where other servers answered. */
  readonly #entries: Ring<Entry>;
  #number = 0;
  #isClosed = false;
  #cleared = 0;
  #totals = new Totals();
  // Created when needed: there can be many sandboxes.
  #edits: KeptEdit[] | undefined;

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
    const edit = this.#latestEdit();
    if (edit !== undefined && before.store !== after.store) edit.laterCalls += 1;
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

  /** An exchange goes whole, so that no state of it outlives an edit that is forgotten. */
  forgetOldest(): number {
    const oldest = this.#entries.at(0)?.exchange.number;
    const edit = this.#edits?.slice(0, -1).find(({ bytes }) => bytes > 0);
    if (edit === undefined || (oldest !== undefined && oldest <= edit.edit.after)) {
      return this.#entries.shift()?.bytes ?? 0;
    }
    const { bytes } = edit;
    edit.before = undefined;
    edit.bytes = 0;
    return bytes;
  }

  /** Keeps an edit, and remembers the state before it; or keeps that the latest one was undone. */
  addEdit(text: EditText, at: number, before: State, after: State, undoes = false): void {
    const undone = undoes ? this.#latestEdit() : undefined;
    if (undone !== undefined) {
      undone.edit = { ...undone.edit, isUndone: true };
      undone.before = undefined;
      const earlier = this.#latestEdit();
      // What these calls changed stands until that one is undone.
      if (earlier !== undefined && changesNoRecord(undone.edit))
        earlier.laterCalls += undone.laterCalls;
    }
    const { changed, bytes } = measureChanges(before.store, after.store);
    const clockMoved = isMoved(after.clock);
    const edit = { ...text, at, clockMoved, after: this.#number, changed, isUndone: undoes };
    this.#edits ??= [];
    this.#context.memory.add(this, this.#edits.at(-1)?.bytes ?? 0);
    this.#edits.push({
      edit,
      before: undoes ? undefined : before,
      laterCalls: 0,
      bytes: EDIT_BYTES + bytes + countSettings(before, after),
    });
    if (this.#edits.length <= MAX_EDITS) return;
    this.#context.memory.remove(this, this.#edits.shift()?.bytes ?? 0);
  }

  forgetStates(): void {
    for (const known of this.#edits ?? []) known.before = undefined;
    for (const entry of this.#entries) {
      entry.before = undefined;
      entry.after = undefined;
    }
  }

  edits(): readonly Edit[] {
    return this.#edits?.map(({ edit }) => edit) ?? [];
  }

  /** The one that an undo takes back, while the state before it is remembered. */
  lastEdit(): (KeptEdit & { readonly before: State }) | undefined {
    const last = this.#latestEdit();
    return last?.before && { ...last, before: last.before };
  }

  #latestEdit(): KeptEdit | undefined {
    return this.#edits?.findLast(({ edit }) => !edit.isUndone);
  }

  remembered(number: number): RememberedStates | undefined {
    const { before, after } = this.#entry(number) ?? {};
    return before === undefined || after === undefined ? undefined : { before, after };
  }

  #entry(number: number): Entry | undefined {
    let [from, to] = [0, this.#entries.size - 1];
    while (from <= to) {
      const middle = (from + to) >> 1;
      const entry = this.#entries.at(middle);
      const found = entry?.exchange.number ?? 0;
      if (found === number) return entry;
      if (found < number) from = middle + 1;
      else to = middle - 1;
    }
    return undefined;
  }

  find(number: number): Exchange | undefined {
    return this.#entry(number)?.exchange;
  }

  /** @param held replies that are held back now, which it may have dropped */
  select(query: JournalQuery, held: readonly HeldExchange[] = []): JournalPage {
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

  /** @returns the exchange as it is from now on */
  endHold(held: HeldExchange, why: HoldEnd, lasted: number): HeldExchange {
    const { number, duration, hold } = held;
    const exchange = {
      ...held,
      duration: duration + lasted,
      hold: { ...hold, ended: why, lasted },
    };
    const entry = this.#entry(number);
    if (entry !== undefined) entry.exchange = withoutBodies(exchange);
    const findings = findHoldFindings(exchange);
    if (findings.length > 0) this.#totals.add({ ...exchange, shows: [], findings }, this.#sandbox);
    return exchange;
  }

  /** Of a deleted sandbox, which open streams still read to its end. */
  close(): void {
    this.#isClosed = true;
    this.#uncount([...this.#entries, ...(this.#edits?.slice(0, -1) ?? [])]);
  }

  #uncount(counted: readonly { readonly bytes: number }[]): void {
    const bytes = counted.reduce((sum, it) => sum + it.bytes, 0);
    this.#context.memory.remove(this, bytes, true);
  }

  /** Removes every exchange, and forgets that any were dropped; or also edits and what all add up to. */
  clear(what: 'journal' | 'all'): void {
    while (this.#entries.size > 0) this.#forgetExchange();
    this.#cleared = this.#number;
    if (what === 'journal') return;
    this.#uncount(this.#edits?.slice(0, -1) ?? []);
    this.#edits = undefined;
    this.#context.past.merge(this.#totals);
    this.#totals = new Totals();
  }
}

/** About what the objects of an exchange take, without texts and bytes. */
const EXCHANGE_BYTES = 1024;
const TEXT_BYTES = 32;
const COUNTER_BYTES = 64;
/** A copied chunk of records, the list of chunks, and a replaced record. */
const STORE_BYTES = 4096;
const EDIT_BYTES = 1024;

/** A body that the exchange before it shows as well is in memory once. */
export function countExchange({ target, request, reply }: Exchange, previous?: Exchange): number {
  let bytes = EXCHANGE_BYTES + target.length;
  for (const text of request.headers) bytes += TEXT_BYTES + text.length;
  for (const text of reply?.headers ?? []) bytes += TEXT_BYTES + text.length;
  if (request.body !== undefined) bytes += request.size;
  const isShared = reply?.body === previous?.reply?.body;
  if (reply?.body !== undefined && !isShared) bytes += reply.size;
  return bytes;
}

function countStates({ store, counters }: State, after: State): number {
  if (counters === after.counters && store === after.store) return 0;
  const { rules, rates } = after.counters;
  const copied =
    (rules === counters.rules ? 0 : rules.size) + (rates === counters.rates ? 0 : rates.size);
  return (store === after.store ? 0 : STORE_BYTES) + copied * COUNTER_BYTES;
}

function countSettings(before: State, after: State): number {
  const isSame =
    before.scenarios === after.scenarios && before.settings.active === after.settings.active;
  return isSame ? 0 : LIMITS.jsonText;
}
