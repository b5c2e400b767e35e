import { DEFAULTS } from '../defaults.ts';
import { generateStore } from '../store/fixture/generate-store.ts';
import { loadFixture } from '../store/fixture/load-fixture.ts';
import { createStore, type Store } from '../store/store.ts';
import { inTurns } from '../work.ts';
import type { Scenario } from './read-scenario.ts';
import { type Start, type StartSettings, starting } from './sandbox-start.ts';

/** The store before scenarios change it. */
export interface StoreChoice {
  /** The name of a shipped fixture, or a path. */
  readonly fixture?: string | undefined;
  /** How many animals and orders to generate instead of a fixture. */
  readonly animals?: number | undefined;
  readonly orders?: number | undefined;
}

/** Creates the start for scenarios. Throws FixtureError or ScenarioError for a broken file. */
export type Starter = (scenarios: readonly Scenario[]) => Promise<Start>;

/**
 * Returns a starter for one set of settings.
 *
 * @param initial the store to start from if no scenario names another
 */
export function starterFrom(settings: StartSettings, initial: () => Store): Starter {
  return async (scenarios) => {
    const named = scenarios.findLast((it) => it.fixture !== undefined || it.generate !== undefined);
    if (named === undefined) return inTurns(starting(settings, initial(), scenarios));
    const { fixture, generate } = named;
    const store = await loadStore({ fixture, ...generate }, settings.seed);
    return inTurns(starting(settings, store, scenarios));
  };
}

/**
 * Loads or generates a store.
 *
 * @throws FixtureError if the fixture is broken
 */
export async function loadStore(
  { fixture = DEFAULTS.fixture, animals, orders }: StoreChoice,
  seed: number = DEFAULTS.seed,
): Promise<Store> {
  if (animals === undefined && orders === undefined) return loadFixture(fixture);

  return createStore(await generateStore({ animals, orders, seed }));
}

/** Whether a scenario affects records, so that its store must be built for it. */
export function touchesStore({ fixture, generate, state }: Scenario): boolean {
  if (fixture !== undefined || generate !== undefined) return true;
  return Object.values(state).some((it) => it.set.length + it.each.length + it.remove.length > 0);
}
