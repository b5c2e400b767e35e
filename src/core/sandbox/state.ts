import { type Choices, chooseOptions } from '../contract/assumption-table.ts';
import { writeJson } from '../json.ts';
import { LIMITS } from '../limits.ts';
import type { Lag } from '../scenario/rule-shape.ts';
import {
  createRuleBook,
  dropCounters,
  type LatchRule,
  NO_COUNTS,
  type RuleBook,
  type RuleCounts,
} from '../scenario/rules.ts';
import { WRITTEN_SCENARIO } from '../scenario/scenario-names.ts';
import { applyRecords } from '../scenario/scenario-records.ts';
import type { SavedScenario, Scenario } from '../scenario/scenario-shape.ts';
import {
  type Clock,
  type Instant,
  isReal,
  REAL_CLOCK,
  readClock,
  setClock,
} from '../service/clock.ts';
import {
  createKeyring,
  type Keyring,
  NO_RATES,
  type RateWindows,
  STAGING_KEYS,
} from '../service/keyring.ts';
import { type Representation, representationFor } from '../service/reply.ts';
import type { Store } from '../store/store.ts';
import type { RecentCalls } from './retries.ts';
import { delayRule, override, type Start } from './start.ts';

export interface State {
  readonly store: Store;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly snapshots: ReadonlyMap<string, Store>;
  /** A scenario that is active stays as it was when activated: see `settings.active`. */
  readonly scenarios: ReadonlyMap<string, SavedScenario>;
  readonly latches: ReadonlyMap<string, LatchRule>;
  readonly past: Past;
}

export interface Counters {
  readonly rules: RuleCounts;
  readonly rates: RateWindows;
  readonly recent: RecentCalls;
}

/** What settings follow from. Active scenarios win over the start, and `byHand` over both. */
interface Layers {
  readonly start: Start;
  /** In the order of activation: where two conflict, the later wins. */
  readonly active: readonly Scenario[];
  readonly byHand: Partial<Choices>;
  /** From when durations in `keys.expires` count, in milliseconds since 1970. */
  readonly startedAt: number;
}

export interface Settings extends Layers {
  readonly choices: Choices;
  readonly represent: Representation;
  readonly keys: Keyring;
  readonly rules: RuleBook;
  /** Whether a rule with `lag` lets reads see earlier stores. */
  readonly isLagging: boolean;
}

const NO_COUNTERS: Counters = { rules: NO_COUNTS, rates: NO_RATES, recent: [] };
const NO_SNAPSHOTS: State['snapshots'] = new Map();
const NO_LATCHES: State['latches'] = new Map();

export function createSettings(layers: Layers): Settings {
  const { start, active, byHand } = layers;
  const { assume: given, keys, delay = 0 } = start.options;
  const assume = Object.assign({}, given, ...active.map((scenario) => scenario.assume));
  const choices = chooseOptions({ ...assume, ...byHand });
  const lists = active.reduce((earlier, later) => override(earlier, later.keys), keys ?? {});
  return {
    ...layers,
    choices,
    represent: representationFor(choices),
    keys: createKeyring({ ...lists, ...(start.isStaging && STAGING_KEYS) }),
    isLagging: active.some(({ rules }) => rules.some(({ lag }) => lag !== undefined)),
    rules: createRuleBook([
      ...active.toReversed().flatMap(({ rules }) => rules),
      ...(delay > 0 ? [delayRule(delay)] : []),
    ]),
  };
}

/** Cached, because all sandboxes with the same start share them. */
const startSettings = new WeakMap<Start, Settings>();

export function initialState(start: Start, wall: number): State {
  const clock = setClock(REAL_CLOCK, start.clock, wall);
  let settings = startSettings.get(start);
  if (settings === undefined) {
    const layers = { start, active: start.scenarios, byHand: start.byHand, startedAt: 0 };
    settings = createSettings(layers);
    startSettings.set(start, settings);
  }
  return {
    store: start.store,
    settings: { ...settings, startedAt: readClock(clock, wall) },
    clock,
    counters: NO_COUNTERS,
    snapshots: NO_SNAPSHOTS,
    scenarios: start.saved,
    latches: NO_LATCHES,
    past: NO_PAST,
  };
}

export function changeLayers(state: State, layers: Partial<Layers>): State {
  return { ...state, settings: createSettings({ ...state.settings, ...layers }) };
}

/** Activates scenarios. Applies records and clock of new ones only. Throws a ScenarioError. */
export function activate(
  state: State,
  scenarios: readonly Scenario[],
  { wall }: Pick<Instant, 'wall'>,
): State {
  const former = state.settings.active;
  const active = scenarios.map((wanted) => former.find((known) => isSame(known, wanted)) ?? wanted);
  if (active.length === former.length && active.every((it, at) => it === former[at])) return state;
  const added = active.filter((scenario) => !former.includes(scenario));
  const ended = former.filter((scenario) => !active.includes(scenario));
  const clock = added.reduce((now, scenario) => setClock(now, scenario.clock, wall), state.clock);
  const isExpiring = added.some(({ keys }) => keys.expires !== undefined);
  const startedAt = isExpiring ? readClock(clock, wall) : state.settings.startedAt;
  const rules = [...added, ...ended].reduce(
    (counts, { name }) => dropCounters(counts, 'active', name),
    state.counters.rules,
  );
  return {
    ...changeLayers(state, { active, startedAt }),
    store: applyRecords(state.store, added),
    clock,
    counters: { ...state.counters, rules },
  };
}

/** Compares contents, as an own scenario can change. One sent in a request is always new. */
function isSame(one: Scenario, other: Scenario): boolean {
  if (one === other) return true;
  if (one.name !== other.name || one.name === WRITTEN_SCENARIO) return false;
  return writeJson(one.definition) === writeJson(other.definition);
}

/** `journal` stands for the journal, coverage and findings. */
export const RESET_PARTS = [
  'store',
  'scenario',
  'own-scenarios',
  'assumptions',
  'clock',
  'journal',
] as const;

export type ResetPart = (typeof RESET_PARTS)[number];

export function restart(
  state: State,
  start: Start,
  { wall }: Pick<Instant, 'wall'>,
  keep: ReadonlySet<ResetPart>,
): State {
  const { settings, clock, store, snapshots, scenarios } = state;
  const fresh = { ...initialState(start, wall), snapshots };
  const begun = keep.has('scenario') ? activate(fresh, settings.active, { wall }) : fresh;
  return {
    ...changeLayers(begun, {
      byHand: keep.has('assumptions') ? settings.byHand : start.byHand,
      startedAt: readClock(keep.has('clock') ? clock : begun.clock, wall),
    }),
    ...(keep.has('store') && { store }),
    ...(keep.has('clock') && { clock }),
    ...(keep.has('own-scenarios') && { scenarios }),
  };
}

/** Makes this state a start, so that a reset returns to it. */
export function startFrom({ store, settings, clock, scenarios: saved }: State): Start {
  const { start, active: scenarios, byHand } = settings;
  const now = isReal(clock) ? undefined : readClock(clock);
  return {
    ...start,
    store,
    clock: { now, frozen: clock.frozenAt !== undefined },
    byHand,
    scenarios,
    saved,
  };
}

/** Sets an entry and moves it to the end; undefined removes it. */
export function withEntry<T>(
  map: ReadonlyMap<string, T>,
  name: string,
  value: T | undefined,
): ReadonlyMap<string, T> {
  const changed = new Map(map);
  changed.delete(name);
  return value === undefined ? changed : changed.set(name, value);
}

/** Earlier stores, which are kept while an active rule has `lag`. */
export interface Past {
  /** How many calls there were since earlier stores are kept. */
  readonly calls: number;
  /** The replaced stores, the latest one last. */
  readonly changes: readonly {
    readonly before: Store;
    readonly call: number;
    /** When the store was replaced, on the sandbox's clock. */
    readonly at: number;
  }[];
}

export const NO_PAST: Past = { calls: 0, changes: [] };

/** The store that a replica with this lag would show. */
export function pastStore({ calls, changes }: Past, lag: Lag, store: Store, now: number): Store {
  const missed = changes.find(({ call, at }) =>
    'calls' in lag ? call > calls - lag.calls : at > now - lag.milliseconds,
  );
  return missed?.before ?? store;
}

/** Adds a call, and the store that it replaced, if it did. */
export function rememberStore({ calls, changes }: Past, before: Store, after: Store, at: number) {
  const call = calls + 1;
  const added = [...changes, { before, call, at }].slice(-LIMITS.lag);
  return { calls: call, changes: before === after ? changes : added };
}
