import { type Choices, chooseOptions } from '../contract/assumption-table.ts';
import { OPERATION_IDS } from '../contract/operations.ts';
import { DEFAULTS } from '../defaults.ts';
import type { ClockSetting } from '../service/clock.ts';
import { type KeyLists, type Keyring, keyring } from '../service/keyring.ts';
import { merging } from '../store/merge.ts';
import { forkStore, type Store } from '../store/store.ts';
import { atOnce, type Work } from '../store/work.ts';
import { type RuleBook, ruleBook } from './rules.ts';
import { type Rule, type Scenario, ScenarioError } from './scenario.ts';

/** What a sandbox starts from and goes back to. It is shared, and never changed. */
export interface Start {
  readonly store: Store;
  readonly choices: Choices;
  readonly keyLists: KeyLists;
  readonly keys: Keyring;
  readonly clock: ClockSetting;
  /** The seed of everything drawn, an integer of 32 bits. */
  readonly seed: number;
  readonly scenarios: readonly Scenario[];
  readonly rules: RuleBook;
}

/** What the start is beside its scenarios, which win over it. */
export interface StartSettings {
  /** That of `DEFAULTS` where it is left out. */
  readonly seed?: number | undefined;
  /** Options other than the defaults. */
  readonly assume?: Partial<Choices> | undefined;
  readonly keys?: KeyLists | undefined;
  /** Where the clock starts, in milliseconds since 1970; real time by default. */
  readonly clock?: number | undefined;
  /** Whether the clock stands still. */
  readonly frozen?: boolean | undefined;
  /** Milliseconds that every reply is held back which no rule of a scenario decides. */
  readonly delay?: number | undefined;
}

/**
 * Puts scenarios over settings and a store: later ones win over earlier ones, record by record and
 * key by key, and their rules are tried first.
 *
 * @param store what is there without their records; it is not changed
 * @throws ScenarioError where a scenario's records do not fit the store
 */
export function startOf(
  settings: StartSettings,
  store: Store,
  scenarios: readonly Scenario[],
): Start {
  return atOnce(starting(settings, store, scenarios));
}

/** The work of `startOf`. */
export function* starting(
  { assume, keys = {}, clock, frozen, delay = 0, seed = DEFAULTS.seed }: StartSettings,
  store: Store,
  scenarios: readonly Scenario[],
): Work<Start> {
  const draft = forkStore(store);
  for (const { name, state, placeOf } of scenarios) {
    const problems = yield* merging(draft, state, ['state']);
    if (problems.length === 0) continue;
    throw new ScenarioError(
      name,
      problems.map((it) => ({ ...it, place: placeOf?.(it.at) })),
    );
  }
  const keyLists = scenarios.reduce<KeyLists>((lists, it) => over(lists, it.keys), keys);
  return {
    store: draft,
    choices: chooseOptions(Object.assign({}, assume, ...scenarios.map((it) => it.assume))),
    keyLists,
    keys: keyring(keyLists),
    clock: scenarios.reduce<ClockSetting>((setting, it) => over(setting, it.clock), {
      now: clock,
      frozen,
    }),
    seed,
    scenarios,
    rules: ruleBook([
      ...scenarios.toReversed().flatMap(({ rules }) => rules),
      ...(delay > 0 ? [holdingBack(delay)] : []),
    ]),
  };
}

/** A rule that only delays, as the scenario of that name would have it. */
function holdingBack(milliseconds: number): Rule {
  return {
    scenario: 'delay',
    number: 1,
    on: OPERATION_IDS,
    where: { inputs: new Map(), headers: new Map(), keys: undefined },
    calls: undefined,
    chance: 1,
    delay: { kind: 'fixed', milliseconds },
    reply: undefined,
    fault: undefined,
    apply: false,
  };
}

/** The members of `later` that are given, over those of `earlier`. */
function over<T extends object>(earlier: T, later: Partial<T>): T {
  const given = Object.entries(later).filter(([, value]) => value !== undefined);
  return { ...earlier, ...Object.fromEntries(given) };
}
