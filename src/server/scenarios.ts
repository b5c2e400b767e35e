import { basename, dirname, extname, isAbsolute, join, parse, resolve } from 'node:path';
import type { TextReading } from '../core/problems.ts';
import {
  readScenarioText,
  readShipped,
  resolveScenarios,
} from '../core/scenario/resolve-scenarios.ts';
import { isShipped, SCENARIO_NAMES } from '../core/scenario/scenario-names.ts';
import { loadBases } from '../core/scenario/scenario-records.ts';
import type { Scenario } from '../core/scenario/scenario-shape.ts';
import { suggest } from '../core/words.ts';
import { readText, readTextSync, SETTINGS_LIMIT } from './files.ts';
import { loadFixture } from './fixtures.ts';
import { NODE_PLATFORM } from './node-platform.ts';

/**
 * Loads scenarios with their fixtures, after those that they extend. Only a scenario that is named
 * here can be a pipe.
 *
 * @param texts the texts of files that were read before
 * @throws ScenarioError, FixtureError
 */
export async function loadScenarios(
  namesOrPaths: readonly string[],
  seed?: number,
  texts: ReadonlyMap<string, TextReading> = new Map(),
): Promise<readonly Scenario[]> {
  const readings = new Map<string, TextReading>();
  for (const path of namesOrPaths.filter((name) => !isShipped(name))) {
    readings.set(resolve(path), texts.get(path) ?? (await readText(path, SETTINGS_LIMIT)));
  }
  const known = new Map<string, Scenario>();
  const find = (nameOrPath: string): Scenario | string => {
    if (isShipped(nameOrPath)) return readShipped(NODE_PLATFORM, nameOrPath);
    const file = resolve(nameOrPath);
    const read = readings.get(file) ?? readTextSync(file, SETTINGS_LIMIT);
    if (!read.ok) return read.found + suggest(basename(nameOrPath), SCENARIO_NAMES);
    const scenario = known.get(file) ?? readFile(file, nameOrPath, read.text);
    known.set(file, scenario);
    return scenario;
  };
  const expected = 'a scenario file (.yaml, .yml or .json), or the name of a shipped one';
  const scenarios = resolveScenarios(namesOrPaths, { expected, find });
  const loaded = await Promise.all(scenarios.map(loadFixtureOf));
  return loadBases(loaded, NODE_PLATFORM, seed);
}

function readFile(file: string, label: string, text: string): Scenario {
  const extension = extname(file);
  const format = extension.toLowerCase() === '.json' ? 'json' : 'yaml';
  const name = basename(file, extension);
  const scenario = readScenarioText(label, { name, format, text });
  const { fixture, extends: extended } = scenario;
  // A name without a dot or slash is a shipped fixture.
  const isPath = fixture !== undefined && !/^[\w-]+$/.test(fixture);
  return {
    ...scenario,
    file,
    fixture: isPath ? resolve(dirname(file), fixture) : fixture,
    extends: extended.map((nameOrPath) =>
      isShipped(nameOrPath) || isAbsolute(nameOrPath)
        ? nameOrPath
        : join(dirname(label), nameOrPath),
    ),
  };
}

async function loadFixtureOf(scenario: Scenario): Promise<Scenario> {
  const { file, fixture } = scenario;
  if (file === undefined) return scenario;
  // A request cannot use paths, but it can use the names of loaded scenarios.
  const named = { ...scenario, extends: scenario.extends.map((path) => parse(path).name) };
  return fixture === undefined ? named : { ...named, base: await loadFixture(fixture) };
}
