import type { Choices } from '../contract/assumption-table.ts';
import { OPERATION_IDS } from '../contract/operations.ts';
import { DEFAULTS } from '../limits.ts';
import type { Platform } from '../platform.ts';
import type { ClockSetting } from '../service/clock.ts';
import { type KeyLists, STAGING_KEY } from '../service/keyring.ts';
import { readShippedFixture } from '../store/fixture.ts';
import { merge } from '../store/merge.ts';
import type { Store } from '../store/store.ts';
import { ContentError } from '../words.ts';
import type { MockOptions } from './mock-options.ts';
import type { Rule } from './rule-shape.ts';
import type { SavedScenario, Scenario } from './scenario-shape.ts';

/** A scenario cannot be used. The message names the places of its problems. */
export class ScenarioError extends ContentError {
  override readonly name = 'ScenarioError';
}

/** What a sandbox starts from and a reset returns to. Shared, never changed. */
export interface Start {
  /** With what its scenarios change, as `clock` is. */
  readonly store: Store;
  readonly clock: ClockSetting;
  /** As they were given: whoever reads one knows its default. */
  readonly options: MockOptions;
  /** Win over the scenarios: what was set by hand when this became the start. */
  readonly byHand: Partial<Choices>;
  /** Keys that no scenario changes: those of staging. */
  readonly ownKeys: KeyLists | undefined;
  readonly scenarios: readonly Scenario[];
  /** Scenarios that the sandbox has of its own, by name. */
  readonly saved: ReadonlyMap<string, SavedScenario>;
}

/** @param store to start from if no scenario names another; later ones win, record by record */
export function createStart(
  options: MockOptions,
  store: Store,
  scenarios: readonly Scenario[] = [],
  saved: Start['saved'] = new Map(),
): Start {
  const atStart: ClockSetting = { now: options.clock, frozen: options.frozen };
  const clock = scenarios.reduce((earlier, later) => override(earlier, later.clock), atStart);
  const records = applyRecords(store, scenarios);
  return { store: records, clock, options, byHand: {}, ownKeys: undefined, scenarios, saved };
}

/** Starts from the fixture of the last scenario that names one. */
export function applyRecords(store: Store, scenarios: readonly Scenario[]): Store {
  const base = scenarios.findLast((scenario) => scenario.base !== undefined)?.base ?? store;
  return scenarios.reduce((before, { state, locate }) => {
    const merged = merge(before, state, ['state']);
    if (merged.ok) return merged.value;
    throw new ScenarioError(locate(merged.problems));
  }, base);
}

/** Of `--delay`. */
export function delayRule(milliseconds: number): Rule {
  const always = { on: OPERATION_IDS, where: [], chance: 1, apply: false };
  return {
    scenario: 'delay',
    number: 1,
    title: '--delay',
    ...always,
    delay: { min: milliseconds, max: milliseconds },
  };
}

/** The document's second deployment has a key of its own. */
export function stagingStart(start: Start): Start {
  return { ...start, ownKeys: { valid: [STAGING_KEY], readOnly: [] } };
}

export function override<T extends object>(earlier: T, later: Partial<T>): T {
  const overrides = Object.entries(later).filter(([, value]) => value !== undefined);
  return { ...earlier, ...Object.fromEntries(overrides) };
}

/** Reads the shipped fixtures of scenarios, and generates what they ask for. */
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
