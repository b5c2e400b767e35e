import { LIMITS } from '../limits.ts';
import type { Platform } from '../platform.ts';
import { type ReportMisfit, reportInto, type ShapeProblem } from '../shape/shapes.ts';
import { readJson } from '../shape/source-text.ts';
import { isShippedFixture } from '../store/fixture.ts';
import {
  createFileProblem,
  describe,
  formatProblem,
  joinWords,
  suggest,
  type TextProblem,
} from '../words.ts';
import { ScenarioError } from './sandbox-start.ts';
import { isShipped, readShippedText, SCENARIO_NAMES } from './scenario-names.ts';
import { readScenario, type SavedScenario, type Scenario } from './scenario-shape.ts';
import { readYaml } from './yaml-text.ts';

/** Where scenarios are found by a name, or by a path. */
export interface ScenarioSource {
  /** What can be named, for messages. */
  readonly expected: string;
  /**
   * One object for all names of a scenario, or else, in words, what was found instead.
   *
   * @throws ScenarioError if the scenario is broken
   */
  readonly find: (name: string) => Scenario | string;
}

/** Finds scenarios, and those that they extend, in ascending precedence. */
export function resolveScenarios(
  names: readonly string[],
  { expected, find }: ScenarioSource,
): readonly Scenario[] {
  const problems: TextProblem[] = [];
  const resolved = new Set<Scenario>();

  /** @param chain those that led to this one by `extends`, with the names that they were found by */
  const resolve = (
    name: string,
    chain: ReadonlyMap<Scenario, string>,
    refuse: (expected: string, found: string) => void,
  ): Scenario | undefined => {
    const scenario = findOrReport(name, find, problems);
    if (scenario === undefined) return undefined;
    if (typeof scenario === 'string') {
      refuse(expected, scenario);
      return undefined;
    }
    if (chain.has(scenario)) {
      const start = [...chain.keys()].indexOf(scenario);
      const cycle = [...[...chain.values()].slice(start), name].join(' → ');
      refuse('no cycle of scenarios that extend each other', cycle);
      return undefined;
    }
    if (resolved.has(scenario)) return scenario;
    const misfits: ShapeProblem[] = [];
    const report = reportInto(misfits);
    for (const [index, extended] of scenario.extends.entries()) {
      if (misfits.length > LIMITS.problems.max) break;
      resolve(extended, new Map([...chain, [scenario, name]]), (wanted, found) =>
        report({ at: ['extends', index], expected: wanted, found }),
      );
    }
    checkOrigin(scenario, report);
    // Together, since each search for places takes time.
    if (misfits.length > 0) problems.push(...scenario.locate(misfits));
    resolved.add(scenario);
    return scenario;
  };

  for (const name of names) {
    if (problems.length > LIMITS.problems.max) break;
    const scenario = resolve(name, new Map(), (wanted, found) => {
      const message = `${name}: expected ${wanted}; found ${found}`;
      problems.push(createFileProblem(name, wanted, found, message));
    });
    // A named scenario wins over those named before it, even if they extend it.
    if (scenario !== undefined && resolved.delete(scenario)) resolved.add(scenario);
  }
  const scenarios = [...resolved];
  const count = scenarios.reduce((sum, { rules }) => sum + rules.length, 0);
  if (count > LIMITS.rules.max) {
    const most = `at most ${LIMITS.rules.max} rules in all scenarios`;
    problems.push(createFileProblem(scenarios.at(-1)?.name ?? '', most, `${count}`));
  }
  if (problems.length > 0) throw new ScenarioError(problems);
  return scenarios;
}

/** Undefined if it is broken. Of one that several extend, the problems are reported once. */
function findOrReport(
  name: string,
  find: ScenarioSource['find'],
  problems: TextProblem[],
): Scenario | string | undefined {
  try {
    return find(name);
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    const known = new Set(problems.map(formatProblem));
    problems.push(...error.problems.filter((problem) => !known.has(formatProblem(problem))));
    return undefined;
  }
}

/** One that came in a request may do less than the server's own files. */
function checkOrigin({ name, file, fixture, generate = {} }: Scenario, report: ReportMisfit): void {
  if (file !== undefined || isShipped(name)) return;
  if (fixture !== undefined && !isShippedFixture(fixture)) {
    const expected = 'the name of a shipped fixture';
    report({ at: ['fixture'], expected, found: describe(fixture) });
  }
  for (const [records, count = 0] of Object.entries(generate)) {
    if (count <= LIMITS.generated.max) continue;
    const expected = `at most ${LIMITS.generated.max} in a request`;
    report({ at: ['generate', records], expected, found: `${count}` });
  }
}

/** What a sandbox knows besides those that ship, by name. */
export type KnownScenarios = ReadonlyMap<string, Scenario | SavedScenario>;

/**
 * Finds scenarios for a request. Reads no files but those that ship.
 *
 * @param written a scenario from the request, which wins over the others
 * @param known win over shipped ones of the same name
 */
export function scenariosByName(
  texts: Pick<Platform, 'shippedText'>,
  known: KnownScenarios = new Map(),
  written?: Scenario,
): ScenarioSource {
  const shipped = `a shipped scenario: ${joinWords(SCENARIO_NAMES, 'or')}`;
  return {
    expected: known.size === 0 ? shipped : `${shipped}; or ${joinWords([...known.keys()], 'or')}`,
    find: (name) => {
      const found = name === written?.name ? written : known.get(name);
      if (found !== undefined) return 'text' in found ? readSaved(found) : found;
      if (isShipped(name)) return readShipped(texts, name);
      return describe(name) + suggest(name, [...SCENARIO_NAMES, ...known.keys()]);
    },
  };
}

const shippedReadings = new Map<string, Scenario>();

export function readShipped(
  texts: Pick<Platform, 'shippedText'>,
  name: Parameters<typeof readShippedText>[1],
): Scenario {
  const known = shippedReadings.get(name);
  if (known !== undefined) return known;
  const text = readShippedText(texts, name);
  const reading = readScenarioText(name, { name, format: 'yaml', text });
  shippedReadings.set(name, reading);
  return reading;
}

const savedReadings = new WeakMap<SavedScenario, Scenario>();

/** It was valid when it was saved. */
function readSaved(saved: SavedScenario): Scenario {
  const reading = savedReadings.get(saved) ?? readScenarioText(saved.name, saved);
  savedReadings.set(saved, reading);
  return reading;
}

/**
 * @param file its name in problems
 * @throws ScenarioError
 */
export function readScenarioText(
  file: string,
  { name, format, text }: Omit<SavedScenario, 'description'>,
): Scenario {
  const parsed = (format === 'json' ? readJson : readYaml)(file, text);
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

/** @throws ScenarioError */
export function readSentScenario(sent: Omit<SavedScenario, 'description'>): Scenario {
  const { name, text, format } = sent;
  const max = MAX_LENGTH[format];
  if (text.length <= max) return readScenarioText(name, sent);
  const others = format === 'json' ? '' : 'send the scenario as JSON, or ';
  const expected = `at most ${max} characters`;
  const message = `expected ${expected}, found more: ${others}start the server with its file`;
  const problem = { path: '$', expected, found: 'more', message };
  throw new ScenarioError([{ file: name, line: 1, column: 1, ...problem }]);
}
