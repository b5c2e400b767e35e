import { readFileSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { packageRoot } from '../package.ts';
import { readText, SETTINGS_LIMIT, type TextReading } from '../read-text.ts';
import { problemLines } from '../shape/places.ts';
import { pathText } from '../shape/shapes.ts';
import { describe, listed, suggest } from '../words.ts';
import { ScenarioError } from './scenario-error.ts';
import { isShipped, SCENARIO_NAMES } from './scenario-names.ts';
import type { Scenario } from './scenario-shape.ts';
import { readScenarioText } from './scenario-text.ts';

const SHIPPED = join(packageRoot, 'scenarios');

/** The extension of shipped scenarios. Their folder also has the schema. */
const SHIPPED_EXTENSION = '.yaml';

const EXTENSIONS = ['.yaml', '.yml', '.json'];

const NAME = /^[\w-]+$/;

let shipped: readonly { readonly name: string; readonly description: string }[] | undefined;

/** The shipped scenarios, by name. Reads their descriptions only, without a parser. */
export function shippedScenarios() {
  shipped ??= SCENARIO_NAMES.map((name) => {
    const text = readFileSync(shippedFile(name), 'utf8');
    const [, description = ''] = /^description: (.*)$/m.exec(text) ?? [];
    return { name, description };
  });
  return shipped;
}

/** The text of a shipped scenario, for a project that has this package installed. */
export function scenarioText(name: string): string {
  const text = readFileSync(shippedFile(name), 'utf8');
  return text.replace('$schema=', '$schema=./node_modules/petstore-mock/scenarios/');
}

/** A scenario file to load, and how messages name it. */
interface Wanted {
  readonly file: string;
  readonly told: string;
}

/** Reports a scenario file that cannot be used where it is named. */
type Refuse = (expected: string, found: string) => void;

/**
 * Loads scenarios and what they extend, by the name of a shipped one or else by path.
 *
 * @param texts the files that were already read, by name or path
 * @returns the scenarios in ascending precedence; one that is extended more than once comes once, at
 *   its first place
 * @throws ScenarioError with the problems of all of them
 */
export async function loadScenarios(
  namesOrPaths: readonly string[],
  texts: ReadonlyMap<string, TextReading> = new Map(),
): Promise<readonly Scenario[]> {
  const problems: string[] = [];
  /** By file; undefined if the file has problems. */
  const read = new Map<string, Scenario | undefined>();
  /** By file, in ascending precedence. */
  const loaded = new Map<string, Scenario>();

  /** @param chain the files that led to this one by `extends` */
  const load = async (wanted: Wanted, chain: readonly Wanted[], refuse: Refuse): Promise<void> => {
    const { file, told } = wanted;
    const cycle = chain.findIndex((it) => it.file === file);
    if (cycle !== -1) {
      const round = [...chain.slice(cycle), wanted].map((it) => it.told);
      return refuse('no cycle of scenarios that extend each other', round.join(' → '));
    }
    if (loaded.has(file)) return;
    if (!read.has(file)) {
      const text = named(file, texts.get(told) ?? (await readText(file, SETTINGS_LIMIT)));
      if (!text.ok) return refuse(EXPECTED_FILE, text.found);
      read.set(file, await readFile(wanted, text.text, problems));
    }
    const scenario = read.get(file);
    if (scenario === undefined) return;
    for (const [index, name] of scenario.extends.entries()) {
      const at = ['extends', index];
      await load(besides(wanted, name), [...chain, wanted], (expected, found) => {
        const hint = expected === EXPECTED_FILE ? ` at ${describe(name)}${meant(name)}` : '';
        const problem = { path: pathText(at), expected, found: found + hint };
        problems.push(...(scenario.linesOf?.([problem]) ?? []));
      });
    }
    loaded.set(file, scenario);
  };

  for (const told of namesOrPaths) {
    const file = isShipped(told) ? shippedFile(told) : resolve(told);
    // A named scenario wins over those named before it, even if they extend it.
    loaded.delete(file);
    await load({ file, told }, [], (expected, found) => {
      problems.push(`${told}: expected ${expected}; found ${found}${meant(told)}`);
    });
  }
  if (problems.length > 0) throw new ScenarioError(problems);
  return [...loaded.values()];
}

/** Reads the text of a scenario file and adds its problems. Returns undefined if it cannot be read. */
async function readFile(
  { file, told }: Wanted,
  text: string,
  problems: string[],
): Promise<Scenario | undefined> {
  const extension = extname(file);
  const format = extension.toLowerCase() === '.json' ? 'json' : 'yaml';
  const read = await readScenarioText(told, format, text, basename(file, extension));
  if (!read.ok) {
    problems.push(...problemLines(told, read.problems));
    return undefined;
  }
  const { fixture } = read.scenario;
  return { ...read.scenario, file, fixture: fixture && fixtureOf(fixture, file) };
}

/** A scenario that a file extends, by name or by a path relative to that file. */
function besides({ file, told }: Wanted, name: string): Wanted {
  if (isShipped(name)) return { file: shippedFile(name), told: name };
  const isAlone = isShipped(told) || isAbsolute(name);
  return { file: resolve(dirname(file), name), told: isAlone ? name : join(dirname(told), name) };
}

/** A name means a shipped fixture. A path is relative to the scenario file. */
function fixtureOf(fixture: string, file: string): string {
  return NAME.test(fixture) ? fixture : resolve(dirname(file), fixture);
}

function shippedFile(name: string): string {
  return join(SHIPPED, name + SHIPPED_EXTENSION);
}

const EXPECTED_FILE = `a scenario file (${listed(EXTENSIONS, 'or')}), or the name of a shipped one`;

function meant(name: string): string {
  return suggest(name, SCENARIO_NAMES);
}

/** Refuses files with another extension. Pipes may have any name. */
function named(file: string, read: TextReading): TextReading {
  const extension = extname(file);
  if (!read.ok || read.pipe || EXTENSIONS.includes(extension.toLowerCase())) return read;
  return { ok: false, found: `a file whose name ends in ${describe(extension)}` };
}
