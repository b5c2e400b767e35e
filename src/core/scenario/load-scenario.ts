import { readFileSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { packageRoot, readText, SETTINGS_LIMIT } from '../../server/files.ts';
import { LIMITS } from '../limits.ts';
import { internal, object } from '../shape/objects.ts';
import {
  ANY,
  ANY_TEXT,
  type ReportMisfit,
  reportInto,
  type ShapeProblem,
  type ValueOf,
} from '../shape/shapes.ts';
import { readJson } from '../shape/source-text.ts';
import { shippedFixtures } from '../store/fixture.ts';
import {
  createFileProblem,
  describe,
  joinWords,
  suggest,
  type TextProblem,
  type TextReading,
} from '../words.ts';
import { ScenarioError } from './sandbox-start.ts';
import { isShipped, SCENARIO_NAMES } from './scenario-names.ts';
import { readScenario, type SavedScenario, type Scenario } from './scenario-shape.ts';

let shipped: readonly { readonly name: string; readonly description: string }[] | undefined;

export function shippedScenarios() {
  shipped ??= SCENARIO_NAMES.map((name) => {
    const text = readFileSync(shippedFile(name), 'utf8');
    const [, description = ''] = /^description: (.*)$/m.exec(text) ?? [];
    return { name, description };
  });
  return shipped;
}

/** For a project that has this package installed. */
export function scenarioText(name: string): string {
  const text = readFileSync(shippedFile(name), 'utf8');
  return text.replace('$schema=', '$schema=./node_modules/petstore-mock/scenarios/');
}

type Refuse = (expected: string, found: string) => undefined;

/** `wanted` is a name or a path, as messages show it. */
interface ScenarioFinder {
  readonly find: (wanted: string, refuse: Refuse) => Promise<Scenario | undefined>;
  /** Equal for all names of one scenario. */
  readonly keyOf: (wanted: string) => string;
  /** The `wanted` of a name or a path that a scenario extends. */
  readonly extendedAs: (wanted: string, scenario: Scenario, extended: string) => string;
  readonly check?: (scenario: Scenario, report: ReportMisfit) => void;
}

async function loadInOrder(
  named: readonly string[],
  { find, keyOf, extendedAs, check }: ScenarioFinder,
): Promise<readonly Scenario[]> {
  const problems: TextProblem[] = [];
  const seen = new Set<string>();
  const loaded = new Map<string, Scenario>();

  /** @param chain those that led to this one by `extends` */
  const load = async (wanted: string, chain: readonly string[], refuse: Refuse): Promise<void> => {
    const key = keyOf(wanted);
    const start = chain.findIndex((name) => keyOf(name) === key);
    if (start !== -1) {
      const cycle = [...chain.slice(start), wanted].join(' → ');
      return refuse('no cycle of scenarios that extend each other', cycle);
    }
    if (seen.has(key)) return;
    seen.add(key);
    const scenario = await find(wanted, refuse).catch((error: unknown) => {
      if (!(error instanceof ScenarioError)) throw error;
      problems.push(...error.problems);
      return undefined;
    });
    if (scenario === undefined) return;
    const misfits: ShapeProblem[] = [];
    const report = reportInto(misfits);
    for (const [index, name] of scenario.extends.entries()) {
      if (misfits.length > LIMITS.problems.max) break;
      const extended = extendedAs(wanted, scenario, name);
      await load(extended, [...chain, wanted], (expected, found) =>
        report({ at: ['extends', index], expected, found }),
      );
    }
    check?.(scenario, report);
    // Together, since each search for places takes time.
    if (misfits.length > 0) problems.push(...scenario.locate(misfits));
    loaded.set(key, scenario);
  };

  for (const wanted of named) {
    if (problems.length > LIMITS.problems.max) break;
    await load(wanted, [], (expected, found) => {
      const message = `${wanted}: expected ${expected}; found ${found}`;
      problems.push(createFileProblem(wanted, expected, found, message));
    });
    // A named scenario wins over those named before it, even if they extend it.
    const key = keyOf(wanted);
    const scenario = loaded.get(key);
    if (loaded.delete(key) && scenario !== undefined) loaded.set(key, scenario);
  }
  const scenarios = [...loaded.values()];
  const count = scenarios.reduce((sum, { rules }) => sum + rules.length, 0);
  if (count > LIMITS.rules.max) {
    const expected = `at most ${LIMITS.rules.max} rules in all scenarios`;
    problems.push(createFileProblem(scenarios.at(-1)?.name ?? '', expected, `${count}`));
  }
  if (problems.length > 0) throw new ScenarioError(problems);
  return scenarios;
}

export async function loadScenarios(
  namesOrPaths: readonly string[],
  texts: ReadonlyMap<string, TextReading> = new Map(),
): Promise<readonly Scenario[]> {
  return loadInOrder(namesOrPaths, {
    find: async (wanted, refuse) => {
      const file = scenarioFile(wanted);
      const read = texts.get(wanted) ?? (await readText(file, SETTINGS_LIMIT));
      if (read.ok) return readFile(file, wanted, read.text);
      const expected = 'a scenario file (.yaml, .yml or .json), or the name of a shipped one';
      return refuse(expected, `${read.found}${suggest(basename(wanted), SCENARIO_NAMES)}`);
    },
    keyOf: scenarioFile,
    extendedAs: (wanted, _, extended) =>
      isShipped(extended) || isAbsolute(extended) ? extended : join(dirname(wanted), extended),
  });
}

function scenarioFile(nameOrPath: string): string {
  return isShipped(nameOrPath) ? shippedFile(nameOrPath) : resolve(nameOrPath);
}

/** What a sandbox knows besides those that ship, by name. Each is read on demand. */
export type KnownScenarios = ReadonlyMap<string, () => Scenario | Promise<Scenario>>;

/**
 * Loads the scenarios that a request names, those that they extend first. Reads no files but those
 * that ship.
 *
 * @param written a scenario from the request, which wins over the others
 * @param known win over shipped ones of the same name
 */
export async function loadForRequest(
  names: readonly string[],
  written?: Scenario,
  known: KnownScenarios = new Map(),
): Promise<readonly Scenario[]> {
  const shipped = `a shipped scenario: ${joinWords(SCENARIO_NAMES, 'or')}`;
  const expected =
    known.size === 0 ? shipped : `${shipped}; or ${joinWords([...known.keys()], 'or')}`;
  return loadInOrder(written === undefined ? names : [...names, written.name], {
    find: async (name, refuse) => {
      if (name === written?.name) return written;
      const scenario = await known.get(name)?.();
      if (scenario !== undefined) return scenario;
      if (isShipped(name)) return (await loadScenarios([name])).at(-1);
      const hint = suggest(name, [...SCENARIO_NAMES, ...known.keys()]);
      return refuse(expected, `${describe(name)}${hint}`);
    },
    keyOf: (name) => name,
    // The server's own files extend paths.
    extendedAs: (_, { file }, extended) =>
      file === undefined ? extended : basename(extended, extname(extended)),
    check: ({ file, fixture, generate = {} }, report) => {
      // The server's own files may do more.
      if (file !== undefined) return;
      if (fixture !== undefined && !shippedFixtures().includes(fixture)) {
        const expected = 'the name of a shipped fixture';
        report({ at: ['fixture'], expected, found: describe(fixture) });
      }
      for (const [name, count = 0] of Object.entries(generate)) {
        if (count <= LIMITS.generated.max) continue;
        const expected = `at most ${LIMITS.generated.max} in a request`;
        report({ at: ['generate', name], expected, found: `${count}` });
      }
    },
  });
}

async function readFile(file: string, label: string, text: string): Promise<Scenario> {
  const extension = extname(file);
  const format = extension.toLowerCase() === '.json' ? 'json' : 'yaml';
  const name = basename(file, extension);
  const scenario = await readScenarioText(label, { name, format, text });
  const { fixture } = scenario;
  // A name means a shipped fixture.
  const isPath = fixture !== undefined && !/^[\w-]+$/.test(fixture);
  return { ...scenario, file, fixture: isPath ? resolve(dirname(file), fixture) : fixture };
}

function shippedFile(name: string): string {
  return join(packageRoot, 'scenarios', `${name}.yaml`);
}

/** A scenario as the servers of a fleet exchange it. */
export const SCENARIO_SOURCE = object({
  name: internal.required(ANY_TEXT),
  file: internal.optional(ANY_TEXT),
  fixture: internal.optional(ANY_TEXT),
  definition: internal.required(ANY),
});

type ScenarioSource = ValueOf<typeof SCENARIO_SOURCE>;

export function writeScenarioSource({ name, file, fixture, definition }: Scenario): ScenarioSource {
  return { name, file, fixture, definition };
}

export function readScenarioSource({ name, definition, ...origin }: ScenarioSource): Scenario {
  const reading = readScenario(definition, name);
  if (!reading.ok)
    throw new ScenarioError(
      reading.problems.map(({ path, expected, found }) => createFileProblem(path, expected, found)),
    );
  return { ...reading.value, ...origin };
}

export async function readScenarioText(
  file: string,
  { name, format, text }: Omit<SavedScenario, 'description'>,
): Promise<Scenario> {
  // Imported here, since most starts need no YAML parser.
  const read = format === 'json' ? readJson : (await import('./yaml-text.ts')).readYaml;
  const parsed = read(file, text);
  if (!parsed.ok) throw new ScenarioError(parsed.problems);
  const { value, locate } = parsed;
  const reading = readScenario(value, name);
  if (!reading.ok) throw new ScenarioError(locate(reading.problems));
  return { ...reading.value, locate };
}

const MAX_LENGTH: Readonly<Record<SavedScenario['format'], number>> = {
  yaml: LIMITS.yamlText.max,
  json: LIMITS.jsonText.max,
};

export async function readSentScenario(
  name: string,
  text: string,
  format: SavedScenario['format'] = 'yaml',
): Promise<Scenario> {
  const max = MAX_LENGTH[format];
  if (text.length <= max) return readScenarioText(name, { name, format, text });
  const others = format === 'json' ? '' : 'send the scenario as JSON, or ';
  const expected = `at most ${max} characters`;
  const message = `expected ${expected}, found more: ${others}start the server with its file`;
  const problem = { path: '$', expected, found: 'more', message };
  throw new ScenarioError([{ file: name, line: 1, column: 1, ...problem }]);
}

const savedReadings = new WeakMap<SavedScenario, Promise<Scenario>>();

/** It was valid when it was saved. */
export function readSaved(saved: SavedScenario): Promise<Scenario> {
  const reading = savedReadings.get(saved) ?? readScenarioText(saved.name, saved);
  savedReadings.set(saved, reading);
  return reading;
}
