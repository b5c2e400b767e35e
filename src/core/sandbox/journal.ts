import { COLLECTIONS } from '../contract/records.ts';
import { countChanges } from '../store/store.ts';
import { Totals } from './coverage.ts';
import { type Exchange, findHoldFindings, type HeldExchange, isHeld } from './exchange.ts';
import {
  type Edit,
  type EditText,
  type JournalPage,
  type JournalQuery,
  type JournalSize,
  type RememberedEdit,
  type RememberedStates,
  selectExchanges,
} from './journal-page.ts';
import type { State } from './state.ts';

const MAX_JOURNAL_BODY_BYTES = 16 * 1024 * 1024;

/** Bytes that a body may have to be kept whole; of a longer one nothing is kept. */
const MAX_BODY_BYTES = 256 * 1024;

const MAX_EDITS = 1000;

/** Records that edits may have written since the oldest state that is remembered. */
const MAX_REMEMBERED_RECORDS = 500_000;

export interface JournalContext {
  /** May be 0. */
  readonly capacity: number;
  readonly bodies: BodyBudget;
  /** Of cleared journals and deleted sandboxes. */
  readonly past: Totals;
}

/** In all journals of a server. */
const MAX_SERVER_BODY_BYTES = 256 * 1024 * 1024;

export class BodyBudget {
  #bytes = 0;
  /** The last used comes last. */
  readonly #journals = new Set<{ dropOldestBodies(): number }>();

  add(journal: { dropOldestBodies(): number }, bytes: number): void {
    this.#bytes += bytes;
    this.#journals.delete(journal);
    this.#journals.add(journal);
    while (this.#bytes > MAX_SERVER_BODY_BYTES) {
      const [oldest] = this.#journals;
      if (oldest === undefined || oldest.dropOldestBodies() === 0) return;
    }
  }

  remove(journal: { dropOldestBodies(): number }, bytes: number, isLast: boolean): void {
    this.#bytes -= bytes;
    if (isLast) this.#journals.delete(journal);
  }
}

interface Entry {
  exchange: Exchange;
  /** The states around it; undefined once they are forgotten. */
  before: State | undefined;
  after: State | undefined;
  bodyBytes: number;
}

interface KeptEdit {
  edit: Edit;
  /** Undefined once it is forgotten, and for what is undone. */
  before: State | undefined;
  /** How many calls have changed the store since. */
  laterCalls: number;
}

export class Journal {
  readonly #sandbox: string;
  readonly #context: JournalContext;
  /** A ring once it is full. */
  #entries: Entry[] = [];
  #number = 0;
  #cleared = 0;
  #totals = new Totals();
  // Created when needed: there can be many sandboxes.
  #edits: KeptEdit[] | undefined;
  #held: Map<number, Exchange> | undefined;
  #bodyBytes = 0;
  /** The first number whose bodies may be kept. */
  #firstBody = 1;

  constructor(sandbox: string, context: JournalContext) {
    this.#sandbox = sandbox;
    this.#context = context;
  }

  size(): JournalSize {
    const size = this.#entries.length;
    return { number: this.#number, size, dropped: this.#number - this.#cleared - size };
  }

  add(exchange: Exchange, before: State, after: State): void {
    exchange.number ||= this.#number + 1;
    this.#number = exchange.number;
    this.#totals.add(exchange, this.#sandbox);
    const edit = this.#latestEdit();
    if (edit !== undefined && before.store !== after.store) edit.laterCalls += 1;
    if (exchange.hold !== undefined) {
      this.#held ??= new Map();
      this.#held.set(exchange.number, exchange);
    }
    const { capacity } = this.#context;
    if (capacity === 0) return;
    const previous = this.#entry(this.#number - 1)?.exchange;
    const dropped = this.#entry(this.#number - capacity);
    if (dropped !== undefined) this.#dropBodies(dropped);
    const kept = withoutBodies(exchange, MAX_BODY_BYTES);
    const bodyBytes = countBodies(exchange, previous);
    this.#entries[this.#index(this.#number)] = { exchange: kept, before, after, bodyBytes };
    if (bodyBytes === 0) return;
    this.#bodyBytes += bodyBytes;
    while (this.#bodyBytes > MAX_JOURNAL_BODY_BYTES) this.dropOldestBodies();
    this.#context.bodies.add(this, bodyBytes);
  }

  #index(number: number): number {
    return (number - this.#cleared - 1) % this.#context.capacity;
  }

  #entry(number: number): Entry | undefined {
    const entry = this.#entries[this.#index(number)];
    return entry?.exchange.number === number ? entry : undefined;
  }

  /** @returns their bytes; 0 if there are none */
  dropOldestBodies(): number {
    for (; this.#firstBody <= this.#number; this.#firstBody += 1) {
      const entry = this.#entry(this.#firstBody);
      if (entry !== undefined && entry.bodyBytes > 0) return this.#dropBodies(entry);
    }
    return 0;
  }

  #dropBodies(entry: Entry): number {
    const { exchange, bodyBytes } = entry;
    if (bodyBytes === 0) return 0;
    entry.exchange = withoutBodies(exchange, SMALL_BODY_BYTES);
    entry.bodyBytes = 0;
    this.#bodyBytes -= bodyBytes;
    this.#context.bodies.remove(this, bodyBytes, this.#bodyBytes === 0);
    return bodyBytes;
  }

  /** Keeps an edit, and remembers the state before it; or keeps that the latest one was undone. */
  addEdit(text: EditText, at: number, before: State, after: State, undoes = false): void {
    const undone = undoes ? this.#latestEdit() : undefined;
    if (undone !== undefined) {
      undone.edit = { ...undone.edit, isUndone: true };
      undone.before = undefined;
    }
    const changed = countChanges(before.store, after.store);
    const edit = { ...text, at, after: this.#number, changed, isUndone: undoes };
    this.#edits ??= [];
    this.#edits.push({ edit, before: undoes ? undefined : before, laterCalls: 0 });
    if (this.#edits.length > MAX_EDITS) this.#edits.shift();
    this.#forgetStates();
  }

  #forgetStates(): void {
    const edits = this.#edits ?? [];
    const latest = this.#latestEdit();
    let records = 0;
    // What was undone counts too: the exchanges before the undo remember it.
    const newestForgotten = edits.findLastIndex((known) => {
      records += COLLECTIONS.reduce((sum, name) => sum + known.edit.changed[name], 0);
      return records > MAX_REMEMBERED_RECORDS && known !== latest;
    });
    const after = edits[newestForgotten]?.edit.after ?? 0;
    for (const known of edits.slice(0, newestForgotten + 1)) {
      if (known !== latest) known.before = undefined;
    }
    for (const entry of this.#entries) {
      if (entry.exchange.number > after) continue;
      entry.before = undefined;
      entry.after = undefined;
    }
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

  lastEdit(): RememberedEdit | undefined {
    const last = this.#latestEdit();
    if (last?.before === undefined) return undefined;
    const { edit, before } = last;
    return { edit, before, laterCalls: last.laterCalls };
  }

  #latestEdit(): KeptEdit | undefined {
    return this.#edits?.findLast(({ edit }) => !edit.isUndone);
  }

  remembered(number: number): RememberedStates | undefined {
    const { before, after } = this.#entry(number) ?? {};
    return before === undefined || after === undefined ? undefined : { before, after };
  }

  find(number: number): Exchange | undefined {
    return this.#entry(number)?.exchange ?? this.#held?.get(number);
  }

  select(query: JournalQuery): JournalPage {
    return selectExchanges(this.size(), this.#newestFirst(), this.held(), query);
  }

  *#newestFirst(): Generator<Exchange> {
    for (let number = this.#number; number > this.#number - this.#entries.length; number -= 1) {
      const entry = this.#entry(number);
      if (entry !== undefined) yield entry.exchange;
    }
  }

  totals(): Totals {
    return this.#totals;
  }

  held(): readonly HeldExchange[] {
    return [...(this.#held?.values() ?? [])].filter(isHeld);
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
    for (const entry of this.#entries) this.#dropBodies(entry);
    this.#entries = [];
    this.#cleared = this.#number;
    if (what === 'journal') return;
    this.#edits = undefined;
    this.#context.past.merge(this.#totals);
    this.#totals = new Totals();
  }
}

/** Bytes that a body may have to count for nothing: the exchange around it takes as much. */
const SMALL_BODY_BYTES = 1024;

/** What the bodies of an exchange count. A text that the one before it shows as well is in memory once. */
function countBodies({ request, reply }: Exchange, previous: Exchange | undefined): number {
  const isShared = reply?.body !== undefined && reply.body === previous?.reply?.body;
  const sizes = [request.size, isShared ? 0 : (reply?.size ?? 0)];
  return sizes
    .filter((size) => size > SMALL_BODY_BYTES && size <= MAX_BODY_BYTES)
    .reduce((sum, size) => sum + size, 0);
}

function withoutBodies(exchange: Exchange, max: number): Exchange {
  const { request, reply } = exchange;
  if (request.size <= max && (reply === undefined || reply.size <= max)) return exchange;
  const shorten = <M extends Exchange['request']>(message: M): M =>
    message.size > max ? { ...message, body: undefined } : message;
  return { ...exchange, request: shorten(request), reply: reply && shorten(reply) };
}
