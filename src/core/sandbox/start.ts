import type { Choices } from '../contract/assumption-table.ts';
import { OPERATION_IDS } from '../contract/operations.ts';
import type { Rule } from '../scenario/rule-shape.ts';
import { applyRecords } from '../scenario/scenario-records.ts';
import type { SavedScenario, Scenario } from '../scenario/scenario-shape.ts';
import type { ClockSetting } from '../service/clock.ts';
import type { MockOptions } from '../service/mock-options.ts';
import type { Store } from '../store/store.ts';

/** What a sandbox starts from, and what a reset returns to. Sandboxes share it; it is immutable. */
export interface Start {
  /** The store after the scenarios were applied to it, as is the clock. */
  readonly store: Store;
  readonly clock: ClockSetting;
  /** The options as the caller gave them, without defaults. */
  readonly options: MockOptions;
  /** Assumptions that were set by hand when this became the start. They win over the scenarios. */
  readonly byHand: Partial<Choices>;
  /** Whether it is for staging, the document's second deployment, which has its own key. */
  readonly isStaging: boolean;
  readonly scenarios: readonly Scenario[];
  /** The sandbox's own scenarios by name. */
  readonly saved: ReadonlyMap<string, SavedScenario>;
}

/** @param store the initial store, unless a scenario names a fixture. Later scenarios win. */
export function createStart(
  options: MockOptions,
  store: Store,
  scenarios: readonly Scenario[] = [],
  saved: Start['saved'] = new Map(),
): Start {
  const atStart: ClockSetting = { now: options.clock, frozen: options.frozen };
  const clock = scenarios.reduce((earlier, later) => override(earlier, later.clock), atStart);
  const records = applyRecords(store, scenarios);
  return { store: records, clock, options, byHand: {}, isStaging: false, scenarios, saved };
}

/** The rule that `--delay` stands for. */
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

/** Returns the same start if nothing changes, because settings are cached by start. */
export function setStaging(start: Start, isStaging: boolean): Start {
  return start.isStaging === isStaging ? start : { ...start, isStaging };
}

export function override<T extends object>(earlier: T, later: Partial<T>): T {
  const overrides = Object.entries(later).filter(([, value]) => value !== undefined);
  return { ...earlier, ...Object.fromEntries(overrides) };
}
