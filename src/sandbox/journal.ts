import type { CollectionName } from '../contract/records.ts';
import type { BodyBudget } from './body-budget.ts';
import type { Exchange, HeldExchange } from './exchange.ts';
import type { ExchangeFilter } from './exchange-filter.ts';
import type { State } from './state.ts';
import type { Totals } from './totals.ts';

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
  /** Counts the calls since then that changed the store. */
  readonly laterCalls: () => number;
}

/** What the journals of a server share. */
export interface JournalContext {
  /** Exchanges that each keeps; may be 0. */
  readonly capacity: number;
  readonly bodies: BodyBudget;
  /** The totals of what was cleared, and of sandboxes that were deleted. */
  readonly past: Totals;
}
