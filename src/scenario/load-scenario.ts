import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { packageRoot } from '../package.ts';
import { readText, SETTINGS_LIMIT, type TextReading } from '../read-text.ts';
import { type Misfit, pathText } from '../shape/shapes.ts';
import { shippedFixtures } from '../store/fixture/shipped-fixtures.ts';
import { describe, listed, suggest } from '../words.ts';
import { readScenario } from './read-scenario.ts';
import { type Scenario, ScenarioError, type ScenarioProblem } from './scenario.ts';
import { parseScenario } from './scenario-text.ts';

const SHIPPED = join(packageRoot, 'scenarios');

/** The extension of shipped scenarios. Their folder also has the schema. */
const SHIPPED_EXTENSION = '.yaml';

const EXTENSIONS = ['.yaml', '.yml', '.json'];

const NAME = /^[\w-]+$/;

export interface ShippedScenario {
  readonly name: string;
  readonly description: string;
}

let shipped: readonly ShippedScenario[] | undefined;

/** The shipped scenarios, by name. Reads their descriptions only, without a parser. */
export function shippedScenarios(): readonly ShippedScenario[] {
  shipped ??= readdirSync(SHIPPED)
    .filter((file) => file.endsWith(SHIPPED_EXTENSION))
    .sort()
    .map((file) => {
      const [, description = ''] =
        /^description: (.*)$/m.exec(readFileSync(join(SHIPPED, file), 'utf8')) ?? [];
      return { name: basename(file, SHIPPED_EXTENSION), description };
    });
  return shipped;
}

/** The text of a shipped scenario, for a project that has this package installed. */
export function scenarioText(name: string): string {
  const text = readFileSync(join(SHIPPED, name + SHIPPED_EXTENSION), 'utf8');
  return text.replace('$schema=', '$schema=./node_modules/petstore-mock/scenarios/');
}

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
  const loading = new Loading(texts);
  for (const nameOrPath of namesOrPaths) await loading.load(nameOrPath);
  return loading.result();
}

/**
 * Loads shipped scenarios and what they extend. Reads no other files, so that a request cannot.
 *
 * @throws ScenarioError if a name is unknown
 */
export async function loadShipped(names: readonly string[]): Promise<readonly Scenario[]> {
  const unknown = names.filter((name) => !isShipped(name));
  if (unknown.length > 0) {
    const problems = unknown.map((name) => `${name}: ${notShipped(name)}`);
    throw new ScenarioError('', problems);
  }
  return loadScenarios(names);
}

/** The place of the scenario in a request. */
const IN_REQUEST = ['scenario'];

/**
 * Loads the shipped scenarios that a scenario from a request extends, and adds it after them.
 *
 * @throws ScenarioError if it extends a scenario, or starts from a fixture, that does not ship
 */
export async function withExtended(scenario: Scenario): Promise<readonly Scenario[]> {
  const problems = scenario.extends.flatMap((name, index) =>
    isShipped(name) ? [] : [`${pathText([...IN_REQUEST, 'extends', index])}: ${notShipped(name)}`],
  );
  const { fixture } = scenario;
  if (fixture !== undefined && !shippedFixtures().includes(fixture)) {
    const expected = 'the name of a shipped fixture';
    problems.push(
      `${pathText([...IN_REQUEST, 'fixture'])}: expected ${expected}, found ${describe(fixture)}`,
    );
  }
  if (problems.length > 0) throw new ScenarioError(scenario.name, problems);
  return [...(await loadScenarios(scenario.extends)), scenario];
}

function isShipped(name: string): boolean {
  return NAME.test(name) && existsSync(shippedFile(name));
}

function shippedFile(name: string): string {
  return join(SHIPPED, name + SHIPPED_EXTENSION);
}

function notShipped(name: string): string {
  const names = shippedScenarios().map((it) => it.name);
  const expected = `a shipped scenario: ${listed(names, 'or')}`;
  return `expected ${expected}; found ${describe(name)}${suggest(name, names)}`;
}

/** The file of a name, or of a path relative to a folder. */
function fileOf(nameOrPath: string, folder: string): string {
  return isShipped(nameOrPath) ? shippedFile(nameOrPath) : resolve(folder, nameOrPath);
}

/** A scenario to load. */
interface Wanted {
  readonly file: string;
  /** The name or path in messages. */
  readonly told: string;
}

/** A loaded scenario, and how to report a problem in its file. */
interface Loaded {
  readonly scenario: Scenario;
  readonly problemOf: (misfit: Misfit) => ScenarioProblem;
}

/** Loads several scenarios. Reads each file once. */
class Loading {
  /** By file, in ascending precedence. */
  readonly #loaded = new Map<string, Scenario>();
  readonly #read = new Map<string, Loaded | undefined>();
  readonly #problems: (ScenarioProblem | string)[] = [];
  readonly #texts: ReadonlyMap<string, TextReading>;

  constructor(texts: ReadonlyMap<string, TextReading>) {
    this.#texts = texts;
  }

  result(): readonly Scenario[] {
    if (this.#problems.length > 0) throw new ScenarioError('', this.#problems);
    return [...this.#loaded.values()];
  }

  async load(nameOrPath: string): Promise<void> {
    const wanted = { file: fileOf(nameOrPath, '.'), told: nameOrPath };
    const read = this.#texts.get(nameOrPath) ?? (await readText(wanted.file, SETTINGS_LIMIT));
    const text = named(wanted.file, read);
    if (!text.ok) {
      this.#problems.push(
        `${nameOrPath}: expected ${EXPECTED_FILE}; found ${text.found}${meant(nameOrPath)}`,
      );
      return;
    }
    // A named scenario wins over those named before it, even if they extend it.
    this.#loaded.delete(wanted.file);
    await this.#add(wanted, text.text, []);
  }

  /** @param chain the files that led to this one by `extends` */
  async #add(wanted: Wanted, text: string, chain: readonly Wanted[]): Promise<void> {
    const { file } = wanted;
    if (this.#loaded.has(file)) return;
    if (!this.#read.has(file)) this.#read.set(file, await this.#readText(wanted, text));
    const loaded = this.#read.get(file);
    if (loaded === undefined) return;
    for (const index of loaded.scenario.extends.keys()) {
      await this.#addExtended(loaded, index, [...chain, wanted]);
    }
    this.#loaded.set(file, loaded.scenario);
  }

  async #addExtended(by: Loaded, index: number, chain: readonly Wanted[]): Promise<void> {
    const at = ['extends', index];
    const name = by.scenario.extends[index] ?? '';
    const from = chain.at(-1);
    if (from === undefined) return;
    const wanted = { file: fileOf(name, dirname(from.file)), told: toldBeside(from, name) };
    const cycle = chain.findIndex(({ file }) => file === wanted.file);
    if (cycle !== -1) {
      const found = [...chain.slice(cycle), wanted].map(({ told }) => told).join(' → ');
      const expected = 'no cycle of scenarios that extend each other';
      this.#problems.push(by.problemOf({ at, expected, found }));
      return;
    }
    const text = named(wanted.file, await readText(wanted.file, SETTINGS_LIMIT));
    if (text.ok) await this.#add(wanted, text.text, chain);
    else {
      const found = `${text.found} at ${describe(name)}${meant(name)}`;
      this.#problems.push(by.problemOf({ at, expected: EXPECTED_FILE, found }));
    }
  }

  async #readText({ file, told }: Wanted, text: string): Promise<Loaded | undefined> {
    const format = extname(file).toLowerCase() === '.json' ? 'json' : 'yaml';
    const parsed = await parseScenario(told, format, text);
    if (!parsed.ok) {
      this.#problems.push(...parsed.problems);
      return undefined;
    }
    const { problemOf, placeOf } = parsed;
    const reading = readScenario(parsed.value, basename(file, extname(file)));
    this.#problems.push(...parsed.problems);
    if (!reading.ok) {
      this.#problems.push(...reading.problems.map(problemOf));
      return undefined;
    }
    const { fixture } = reading.value;
    const scenario = {
      ...reading.value,
      file,
      placeOf,
      fixture: fixture && fixtureOf(fixture, file),
    };
    return { scenario, problemOf };
  }
}

/** A name means a shipped fixture. A path is relative to the scenario file. */
function fixtureOf(fixture: string, file: string): string {
  return NAME.test(fixture) ? fixture : resolve(dirname(file), fixture);
}

/** The name of an extended scenario in messages: its path from the working directory. */
function toldBeside({ told }: Wanted, name: string): string {
  return isShipped(name) || isShipped(told) || isAbsolute(name) ? name : join(dirname(told), name);
}

const EXPECTED_FILE = `a scenario file (${listed(EXTENSIONS, 'or')}), or the name of a shipped one`;

function meant(name: string): string {
  return suggest(
    name,
    shippedScenarios().map((it) => it.name),
  );
}

/** Refuses files with another extension. Pipes may have any name. */
function named(file: string, read: TextReading): TextReading {
  const extension = extname(file);
  if (!read.ok || read.pipe || EXTENSIONS.includes(extension.toLowerCase())) return read;
  return { ok: false, found: `a file whose name ends in ${describe(extension)}` };
}
