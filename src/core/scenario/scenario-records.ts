import { DEFAULTS } from '../limits.ts';
import type { Platform } from '../platform.ts';
import { ContentError } from '../problems.ts';
import { readShippedFixture } from '../store/fixture.ts';
import { merge } from '../store/merge.ts';
import type { Store } from '../store/store.ts';
import type { Scenario } from './scenario-shape.ts';

/** Thrown for a scenario that cannot be used. Its message lists the problems with their places. */
export class ScenarioError extends ContentError {
  override readonly name = 'ScenarioError';
}

/** Applies scenarios to a store, or to the fixture of the last scenario that names one. */
export function applyRecords(store: Store, scenarios: readonly Scenario[]): Store {
  const base = scenarios.findLast((scenario) => scenario.base !== undefined)?.base ?? store;
  return scenarios.reduce((before, { state, locate }) => {
    const merged = merge(before, state, ['state']);
    if (merged.ok) return merged.value;
    throw new ScenarioError(locate(merged.problems));
  }, base);
}

/** Loads the fixtures that scenarios name, and generates the records that they ask for. */
export function loadBases(
  scenarios: readonly Scenario[],
  platform: Pick<Platform, 'shippedText' | 'pause'>,
  seed: number = DEFAULTS.seed,
): Promise<readonly Scenario[]> {
  return Promise.all(
    scenarios.map(async (scenario) => {
      const { base, fixture, generate } = scenario;
      if (base !== undefined || (fixture === undefined && generate === undefined)) return scenario;
      const { animals, orders } = generate ?? {};
      if (animals === undefined && orders === undefined) {
        return { ...scenario, base: readShippedFixture(platform, fixture ?? DEFAULTS.fixture) };
      }
      const { generateStore } = await import('../store/generate-store.ts');
      return { ...scenario, base: await generateStore({ animals, orders, seed }, platform) };
    }),
  );
}
