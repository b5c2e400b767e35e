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
  readonly assume: Partial<Choices>;
  /** Win over the scenarios: what was set by hand when this became the start. */
  readonly byHand: Partial<Choices>;
  readonly keys: KeyLists;
  /** Keys that no scenario changes: those of staging. */
  readonly ownKeys: KeyLists | undefined;
  /** Of replies that no rule decides, in milliseconds. */
  readonly delay: number;
  /** What everything drawn follows from: a 32-bit integer. */
  readonly seed: number;
  /** Replies leave out what tells the mock from the service. */
  readonly plain: boolean;
  readonly scenarios: readonly Scenario[];
  /** Scenarios that the sandbox has of its own, by name. */
  readonly saved: ReadonlyMap<string, SavedScenario>;
}

export interface StartSettings {
  readonly seed?: number | undefined;
  readonly assume?: Partial<Choices> | undefined;
  readonly keys?: KeyLists | undefined;
  /** In milliseconds since 1970; the system time by default. */
  readonly clock?: number | undefined;
  readonly frozen?: boolean | undefined;
  readonly delay?: number | undefined;
  readonly plain?: boolean | undefined;
}

/** @param store to start from if no scenario names another; later ones win, record by record */
export function createStart(
  settings: StartSettings,
  store: Store,
  scenarios: readonly Scenario[] = [],
  saved: Start['saved'] = new Map(),
): Start {
  const { assume = {}, keys = {}, clock: now, frozen } = settings;
  const { delay = 0, seed = DEFAULTS.seed, plain = false } = settings;
  const atStart: ClockSetting = { now, frozen };
  const clock = scenarios.reduce((earlier, later) => override(earlier, later.clock), atStart);
  const records = applyRecords(store, scenarios);
  const ownKeys = undefined;
  return {
    store: records,
    clock,
    assume,
    byHand: {},
    keys,
    ownKeys,
    delay,
    seed,
    plain,
    scenarios,
    saved,
  };
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

/** Of `--delay`; `Mock-Basis` names it like a scenario's rule. */
export function delayRule(milliseconds: number): Rule {
  const always = { on: OPERATION_IDS, where: [], chance: 1, apply: false };
  return {
    scenario: 'delay',
    number: 1,
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

export interface StoreChoice {
  readonly fixture?: string | undefined;
  readonly animals?: number | undefined;
  readonly orders?: number | undefined;
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
