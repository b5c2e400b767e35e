import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { LIMITS, SCENARIO_NAME_FORM, SCENARIO_NAME_PATTERN } from '../../core/limits.ts';
import type { Sandbox } from '../../core/sandbox/sandbox.ts';
import type { State } from '../../core/sandbox/state.ts';
import { readScenarioText } from '../../core/scenario/load-scenario.ts';
import { ScenarioError } from '../../core/scenario/sandbox-start.ts';
import { isShipped, WRITTEN_SCENARIO } from '../../core/scenario/scenario-names.ts';
import type { SavedScenario } from '../../core/scenario/scenario-shape.ts';
import { createFileProblem, describe } from '../../core/words.ts';
import { readTextSync, SETTINGS_LIMIT } from '../files.ts';
import { asError } from '../node-errors.ts';

const FORMATS: Readonly<Record<string, SavedScenario['format']>> = {
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.json': 'json',
};

/** @throws ScenarioError */
export async function loadScenarioFolder(folder: string): Promise<State['scenarios']> {
  const saved = new Map<string, SavedScenario>();
  for (const entry of listScenarioFiles(folder)) {
    const file = join(folder, entry);
    const extension = extname(entry);
    const name = entry.slice(0, -extension.length);
    const format = FORMATS[extension] ?? 'yaml';
    const obstacle = findObstacle(name, saved);
    if (obstacle !== undefined) {
      throw refuseFile(file, 'a scenario that can be saved', obstacle, `${file}: ${obstacle}`);
    }
    const read = readTextSync(file, SETTINGS_LIMIT);
    if (!read.ok) throw refuseFile(file, 'a scenario', read.found);
    const { text } = read;
    const { description } = await readScenarioText(file, { name, format, text });
    saved.set(name, { name, description, format, text });
  }
  return saved;
}

function listScenarioFiles(folder: string): string[] {
  if (isShipped(folder)) {
    const found = `a shipped scenario (did you mean --scenario ${folder}?)`;
    throw refuseFile(folder, 'a folder', found);
  }
  try {
    mkdirSync(folder, { recursive: true });
    return readdirSync(folder).filter((entry) => extname(entry) in FORMATS);
  } catch (error) {
    throw refuseFile(folder, 'a folder', asError(error).message);
  }
}

function refuseFile(...problem: Parameters<typeof createFileProblem>): ScenarioError {
  return new ScenarioError([createFileProblem(...problem)]);
}

function findObstacle(name: string, saved: State['scenarios']): string | undefined {
  if (!SCENARIO_NAME_PATTERN.test(name))
    return `expected a name of ${SCENARIO_NAME_FORM}, found ${describe(name)}`;
  if (isShipped(name) || name === WRITTEN_SCENARIO) return `the name ${name} is taken: rename it`;
  if (saved.has(name)) return `another file also has the scenario ${name}: rename or delete one`;
  return saved.size < LIMITS.named.max
    ? undefined
    : `a sandbox has at most ${LIMITS.named.max} scenarios`;
}

/** Writes each change of a sandbox's own scenarios into a folder, to which a reset returns. */
export function keepScenarios(
  folder: string,
  sandbox: Sandbox,
  notify: (message: string) => void = () => {},
): void {
  let kept = sandbox.state.scenarios;
  sandbox.subscribe(() => {
    const { scenarios } = sandbox.state;
    if (scenarios === kept) return;
    const gone = [...kept].filter(([name, saved]) => scenarios.get(name) !== saved);
    const added = [...scenarios].filter(([name, saved]) => kept.get(name) !== saved);
    kept = scenarios;
    sandbox.start = { ...sandbox.start, saved: scenarios };
    try {
      for (const [name, { format, text }] of added) {
        const file = join(folder, `${name}.${format}`);
        // A reader never finds half a scenario.
        writeFileSync(`${file}.new`, text);
        renameSync(`${file}.new`, file);
      }
      for (const [name] of gone) {
        const format = scenarios.get(name)?.format;
        const others = Object.keys(FORMATS).filter((extension) => extension !== `.${format}`);
        for (const extension of others) rmSync(join(folder, name + extension), { force: true });
      }
    } catch (error) {
      notify(`--scenarios: ${asError(error).message}`);
    }
  });
}
