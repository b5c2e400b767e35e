import type { Choices } from '../contract/assumption-table.ts';
import type { Store } from '../store/store.ts';
import type { Keyring } from './keyring.ts';
import type { RateWindows } from './rate-limit.ts';
import type { Reply } from './reply.ts';
import type { Representation } from './representation.ts';

/** Everything that an operation sees. */
export interface World {
  readonly store: Store;
  readonly choices: Choices;
  /** How `choices` writes records. */
  readonly represent: Representation;
  readonly keys: Keyring;
  /** The requests of each key, for the rate limit. */
  readonly rates: RateWindows;
  /** All random draws depend on the seed, a record and a field, never on the order of calls. */
  readonly seed: number;
  /** By the clock of the sandbox, in milliseconds since 1970. */
  readonly now: number;
  /** When the sandbox started, by its clock. */
  readonly startedAt: number;
}

/** What an operation answers, and what it leaves. */
export interface Result {
  readonly reply: Reply;
  readonly store: Store;
  readonly rates: RateWindows;
}
