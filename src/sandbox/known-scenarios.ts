import type { KnownScenarios } from '../scenario/load-scenario.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import { readSaved } from '../scenario/saved-scenario.ts';
import type { Scenario } from '../scenario/scenario-shape.ts';
import type { State } from './state.ts';

/** A sandbox, as far as its scenarios matter. */
export interface ScenarioHolder {
  /** What it started with. */
  readonly origin: Start;
  readonly state: State;
  /** Resolves when the state has what other servers did. */
  current(): Promise<void> | undefined;
}

/**
 * The scenarios that a sandbox knows besides those that ship: those that it started with, those that
 * are active, and its own. The later win.
 */
export function knownScenarios({
  origin,
  state: { settings, scenarios },
}: ScenarioHolder): KnownScenarios {
  const loaded = [...origin.scenarios, ...settings.start.scenarios];
  return new Map<string, () => Scenario | Promise<Scenario>>([
    ...loaded.map((it) => [it.name, () => it] as const),
    ...[...scenarios].map(([name, saved]) => [name, () => readSaved(saved)] as const),
  ]);
}
