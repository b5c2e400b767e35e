import type { CollectionName } from '../contract/records.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import type { Totals } from './coverage.ts';
import type { Exchange, HeldExchange, HoldEnd } from './exchange.ts';
import { type ExchangeFilter, passes } from './exchange-filter.ts';
import type { State } from './state.ts';

export interface EditText {
  /** Such as `clock +30 days`. */
  readonly what: string;
  /** Such as `ctl`. */
  readonly by: string;
}

export interface Edit extends EditText {
  readonly after: number;
  /** By the sandbox's clock, in milliseconds since 1970. */
  readonly at: number;
  /** Counts of records. */
  readonly changed: Readonly<Record<CollectionName, number>>;
  readonly isUndone: boolean;
}

export interface JournalQuery {
  readonly filter?: ExchangeFilter | undefined;
  /** Of the latest. */
  readonly limit?: number | undefined;
}

export interface JournalPage {
  /** The newest first. */
  readonly exchanges: readonly Exchange[];
  readonly total: number;
  readonly dropped: number;
  readonly number: number;
  /** Whether no dropped exchange could match. */
  readonly isComplete: boolean;
}

export interface JournalSize {
  readonly number: number;
  readonly size: number;
  readonly dropped: number;
}

/** In a fleet, Redis has it: only memory answers at once. */
export interface Journal {
  size(): JournalSize | Promise<JournalSize>;
  select(query: JournalQuery): JournalPage | Promise<JournalPage>;
  find(number: number): Exchange | undefined | Promise<Exchange | undefined>;
  /** The oldest first. */
  edits(): readonly Edit[] | Promise<readonly Edit[]>;
  totals(): Totals | Promise<Totals>;
  held(): readonly HeldExchange[] | Promise<readonly HeldExchange[]>;
  endHold(exchange: Exchange): void | Promise<void>;
  /** Undefined if forgotten. */
  remembered(number: number): RememberedStates | undefined;
  lastEdit(): RememberedEdit | undefined;
}

/** Whether a query means held replies: there can be more than the journal keeps. */
export function includesHeld({ filter = {} }: JournalQuery): boolean {
  return filter.hold !== undefined || filter.held === true;
}

/** `kept` has the newest first, `held` the oldest. */
export function selectExchanges(
  { number, size, dropped }: JournalSize,
  kept: Iterable<Exchange>,
  held: readonly HeldExchange[],
  query: JournalQuery,
): JournalPage {
  const { filter = {}, limit = Number.POSITIVE_INFINITY } = query;
  const oldest = number - size + 1;
  const exchanges: Exchange[] = [];
  let total = 0;
  let oldestAt = Number.POSITIVE_INFINITY;
  const take = (exchange: Exchange): void => {
    if (!passes(exchange, filter)) return;
    total += 1;
    if (total <= limit) exchanges.push(exchange);
  };
  for (const exchange of kept) {
    take(exchange);
    oldestAt = exchange.at;
  }
  if (includesHeld(query)) {
    for (const exchange of held.toReversed()) if (exchange.number < oldest) take(exchange);
  }
  const { from = Number.NEGATIVE_INFINITY, after = 0 } = filter;
  // No dropped exchange can match, as long as the clock was not set back.
  const isComplete = dropped === 0 || from > oldestAt || after >= oldest - 1;
  return { exchanges, total, dropped, number, isComplete };
}

export interface RememberedStates {
  readonly before: State;
  readonly after: State;
}

export interface RememberedEdit {
  readonly edit: Edit;
  readonly before: State;
  readonly laterCalls: () => number;
}

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

export interface Update {
  readonly state: State;
  readonly exchange?: Exchange | undefined;
  readonly edit?: EditText | undefined;
  /** `all` includes coverage and findings. */
  readonly clears?: 'journal' | 'all' | undefined;
  readonly undoes?: boolean | undefined;
  /** No earlier state can come back: files say otherwise by now. */
  readonly forgets?: boolean | undefined;
}

/** Keeps a sandbox's own scenarios. Throws a StorageError, and then nothing has changed. */
export type SaveScenarios = (before: State['scenarios'], after: State['scenarios']) => void;

export type SandboxEvent =
  | { readonly kind: 'exchange'; readonly exchange: Exchange }
  /** A held reply has left, or never will. */
  | { readonly kind: 'hold'; readonly exchange: Exchange }
  | { readonly kind: 'edit' }
  /** All without numbers. */
  | { readonly kind: 'release'; readonly why: HoldEnd; readonly exchanges?: readonly number[] }
  | { readonly kind: 'deleted' };

export type SandboxListener = (event: SandboxEvent) => void;

/** All that differs between memory, a file and Redis. */
export interface Storage {
  readonly isShared: boolean;
  /** Whether a restart keeps the records. */
  readonly isDurable: boolean;
  /** As this server last saw it. */
  readonly state: State;
  readonly journal: Journal;
  /** `run` is pure: it runs again if another server was faster. Throws a StorageError. */
  update<U extends Update>(run: (state: State) => U): U | Promise<U>;
  /** On every server. */
  publish(event: SandboxEvent): void | Promise<void>;
  /** Hears every server. Returns how to cancel. */
  subscribe(listener: SandboxListener): () => void;
}

export interface OpenedSandbox {
  readonly name: string;
  readonly start: Start;
  readonly initial: State;
  readonly mayCreate: boolean;
}

/** Its promises reject with a StorageError. */
export interface Fleet {
  readonly problem: string | undefined;
  open(sandbox: OpenedSandbox): Storage;
  /** False if the name is taken. */
  create(sandbox: OpenedSandbox): Promise<boolean>;
  /** False if there is none, or if it was used within `unusedFor` milliseconds. */
  delete(name: string, unusedFor: number): Promise<boolean>;
  /** In milliseconds, by name. */
  unused(): Promise<ReadonlyMap<string, number>>;
  /** With deleted sandboxes. */
  totals(): Promise<Totals>;
  close(): void;
}

interface StorageErrorOptions extends ErrorOptions {
  readonly code?: 'not_saved' | 'too_many_sandboxes';
  /** The change may have been made. */
  readonly isOutcomeUnknown?: boolean;
}

export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly code: NonNullable<StorageErrorOptions['code']>;
  readonly isOutcomeUnknown: boolean;

  constructor(message: string, options: StorageErrorOptions = {}) {
    super(message, options);
    this.code = options.code ?? 'not_saved';
    this.isOutcomeUnknown = options.isOutcomeUnknown ?? false;
  }

  get refusal(): string {
    if (this.isOutcomeUnknown) return `the change may have been made: ${this.message}`;
    return this.code === 'not_saved' ? `the change was not made: ${this.message}` : this.message;
  }
}

export function createLimitError(max: number, sandbox: string): StorageError {
  return new StorageError(
    `sandbox limit (${max}) reached; ${sandbox} was not created. Delete sandboxes, or raise --max-sandboxes`,
    { code: 'too_many_sandboxes' },
  );
}

export class Emitter<Event> {
  // Created on first use: few sandboxes of many are followed.
  #listeners: Set<(event: Event) => void> | undefined;

  get isEmpty(): boolean {
    return this.#listeners === undefined || this.#listeners.size === 0;
  }

  /** Returns how to cancel. */
  add(listener: (event: Event) => void): () => void {
    this.#listeners ??= new Set();
    const listeners = this.#listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  emit(event: Event): void {
    if (this.#listeners !== undefined) for (const listener of this.#listeners) listener(event);
  }
}
