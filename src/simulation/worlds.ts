import { type Choices, chooseOptions } from '../contract/assumptions.ts';
import { clockFrom } from '../service/clock.ts';
import { type KeyLists, keyring } from '../service/keyring.ts';
import { createWorld, type World } from '../service/world.ts';
import type { StoreBase } from '../store/store.ts';

/** Finds the world of a sandbox; undefined where there is none of that name. */
export type WorldFinder = (sandbox: string | undefined) => World | undefined;

/** What shapes a world besides its records. */
export interface WorldSettings {
  /** The seed of everything drawn, an integer of 32 bits; 1 by default. */
  readonly seed?: number | undefined;
  /** Options other than the defaults. */
  readonly assume?: Partial<Choices> | undefined;
  readonly keys?: KeyLists | undefined;
  /** Where the clock starts, in milliseconds since 1970; real time by default. */
  readonly clock?: number | undefined;
  /** Whether the clock stands still. */
  readonly frozen?: boolean | undefined;
}

/** The second deployment of the document, and the only key it takes: `--key` is for the default one. */
const STAGING = 'staging';
const STAGING_KEYS: KeyLists = { valid: ['staging-key'], readOnly: [] };

/** The default world and the one of staging, which share nothing but what they start from. */
export function createWorlds(base: StoreBase, settings: WorldSettings): WorldFinder {
  const shared = {
    base,
    choices: chooseOptions(settings.assume),
    seed: settings.seed ?? 1,
    clock: clockFrom(settings.clock, settings.frozen ?? false),
  };
  const initial = createWorld({ ...shared, keys: keyring(settings.keys ?? {}) });
  let staging: World | undefined;
  return (sandbox) => {
    if (sandbox === undefined) return initial;
    if (sandbox !== STAGING) return undefined;
    staging ??= createWorld({ ...shared, keys: keyring({ ...settings.keys, ...STAGING_KEYS }) });
    return staging;
  };
}
