import { readFileSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, join, resolve } from 'node:path';
import type { Problem } from '../contract/records.ts';
import { packageRoot } from '../package.ts';
import { readText, SETTINGS_LIMIT, type TextReading } from '../read-text.ts';
import { problemLines } from '../shape/places.ts';
import { pathText } from '../shape/shapes.ts';
import { shippedFixtures } from '../store/fixture/parse-fixture.ts';
import { cut, describe, joinWords, MOST_HINTS, problemText, suggest } from '../words.ts';
import { ScenarioError } from './sandbox-start.ts';
import { isShipped, SCENARIO_NAMES } from './scenario-names.ts';
import type { Scenario } from './scenario-shape.ts';
import { readScenarioText } from './scenario-text.ts';

const SHIPPED = join(packageRoot, 'scenarios');

/** The extension of shipped scenarios. Their folder also has the schema. */
const SHIPPED_EXTENSION = '.yaml';

const EXTENSIONS = ['.yaml', '.yml', '.json'];

const NAME = /^[\w-]+$/;

/** Characters shown of a name in a message. */
const LONGEST_NAME = 100;

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

/** A scenario to load. */
interface ScenarioRequest {
  /** Its file, or its name in a request. */
  readonly key: string;
  /** What messages call it. */
  readonly label: string;
  /** What the scenario that extends it calls it. */
  readonly extended?: string;
}

/** Reports a scenario that cannot be used where it is wanted. */
type Refuse = (expected: string, found: string) => undefined;

/** Where scenarios come from. */
interface ScenarioFinder {
  /** Undefined once it has been refused, or its own problems were reported. */
  readonly find: (wanted: ScenarioRequest, refuse: Refuse) => Promise<Scenario | undefined>;
  readonly besides: (wanted: ScenarioRequest, scenario: Scenario, name: string) => ScenarioRequest;
  /** What else is wrong with a scenario. */
  readonly check?: (scenario: Scenario) => readonly Problem[];
}

/**
 * Loads scenarios and what they extend.
 *
 * @param problems those of the library
 * @returns the scenarios in ascending precedence; one that is extended more than once comes once, at
 *   its first place
 * @throws ScenarioError with the problems of all of them
 */
async function loadInOrder(
  named: readonly ScenarioRequest[],
  { find, besides, check }: ScenarioFinder,
  problems: string[],
): Promise<readonly Scenario[]> {
  const loaded = new Map<string, Scenario>();

  /** @param chain those that led to this one by `extends` */
  const load = async (
    wanted: ScenarioRequest,
    chain: readonly ScenarioRequest[],
    refuse: Refuse,
  ): Promise<void> => {
    const cycle = chain.findIndex((it) => it.key === wanted.key);
    if (cycle !== -1) {
      const round = [...chain.slice(cycle), wanted].map((it) => it.label);
      return refuse('no cycle of scenarios that extend each other', round.join(' → '));
    }
    if (loaded.has(wanted.key)) return;
    const scenario = await find(wanted, refuse);
    if (scenario === undefined) return;
    const misfits: Problem[] = [];
    for (const [index, name] of scenario.extends.entries()) {
      const path = pathText(['extends', index]);
      await load(besides(wanted, scenario, name), [...chain, wanted], (expected, found) => {
        misfits.push({ path, expected, found });
      });
    }
    misfits.push(...(check?.(scenario) ?? []));
    // Together, since each search for places takes time.
    if (misfits.length > 0) problems.push(...linesIn(scenario, misfits));
    loaded.set(wanted.key, scenario);
  };

  for (const wanted of named) {
    // A named scenario wins over those named before it, even if they extend it.
    loaded.delete(wanted.key);
    await load(wanted, [], (expected, found) => {
      problems.push(`${cut(wanted.label, LONGEST_NAME)}: expected ${expected}; found ${found}`);
    });
  }
  if (problems.length > 0) throw new ScenarioError(problems);
  return [...loaded.values()];
}

/** Problems at their places in the scenario's text, or else in the body of the request. */
function linesIn({ linesOf }: Scenario, problems: readonly Problem[]): readonly string[] {
  const inBody = (it: Problem) => problemText({ ...it, path: it.path.replace('$', '$.scenario') });
  return linesOf?.(problems) ?? problems.map(inBody);
}

/** A hint at the nearest right name. Only for the first names, since each search takes time. */
function hints(names: readonly string[]): (name: string) => string {
  let left = MOST_HINTS;
  return (name) => {
    left -= 1;
    return left >= 0 ? suggest(name, names) : '';
  };
}

/**
 * Loads scenarios and what they extend, by the name of a shipped one or else by path.
 *
 * @param texts the files that were already read, by name or path
 * @throws ScenarioError with the problems of all of them
 */
export async function loadScenarios(
  namesOrPaths: readonly string[],
  texts: ReadonlyMap<string, TextReading> = new Map(),
): Promise<readonly Scenario[]> {
  const problems: string[] = [];
  const hint = hints(SCENARIO_NAMES);
  /** By file; undefined if the file has problems. */
  const read = new Map<string, Scenario | undefined>();
  const find: ScenarioFinder['find'] = async ({ key: file, label, extended }, refuse) => {
    if (!read.has(file)) {
      const text = withExtension(file, texts.get(label) ?? (await readText(file, SETTINGS_LIMIT)));
      if (!text.ok) {
        const at = extended === undefined ? '' : ` at ${describe(extended)}`;
        return refuse(EXPECTED_FILE, `${text.found}${at}${hint(extended ?? label)}`);
      }
      read.set(file, await readFile(file, label, text.text, problems));
    }
    return read.get(file);
  };
  const named = namesOrPaths.map((label) => ({
    key: isShipped(label) ? shippedFile(label) : resolve(label),
    label,
  }));
  return loadInOrder(named, { find, besides: fileBesides }, problems);
}

/** The scenarios that a sandbox knows besides those that ship, by name. Each is read when it is wanted. */
export type KnownScenarios = ReadonlyMap<string, () => Scenario | Promise<Scenario>>;

/**
 * Loads the scenarios that a request names, those that they extend first. Reads only files that
 * ship: a request cannot read others.
 *
 * @param written a scenario from the request, which wins over the others
 * @param known win over shipped ones of the same name
 * @throws ScenarioError if a scenario or a fixture is unknown
 */
export async function loadForRequest(
  names: readonly string[],
  written?: Scenario,
  known: KnownScenarios = new Map(),
): Promise<readonly Scenario[]> {
  const shipped = `a shipped scenario: ${joinWords(SCENARIO_NAMES, 'or')}`;
  const expected =
    known.size === 0 ? shipped : `${shipped}; or ${joinWords([...known.keys()], 'or')}`;
  const hint = hints([...SCENARIO_NAMES, ...known.keys()]);
  const find: ScenarioFinder['find'] = async ({ key: name }, refuse) => {
    if (name === written?.name) return written;
    const scenario = await known.get(name)?.();
    if (scenario !== undefined) return scenario;
    if (isShipped(name)) return (await loadScenarios([name])).at(-1);
    return refuse(expected, `${describe(name)}${hint(name)}`);
  };
  const besides: ScenarioFinder['besides'] = (_, { file }, extended) => {
    // The server's own files extend paths.
    const name = file === undefined ? extended : basename(extended, extname(extended));
    return { key: name, label: name, extended };
  };
  const check: ScenarioFinder['check'] = ({ file, fixture }) => {
    const isKnown =
      file !== undefined || fixture === undefined || shippedFixtures().includes(fixture);
    if (isKnown) return [];
    const expected = 'the name of a shipped fixture';
    return [{ path: pathText(['fixture']), expected, found: describe(fixture) }];
  };
  const named = [...names, ...(written === undefined ? [] : [written.name])];
  return loadInOrder(
    named.map((name) => ({ key: name, label: name })),
    { find, besides, check },
    [],
  );
}

/** Reads the text of a scenario file and adds its problems. Returns undefined if it cannot be read. */
async function readFile(
  file: string,
  label: string,
  text: string,
  problems: string[],
): Promise<Scenario | undefined> {
  const extension = extname(file);
  const format = extension.toLowerCase() === '.json' ? 'json' : 'yaml';
  const read = await readScenarioText(label, format, text, basename(file, extension));
  if (!read.ok) {
    problems.push(...problemLines(label, read.problems));
    return undefined;
  }
  const { fixture } = read.scenario;
  return { ...read.scenario, file, fixture: fixture && fixtureOf(fixture, file) };
}

/** A scenario that a file extends, by name or by a path relative to that file. */
function fileBesides(
  { key: file, label }: ScenarioRequest,
  _: Scenario,
  extended: string,
): ScenarioRequest {
  if (isShipped(extended)) return { key: shippedFile(extended), label: extended, extended };
  const isAlone = isShipped(label) || isAbsolute(extended);
  const path = isAlone ? extended : join(dirname(label), extended);
  return { key: resolve(dirname(file), extended), label: path, extended };
}

/** A name means a shipped fixture. A path is relative to the scenario file. */
function fixtureOf(fixture: string, file: string): string {
  return NAME.test(fixture) ? fixture : resolve(dirname(file), fixture);
}

function shippedFile(name: string): string {
  return join(SHIPPED, name + SHIPPED_EXTENSION);
}

const EXPECTED_FILE = `a scenario file (${joinWords(EXTENSIONS, 'or')}), or the name of a shipped one`;

/** Refuses files with another extension. Pipes may have any name. */
function withExtension(file: string, read: TextReading): TextReading {
  const extension = extname(file);
  if (!read.ok || read.pipe || EXTENSIONS.includes(extension.toLowerCase())) return read;
  return { ok: false, found: `a file whose name ends in ${describe(extension)}` };
}
