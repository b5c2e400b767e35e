import type { CollectionName } from '../contract/records.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import type { Totals } from './coverage.ts';
import type { Exchange, HeldExchange, HoldEnd } from './exchange.ts';
import type { ExchangeFilter } from './exchange-filter.ts';
import type { State } from './state.ts';

export interface EditText {
  /** Such as `clock +30 days`. */
  readonly what: string;
  /** Who made it, such as `ctl`. */
  readonly by: string;
}

export interface Edit extends EditText {
  readonly after: number;
  /** By the sandbox's clock, in milliseconds since 1970. */
  readonly at: number;
  /** How many records of each collection it changed. */
  readonly changed: Readonly<Record<CollectionName, number>>;
  /** Whether it was undone, or is itself an undo. */
  readonly isUndone: boolean;
}

export interface JournalQuery {
  readonly filter?: ExchangeFilter | undefined;
  /** The latest ones only. */
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

/** What happened in a sandbox. In a fleet, Redis has it, so all but memory answers later. */
export interface Journal {
  size(): JournalSize | Promise<JournalSize>;
  select(query: JournalQuery): JournalPage | Promise<JournalPage>;
  find(number: number): Exchange | undefined | Promise<Exchange | undefined>;
  /** The oldest first. */
  edits(): readonly Edit[] | Promise<readonly Edit[]>;
  totals(): Totals | Promise<Totals>;
  held(): readonly HeldExchange[] | Promise<readonly HeldExchange[]>;
  endHold(exchange: Exchange): void | Promise<void>;
  /** The states around an exchange; undefined if nobody remembers them. */
  remembered(number: number): RememberedStates | undefined;
  lastEdit(): RememberedEdit | undefined;
}

export interface RememberedStates {
  readonly before: State;
  readonly after: State;
}

export interface RememberedEdit {
  readonly edit: Edit;
  readonly before: State;
  /** Counts the calls since then that changed the store. */
  readonly laterCalls: () => number;
}

export interface JournalContext {
  /** Exchanges that each keeps; may be 0. */
  readonly capacity: number;
  readonly bodies: BodyBudget;
  /** The totals of what was cleared, and of sandboxes that were deleted. */
  readonly past: Totals;
}

/** Bytes of bodies that all journals of a server keep. */
const MAX_SERVER_BODY_BYTES = 256 * 1024 * 1024;

/** The bodies that all journals of a server keep. */
export class BodyBudget {
  #bytes = 0;
  /** Those with bodies that count; the one that was used last comes last. */
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

/** What a request or a call of the control API makes of a state. */
export interface Update {
  readonly state: State;
  readonly exchange?: Exchange | undefined;
  readonly edit?: EditText | undefined;
  /** What of the journal goes: its exchanges, or also coverage and findings. */
  readonly clears?: 'journal' | 'all' | undefined;
  /** Whether the edit undoes the latest one. */
  readonly undoes?: boolean | undefined;
}

export type SandboxEvent =
  | { readonly kind: 'exchange'; readonly exchange: Exchange }
  /** A reply that was held back has left, or never will. */
  | { readonly kind: 'hold'; readonly exchange: Exchange }
  | { readonly kind: 'edit' }
  /** Replies that were held back are to be sent; all without numbers. */
  | { readonly kind: 'release'; readonly why: HoldEnd; readonly exchanges?: readonly number[] }
  | { readonly kind: 'deleted' };

export type SandboxListener = (event: SandboxEvent) => void;

/** Where the state of one sandbox lives. All that differs between memory, a file and Redis. */
export interface Storage {
  /** Whether other servers change it, too. */
  readonly isShared: boolean;
  /** Whether a restart of the server keeps the records. */
  readonly isDurable: boolean;
  /** As this server last saw it. */
  readonly state: State;
  readonly journal: Journal;
  /**
   * Runs an update on the present state, and keeps what it made of that.
   *
   * @param run pure; it runs again if another server was faster
   * @throws StorageError if the result cannot be kept; then nothing changed, or it says otherwise
   */
  update<U extends Update>(run: (state: State) => U): U | Promise<U>;
  /** Tells those who follow the sandbox, on every server. */
  publish(event: SandboxEvent): void | Promise<void>;
  /**
   * Calls back for each event, on whichever server it happens.
   *
   * @returns cancels the callback
   */
  subscribe(listener: SandboxListener): () => void;
}

export interface OpenedSandbox {
  readonly name: string;
  readonly start: Start;
  readonly initial: State;
  /** Whether its first use creates it. */
  readonly mayCreate: boolean;
}

export interface Fleet {
  /** Why no sandbox can be used; undefined while they can. */
  readonly problem: string | undefined;
  open(sandbox: OpenedSandbox): Storage;
  /**
   * Creates a sandbox. False if there is one of this name.
   *
   * @throws StorageError
   */
  create(sandbox: OpenedSandbox): Promise<boolean>;
  /**
   * Deletes a sandbox on every server. False if there is none, or if it was used too recently.
   *
   * @param unusedFor how long it must not have been used, in milliseconds
   * @throws StorageError
   */
  delete(name: string, unusedFor: number): Promise<boolean>;
  /**
   * Milliseconds since any server answered a request in each sandbox or changed it, by name.
   *
   * @throws StorageError
   */
  unused(): Promise<ReadonlyMap<string, number>>;
  /**
   * What all sandboxes were shown, deleted ones included.
   *
   * @throws StorageError
   */
  totals(): Promise<Totals>;
  close(): void;
}

interface StorageErrorOptions extends ErrorOptions {
  /** The code of the reply; `not_saved` by default. */
  readonly code?: 'not_saved' | 'too_many_sandboxes';
  /** Whether the change may have been made all the same. */
  readonly isOutcomeUnknown?: boolean;
}

/** A change cannot be kept, or a state cannot be read. The message says why. */
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

/** Those who follow a sandbox, or all of a server. */
export class Emitter<Event> {
  // Created on first use: there can be many sandboxes, and nobody follows most of them.
  #listeners: Set<(event: Event) => void> | undefined;

  get isEmpty(): boolean {
    return this.#listeners === undefined || this.#listeners.size === 0;
  }

  /** @returns cancels the callback */
  add(listener: (event: Event) => void): () => void {
    this.#listeners ??= new Set();
    const listeners = this.#listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  emit(event: Event): void {
    if (this.#listeners !== undefined) for (const listener of this.#listeners) listener(event);
  }
}
