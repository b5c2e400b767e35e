import { Rules } from '../scenario/rules.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import type { Clock } from '../service/clock.ts';
import { type CountNotes, Counts } from '../service/counts.ts';
import { createWorld, type World } from '../service/world.ts';
import { indexByStatus } from '../store/animals-by-status.ts';
import type { Store } from '../store/store.ts';
import type { Upstream } from './upstream.ts';

/** The settings of a sandbox and what counts under them. Replaced when a setting changes. */
export interface Setup {
  /** What a reset returns to. */
  readonly origin: Start;
  readonly start: Start;
  readonly world: World;
  readonly rules: Rules;
  /** The counts of rules that single requests ask for, by scenario. */
  readonly preferred: ReadonlyMap<string, Counts<number>>;
  /** Saved stores, by name. */
  readonly snapshots: ReadonlyMap<string, Store>;
  /** The deployment that answers; undefined if the mock does. */
  readonly upstream: Upstream | undefined;
}

const NO_SNAPSHOTS: Setup['snapshots'] = new Map();
const NO_COUNTS: Setup['preferred'] = new Map();

/** The setup of a new sandbox. `noting` records what is counted. */
export function firstSetup(
  start: Start,
  { store, upstream }: { store: Store; upstream: Upstream | undefined },
  clock: Clock,
  noting: CountNotes,
): Setup {
  const { world, rules, preferred } = started(start, store, clock, noting);
  return { origin: start, start, world, rules, preferred, snapshots: NO_SNAPSHOTS, upstream };
}

/** The setup after a restart from `start`. Keeps the records. */
export function setupFrom(setup: Setup, start: Start, clock: Clock, noting: CountNotes): Setup {
  return { ...setup, ...started(start, setup.world.store, clock, noting) };
}

function started(
  start: Start,
  store: Store,
  clock: Clock,
  noting: CountNotes,
): Omit<Setup, 'origin' | 'snapshots' | 'upstream'> {
  // In the background, so that a large store starts at once.
  void indexByStatus(store.animals.base);
  const { choices, keys, seed } = start;
  return {
    start,
    world: createWorld({ store, clock, choices, keys, seed, noting }),
    rules: new Rules(start.rules, seed, new Counts(noting)),
    preferred: NO_COUNTS,
  };
}
