import { type Scenario, ScenarioError } from '../../scenario/scenario.ts';
import type { CommandName } from '../command-table.ts';
import { UsageError } from '../failures.ts';
import type { Layers } from '../input/given.ts';
import type { ServeSettings } from '../input/settings.ts';
import { scenarioProblem } from '../start-server.ts';

/** @throws UsageError if there is no command to run */
export function requireCommand(runner: CommandName, words: readonly string[]): void {
  if (words[0] !== undefined && words[0] !== '') return;
  throw new UsageError(
    `${runner}: expected -- and a command, as in petstore-mock ${runner} -- npm test`,
  );
}

/** The scenarios that a server starts with: they can change the keys that a command must use. */
export async function scenariosOf(
  { scenarios = [] }: ServeSettings,
  layers: Layers,
): Promise<readonly Scenario[]> {
  if (scenarios.length === 0) return [];
  const { loadScenarios } = await import('../../scenario/load-scenario.ts');
  try {
    return await loadScenarios(scenarios);
  } catch (error) {
    throw error instanceof ScenarioError ? scenarioProblem(error, layers) : error;
  }
}
