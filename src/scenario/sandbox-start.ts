import { type Choices, chooseOptions } from '../contract/assumption-table.ts';
import { OPERATION_IDS } from '../contract/operations.ts';
import { DEFAULTS } from '../defaults.ts';
import { ContentError } from '../read-text.ts';
import type { ClockSetting } from '../service/clock.ts';
import { type KeyLists, type Keyring, keyring, STAGING_KEY } from '../service/keyring.ts';
import { generateStore } from '../store/fixture/generate-store.ts';
import { loadFixture } from '../store/fixture/load-fixture.ts';
import { merge } from '../store/merge.ts';
import type { Store } from '../store/store.ts';
import type { Rule } from './rule-shape.ts';
import { type RuleBook, ruleBook } from './rules.ts';
import type { Scenario } from './scenario-shape.ts';

export class ScenarioError extends ContentError {
  override readonly name = 'ScenarioError';
}

/** What a sandbox starts from and a reset returns to. Shared, and never changed. */
export interface Start {
  readonly store: Store;
  readonly choices: Choices;
  readonly keyLists: KeyLists;
  readonly keys: Keyring;
  readonly clock: ClockSetting;
  /** The seed of all random draws, a 32-bit integer. */
  readonly seed: number;
  readonly scenarios: readonly Scenario[];
  readonly rules: RuleBook;
}

/** The settings of a start. Scenarios win over them. */
export interface StartSettings {
  /** By default, the seed in `DEFAULTS`. */
  readonly seed?: number | undefined;
  /** Options other than the defaults. */
  readonly assume?: Partial<Choices> | undefined;
  readonly keys?: KeyLists | undefined;
  /** The time at the start, in milliseconds since 1970; the system time by default. */
  readonly clock?: number | undefined;
  readonly frozen?: boolean | undefined;
  /** The delay of replies that no rule decides, in milliseconds. */
  readonly delay?: number | undefined;
}

/**
 * Applies scenarios to settings and a store. Later scenarios win over earlier ones, record by record
 * and key by key, and their rules are tried first.
 *
 * @param store the store without the records of the scenarios
 * @throws ScenarioError if a scenario's records do not fit the store
 */
export function startFor(
  { assume, keys = {}, clock, frozen, delay = 0, seed = DEFAULTS.seed }: StartSettings,
  store: Store,
  scenarios: readonly Scenario[],
): Start {
  const keyLists = scenarios.reduce<KeyLists>((lists, it) => withOverrides(lists, it.keys), keys);
  return {
    store: scenarios.reduce(withRecords, store),
    choices: chooseOptions(Object.assign({}, assume, ...scenarios.map((it) => it.assume))),
    keyLists,
    keys: keyring(keyLists),
    clock: scenarios.reduce<ClockSetting>((setting, it) => withOverrides(setting, it.clock), {
      now: clock,
      frozen,
    }),
    seed,
    scenarios,
    rules: ruleBook([
      ...scenarios.toReversed().flatMap(({ rules }) => rules),
      ...(delay > 0 ? [delayRule(delay)] : []),
    ]),
  };
}

function withRecords(store: Store, { state, linesOf }: Scenario): Store {
  const merged = merge(store, state, ['state']);
  if (merged.ok) return merged.value;
  throw new ScenarioError(linesOf(merged.problems));
}

/** The rule of `--delay`. `Mock-Basis` names it like a scenario's rule. */
function delayRule(milliseconds: number): Rule {
  const always = { on: OPERATION_IDS, where: [], chance: 1, apply: false };
  return { scenario: 'delay', number: 1, ...always, delay: { kind: 'fixed', milliseconds } };
}

/** What the document's second deployment starts from: it has a key of its own. */
export function stagingOf(start: Start): Start {
  const keyLists = { ...start.keyLists, valid: [STAGING_KEY], readOnly: [] };
  return { ...start, keyLists, keys: keyring(keyLists) };
}

/** Overrides members of `earlier` by the defined members of `later`. */
export function withOverrides<T extends object>(earlier: T, later: Partial<T>): T {
  const overrides = Object.entries(later).filter(([, value]) => value !== undefined);
  return { ...earlier, ...Object.fromEntries(overrides) };
}

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
    if (named === undefined) return startFor(settings, initial(), scenarios);
    const { fixture, generate } = named;
    const store = await loadStore({ fixture, ...generate }, settings.seed);
    return startFor(settings, store, scenarios);
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
  return generateStore({ animals, orders, seed });
}

/** Whether a scenario affects records, so that its store must be built for it. */
export function changesStore({ fixture, generate, state }: Scenario): boolean {
  if (fixture !== undefined || generate !== undefined) return true;
  return Object.values(state).some((it) => it.set.length + it.each.length + it.remove.length > 0);
}
