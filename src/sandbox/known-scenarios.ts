import type { KnownScenarios } from '../scenario/load-scenario.ts';
import type { Start } from '../scenario/sandbox-start.ts';
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
  const known = new Map<string, () => Scenario | Promise<Scenario>>();
  for (const scenario of loaded) known.set(scenario.name, () => scenario);
  for (const [name, saved] of scenarios) {
    // Imported here, since most starts have no scenario.
    known.set(name, async () => (await import('../scenario/scenario-text.ts')).readSaved(saved));
  }
  return known;
}
