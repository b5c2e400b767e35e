import { COLLECTIONS, type CollectionName } from '../contract/records.ts';
import type { Store } from '../store/store.ts';
import { type Exchange, MAX_BODY } from './exchange.ts';
import { type ExchangeFilter, passes } from './exchange-filter.ts';
import { findHoldFindings, type HeldExchange, isHeld } from './holds.ts';
import type { State } from './state.ts';
import { Totals } from './totals.ts';

/** Bytes of bodies that a journal keeps, and all journals of a server. */
const MAX_JOURNAL_BODIES = 16 * 1024 * 1024;
const MAX_SERVER_BODIES = 256 * 1024 * 1024;

/** Bytes that a body may have to count for nothing: the exchange around it takes as much. */
const SMALL_BODY = 1024;

/** Edits that a journal keeps. */
const MAX_EDITS = 1000;

/** Records that edits may have written since the oldest state that is remembered. */
const MAX_REMEMBERED_RECORDS = 500_000;

/** What a change by the control API says of itself. */
export interface EditText {
  /** Such as `clock +30 days`. */
  readonly what: string;
  /** Who made it, such as `ctl`. */
  readonly by: string;
}

/** A change by the control API. */
export interface Edit extends EditText {
  /** The number of the exchange before it. */
  readonly after: number;
  /** By the sandbox's clock, in milliseconds since 1970. */
  readonly at: number;
  /** How many records of each collection it changed. */
  readonly changed: Readonly<Record<CollectionName, number>>;
}

/** Which exchanges to read. */
export interface JournalQuery {
  readonly filter?: ExchangeFilter | undefined;
  /** The latest ones only. */
  readonly limit?: number | undefined;
}

/** Exchanges, and how many there are besides. */
export interface JournalPage {
  /** The newest first. */
  readonly exchanges: readonly Exchange[];
  /** How many match, regardless of the limit. */
  readonly total: number;
  readonly dropped: number;
  /** The number of the latest exchange. */
  readonly number: number;
  /** Whether no dropped exchange could match. */
  readonly isComplete: boolean;
}

/** The numbers of a journal. */
export interface JournalSize {
  /** That of the latest exchange. */
  readonly number: number;
  /** How many exchanges are kept. */
  readonly size: number;
  readonly dropped: number;
}

/** What happened in a sandbox. In a fleet, Redis has it, so all but memory answers later. */
export interface Journal {
  size(): JournalSize | Promise<JournalSize>;
  select(query: JournalQuery): JournalPage | Promise<JournalPage>;
  find(number: number): Exchange | undefined | Promise<Exchange | undefined>;
  /** The oldest first. */
  edits(): readonly Edit[] | Promise<readonly Edit[]>;
  /** What was shown and found since the last reset. */
  totals(): Totals | Promise<Totals>;
  /** The replies that are held back, the oldest first. */
  held(): readonly HeldExchange[] | Promise<readonly HeldExchange[]>;
  /** Keeps how a hold ended. */
  endHold(exchange: Exchange): void | Promise<void>;
  /** The states around an exchange; undefined if nobody remembers them. */
  remembered(number: number): RememberedStates | undefined;
  /** The latest edit that can be taken back. */
  lastEdit(): RememberedEdit | undefined;
}

export interface RememberedStates {
  readonly before: State;
  readonly after: State;
}

export interface RememberedEdit {
  readonly edit: Edit;
  readonly before: State;
  /** Calls since then that changed the store. */
  readonly laterCalls: number;
}

interface Entry {
  exchange: Exchange;
  /** The states around it; undefined once they are forgotten. */
  before: State | undefined;
  after: State | undefined;
}

/** What the journals of a server share. */
export interface JournalContext {
  /** Exchanges that each keeps; may be 0. */
  readonly capacity: number;
  readonly bodies: BodyBudget;
  /** The totals of what was cleared, and of sandboxes that were deleted. */
  readonly past: Totals;
}

/** The journal of a sandbox in memory. */
export class MemoryJournal implements Journal {
  readonly #sandbox: string;
  readonly #context: JournalContext;
  /** A ring once it is full. */
  #entries: Entry[] = [];
  #number = 0;
  /** The number of the latest exchange that was cleared. */
  #cleared = 0;
  #totals = new Totals();
  // Created when needed: there can be many sandboxes.
  #edits: { readonly edit: Edit; before: State | undefined }[] | undefined;
  #held: Map<number, HeldExchange> | undefined;
  /** The bytes of bodies that count, by exchange. */
  #bodies: Map<number, number> | undefined;
  #bodyBytes = 0;

  constructor(sandbox: string, context: JournalContext) {
    this.#sandbox = sandbox;
    this.#context = context;
  }

  size(): JournalSize {
    const size = this.#entries.length;
    return { number: this.#number, size, dropped: this.#number - this.#cleared - size };
  }

  /** Keeps an exchange, gives it its number, and remembers the states around it. */
  add(exchange: Exchange, before: State, after: State): void {
    this.#number += 1;
    exchange.number = this.#number;
    this.#totals.add(exchange, this.#sandbox);
    if (isHeld(exchange)) {
      this.#held ??= new Map();
      this.#held.set(exchange.number, exchange);
    }
    const { capacity } = this.#context;
    if (capacity === 0) return;
    const previous = this.#entry(this.#number - 1)?.exchange;
    if (this.#number - this.#cleared > capacity) this.#forgetBodies(this.#number - capacity);
    const kept = withoutLongBodies(exchange);
    this.#entries[this.#index(this.#number)] = { exchange: kept, before, after };
    this.#countBodies(exchange, previous);
  }

  #index(number: number): number {
    return (number - this.#cleared - 1) % this.#context.capacity;
  }

  #entry(number: number): Entry | undefined {
    const entry = this.#entries[this.#index(number)];
    return entry?.exchange.number === number ? entry : undefined;
  }

  /** A text that the exchange before shows as well is in memory once. */
  #countBodies({ number, request, reply }: Exchange, previous: Exchange | undefined): void {
    const isShared = reply?.body !== undefined && reply.body === previous?.reply?.body;
    const bytes = countable(request.size) + (isShared ? 0 : countable(reply?.size ?? 0));
    if (bytes === 0) return;
    this.#bodies ??= new Map();
    this.#bodies.set(number, bytes);
    this.#bodyBytes += bytes;
    while (this.#bodyBytes > MAX_JOURNAL_BODIES) this.dropOldestBodies();
    this.#context.bodies.add(this, bytes);
  }

  /** @returns their bytes */
  dropOldestBodies(): number {
    const [number] = this.#bodies?.keys() ?? [];
    if (number === undefined) return 0;
    const entry = this.#entry(number);
    if (entry !== undefined) entry.exchange = withoutBodies(entry.exchange);
    return this.#forgetBodies(number);
  }

  #forgetBodies(number: number): number {
    const bytes = this.#bodies?.get(number) ?? 0;
    if (bytes === 0) return 0;
    this.#bodies?.delete(number);
    this.#bodyBytes -= bytes;
    this.#context.bodies.remove(this, bytes, this.#bodyBytes === 0);
    return bytes;
  }

  /** Keeps an edit, and remembers the state before it. */
  addEdit({ what, by }: EditText, at: number, before: State, after: State): void {
    const changed = countChanges(before.store, after.store);
    this.#edits ??= [];
    this.#edits.push({ edit: { what, by, at, after: this.#number, changed }, before });
    if (this.#edits.length > MAX_EDITS) this.#edits.shift();
    this.#forgetStates();
  }

  /** Forgets the oldest states once edits have written many records since. */
  #forgetStates(): void {
    const edits = this.#edits ?? [];
    let records = 0;
    for (const known of edits.toReversed()) {
      records += COLLECTIONS.reduce((sum, name) => sum + known.edit.changed[name], 0);
      if (records <= MAX_REMEMBERED_RECORDS || known === edits.at(-1)) continue;
      if (known.before === undefined) return;
      known.before = undefined;
      for (const entry of this.#entries) {
        if (entry.exchange.number > known.edit.after) continue;
        entry.before = undefined;
        entry.after = undefined;
      }
    }
  }

  edits(): readonly Edit[] {
    return this.#edits?.map(({ edit }) => edit) ?? [];
  }

  lastEdit(): RememberedEdit | undefined {
    const { edit, before } = this.#edits?.at(-1) ?? {};
    if (edit === undefined || before === undefined) return undefined;
    let laterCalls = 0;
    for (let number = edit.after + 1; number <= this.#number; number += 1) {
      const entry = this.#entry(number);
      if (entry?.before?.store !== entry?.after?.store) laterCalls += 1;
    }
    return { edit, before, laterCalls };
  }

  /** Forgets the latest edit, which was taken back. */
  dropEdit(): void {
    this.#edits?.pop();
  }

  remembered(number: number): RememberedStates | undefined {
    const { before, after } = this.#entry(number) ?? {};
    return before === undefined || after === undefined ? undefined : { before, after };
  }

  find(number: number): Exchange | undefined {
    return this.#entry(number)?.exchange ?? this.#held?.get(number);
  }

  select({ filter = {}, limit = Number.POSITIVE_INFINITY }: JournalQuery): JournalPage {
    const exchanges: Exchange[] = [];
    let total = 0;
    const { number: latest, size, dropped } = this.size();
    const take = (exchange: Exchange | undefined): void => {
      if (exchange === undefined || !passes(exchange, filter)) return;
      total += 1;
      if (total <= limit) exchanges.push(exchange);
    };
    for (let number = latest; number > latest - size; number -= 1) {
      take(this.#entry(number)?.exchange);
    }
    // There can be more held replies than the journal keeps.
    if (filter.hold !== undefined || filter.held === true) {
      for (const held of this.held().toReversed()) if (held.number <= latest - size) take(held);
    }
    return { exchanges, total, dropped, number: latest, isComplete: this.#isComplete(filter) };
  }

  /** Whether no dropped exchange could match, as long as the clock was not set back. */
  #isComplete({ from = Number.NEGATIVE_INFINITY, after = 0 }: ExchangeFilter): boolean {
    const { number, size, dropped } = this.size();
    const oldest = number - size + 1;
    const { at } = this.#entry(oldest)?.exchange ?? { at: Number.POSITIVE_INFINITY };
    return dropped === 0 || from > at || after >= oldest - 1;
  }

  totals(): Totals {
    return this.#totals;
  }

  held(): readonly HeldExchange[] {
    return [...(this.#held?.values() ?? [])];
  }

  /** The entry of the journal shares its hold with the exchange. */
  endHold(exchange: Exchange): void {
    const { number } = exchange;
    this.#held?.delete(number);
    const entry = this.#entry(number);
    if (entry !== undefined) entry.exchange.duration = exchange.duration;
    const findings = findHoldFindings(exchange);
    if (findings.length > 0) this.#totals.add({ ...exchange, shows: [], findings }, this.#sandbox);
  }

  /** Removes every exchange, and forgets that any were dropped; or also edits and what all add up to. */
  clear(what: 'journal' | 'all'): void {
    this.#entries = [];
    this.#cleared = this.#number;
    for (const number of [...(this.#bodies?.keys() ?? [])]) this.#forgetBodies(number);
    if (what === 'journal') return;
    this.#edits = undefined;
    this.#context.past.merge(this.#totals);
    this.#totals = new Totals();
  }
}

function countable(bytes: number): number {
  return bytes > SMALL_BODY && bytes <= MAX_BODY ? bytes : 0;
}

/** The exchange itself unless a body is too long to be kept. */
function withoutLongBodies(exchange: Exchange): Exchange {
  const { request, reply } = exchange;
  if (request.size <= MAX_BODY && (reply === undefined || reply.size <= MAX_BODY)) return exchange;
  return {
    ...exchange,
    request: request.size > MAX_BODY ? { ...request, body: undefined } : request,
    reply: reply && (reply.size > MAX_BODY ? { ...reply, body: undefined } : reply),
  };
}

function withoutBodies(exchange: Exchange): Exchange {
  const { request, reply } = exchange;
  return {
    ...exchange,
    request: { ...request, body: undefined },
    reply: reply && { ...reply, body: undefined },
  };
}

function countChanges(before: Store, after: Store): Edit['changed'] {
  return {
    animals: before.animals.countChanges(after.animals),
    inventory: before.inventory.countChanges(after.inventory),
    orders: before.orders.countChanges(after.orders),
  };
}

/** The bodies that all journals of a server keep. */
export class BodyBudget {
  #bytes = 0;
  /** Those with bodies that count; the one that was used last comes last. */
  readonly #journals = new Set<MemoryJournal>();

  add(journal: MemoryJournal, bytes: number): void {
    this.#bytes += bytes;
    this.#journals.delete(journal);
    this.#journals.add(journal);
    while (this.#bytes > MAX_SERVER_BODIES) {
      const [oldest] = this.#journals;
      if (oldest === undefined || oldest.dropOldestBodies() === 0) return;
    }
  }

  remove(journal: MemoryJournal, bytes: number, isLast: boolean): void {
    this.#bytes -= bytes;
    if (isLast) this.#journals.delete(journal);
  }
}
