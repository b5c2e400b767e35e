import { type Choices, chooseOptions } from '../contract/assumption-table.ts';
import { DEFAULTS } from '../defaults.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from './clock.ts';
import type { CountNotes } from './counts.ts';
import { type Keyring, keyring } from './keyring.ts';
import { RateLimiter } from './rate-limit.ts';
import { type Representation, representationFor } from './representation.ts';

/** Everything that an operation can access. */
export interface World {
  readonly store: Store;
  readonly keys: Keyring;
  readonly choices: Choices;
  readonly clock: Clock;
  /** In milliseconds since 1970, by `clock`. */
  readonly startedAt: number;
  /** All random draws depend on the seed, a record and a field, never on the order of calls. */
  readonly seed: number;
  readonly rates: RateLimiter;
  readonly represent: Representation;
}

export interface WorldOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly choices?: Choices;
  readonly keys?: Keyring;
  readonly seed?: number;
  /** Notes what the rate limit counts. */
  readonly noting?: CountNotes;
}

/** Makes a world. By default, with the default keys, options and seed. */
export function createWorld(options: WorldOptions): World {
  const { store, clock, choices = chooseOptions(), seed = DEFAULTS.seed } = options;
  return {
    store,
    keys: options.keys ?? keyring({}),
    choices,
    clock,
    startedAt: clock.now(),
    seed,
    rates: new RateLimiter(clock, options.noting),
    represent: representationFor(choices),
  };
}

/** The same world with other options. Shares store, clock and keys. */
export function withChoices(world: World, choices: Choices): World {
  return { ...world, choices, represent: representationFor(choices) };
}
