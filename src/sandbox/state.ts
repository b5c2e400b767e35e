import type { Choices } from '../contract/assumption-table.ts';
import { type LatchRule, NO_COUNTS, type RuleCounts } from '../scenario/rules.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import type { SavedScenario } from '../scenario/scenario-text.ts';
import { type Clock, REAL_CLOCK, setClock, timeOf } from '../service/clock.ts';
import { NO_RATES, type RateWindows } from '../service/keyring.ts';
import { type Representation, representationFor } from '../service/representation.ts';
import type { Store } from '../store/store.ts';
import type { Upstream } from './upstream.ts';

/** What decides how a sandbox answers, besides its records and its clock. */
export interface SandboxSettings {
  /** Its scenarios, rules and keys, and the records that it started with. */
  readonly start: Start;
  /** When it started from that, by its clock, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly choices: Choices;
  /** How `choices` writes records. */
  readonly represent: Representation;
  /** The deployment that answers; undefined if the mock does. */
  readonly upstream: Upstream | undefined;
}

/** What calls count up. */
interface Counters {
  readonly rules: RuleCounts;
  readonly rates: RateWindows;
}

/** All of a sandbox but its evidence. Immutable. */
export interface State {
  readonly store: Store;
  readonly settings: SandboxSettings;
  readonly clock: Clock;
  readonly counters: Counters;
  /** Saved stores, by name. */
  readonly snapshots: ReadonlyMap<string, Store>;
  /** The sandbox's own scenarios, by name. An active one is in the settings too, as it was activated. */
  readonly scenarios: ReadonlyMap<string, SavedScenario>;
  /** By the names of their holds. */
  readonly latches: ReadonlyMap<string, LatchRule>;
}

/** How many snapshots, how many scenarios of its own and how many latches a sandbox has at most. */
export const MOST_NAMED = 100;

const NO_COUNTERS: Counters = { rules: NO_COUNTS, rates: NO_RATES };
const NO_SNAPSHOTS: State['snapshots'] = new Map();
export const NO_SCENARIOS: State['scenarios'] = new Map();
export const NO_LATCHES: State['latches'] = new Map();

/** The state of a new sandbox. */
export function initialState(start: Start, upstream: Upstream | undefined, wall: number): State {
  const clock = setClock(REAL_CLOCK, start.clock, wall);
  return {
    store: start.store,
    settings: withChoices({ start, startedAt: timeOf(clock, wall), upstream }, start.choices),
    clock,
    counters: NO_COUNTERS,
    snapshots: NO_SNAPSHOTS,
    scenarios: NO_SCENARIOS,
    latches: NO_LATCHES,
  };
}

/** Settings with other options of assumptions. */
export function withChoices(
  settings: Omit<SandboxSettings, 'choices' | 'represent'>,
  choices: Choices,
): SandboxSettings {
  return { ...settings, choices, represent: representationFor(choices) };
}

/** What a reset can keep. The journal stands for all evidence. */
export const KEEPABLE = [
  'store',
  'scenario',
  'own-scenarios',
  'assumptions',
  'clock',
  'journal',
] as const;

export type ResetPart = (typeof KEEPABLE)[number];

/** A state after a restart from `start`. Keeps snapshots, own scenarios, the upstream, and what `keep` names. */
export function restartState(
  state: State,
  start: Start,
  wall: number,
  keep: ReadonlySet<ResetPart> = NOTHING,
): State {
  const { upstream, choices } = state.settings;
  const fresh = initialState(start, upstream, wall);
  const clock = keep.has('clock') ? state.clock : fresh.clock;
  return {
    ...fresh,
    store: keep.has('store') ? state.store : start.store,
    settings: withChoices(
      { start, startedAt: timeOf(clock, wall), upstream },
      keep.has('assumptions') ? choices : start.choices,
    ),
    clock,
    snapshots: state.snapshots,
    scenarios: state.scenarios,
    latches: state.latches,
  };
}

const NOTHING: ReadonlySet<ResetPart> = new Set();
