import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { LIMITS, SCENARIO_NAME_FORM, SCENARIO_NAME_PATTERN } from '../../core/limits.ts';
import { createFileProblem } from '../../core/problems.ts';
import type { State } from '../../core/sandbox/state.ts';
import { readScenarioText } from '../../core/scenario/resolve-scenarios.ts';
import { isShipped, WRITTEN_SCENARIO } from '../../core/scenario/scenario-names.ts';
import { ScenarioError } from '../../core/scenario/scenario-records.ts';
import type { SavedScenario } from '../../core/scenario/scenario-shape.ts';
import { asError } from '../../core/thrown.ts';
import { describe } from '../../core/words.ts';
import { readTextSync, resolveLinks, SETTINGS_LIMIT } from '../../server/files.ts';
import type { ScenarioStorage } from '../../server/open-sandboxes.ts';
import { writeError } from './write-error.ts';

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
    const { description } = readScenarioText(file, { name, format, text });
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
    accessSync(folder, constants.W_OK);
    return readdirSync(folder).filter((entry) => extname(entry) in FORMATS);
  } catch (error) {
    throw refuseFile(folder, 'a folder that can be written', asError(error).message);
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
  return saved.size < LIMITS.named ? undefined : `a sandbox has at most ${LIMITS.named} scenarios`;
}

/** Writes changed own scenarios to a folder. Readers never see a half-written file. */
export function createFolderWriter(folder: string): ScenarioStorage['save'] {
  return (before, after) => {
    const added = [...after].filter(([name, saved]) => before.get(name) !== saved);
    const gone = [...before.keys()].filter((name) => before.get(name) !== after.get(name));
    try {
      for (const [name, { format, text }] of added) {
        replaceTextSync(join(folder, `${name}.${format}`), text);
      }
      for (const name of gone) {
        const format = after.get(name)?.format;
        const others = Object.keys(FORMATS).filter((extension) => extension !== `.${format}`);
        for (const extension of others) rmSync(join(folder, name + extension), { force: true });
      }
    } catch (error) {
      throw writeError(`--scenarios ${folder}`, error);
    }
  };
}

function replaceTextSync(path: string, text: string): void {
  const real = resolveLinks(path);
  const temporary = join(dirname(real), `.${basename(real)}.tmp`);
  try {
    rmSync(temporary, { force: true });
    writeFileSync(temporary, text, { flag: 'wx' });
    renameSync(temporary, real);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
