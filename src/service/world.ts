import { type Choices, chooseOptions } from '../contract/assumptions.ts';
import { createStore, type Store, type StoreBase } from '../store/store.ts';
import type { Clock } from './clock.ts';
import { type Keyring, keyring } from './keyring.ts';
import { PageCache } from './pets-page.ts';
import { RateLimiter } from './rate-limit.ts';
import { type Representation, representationFor } from './representation.ts';

/** Everything that an operation may see. */
export interface World {
  readonly store: Store;
  readonly keys: Keyring;
  readonly choices: Choices;
  readonly clock: Clock;
  /** Everything drawn is a function of it, of a record and of a field, never of call order. */
  readonly seed: number;
  readonly rates: RateLimiter;
  readonly represent: Representation;
  readonly pages: PageCache;
}

export interface WorldOptions {
  readonly base: StoreBase;
  readonly clock: Clock;
  readonly choices?: Choices;
  readonly keys?: Keyring;
  readonly seed?: number;
}

export function createWorld({ base, clock, choices, keys, seed }: WorldOptions): World {
  const chosen = choices ?? chooseOptions();
  return {
    store: createStore(base),
    keys: keys ?? keyring({}),
    choices: chosen,
    clock,
    seed: seed ?? 1,
    rates: new RateLimiter(clock),
    represent: representationFor(chosen),
    pages: new PageCache(),
  };
}
