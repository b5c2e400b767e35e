import type { KnownScenarios } from '../scenario/load-scenario.ts';
import { type RuleBook, ruleBook } from '../scenario/rules.ts';
import { ScenarioError, type Start } from '../scenario/sandbox-start.ts';
import { isShipped, SCENARIO_NAMES } from '../scenario/scenario-names.ts';
import type { Scenario } from '../scenario/scenario-shape.ts';
import { describe, suggest } from '../words.ts';
import type { State } from './state.ts';

/** What a request asks of the mock with `Prefer` (RFC 7240). */
export type Preference =
  /** The status of the reply. */
  | { readonly status: number }
  /** Rules to try before the sandbox's own, and the name of their scenario. */
  | { readonly book: RuleBook; readonly scenario: string }
  /** Why a preference cannot be used; if `strict`, it fails the request (RFC 7240, section 4.4). */
  | { readonly wrong: string; readonly strict: boolean };

/** One preference: a name, and a value that may be quoted. Its parameters are ignored. */
const PREFERENCE = /(?:^|,)\s*([\w-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,;"]+)))?/g;

const NAMES = ['code', 'scenario', 'handling'];

const STATUS = /^[2-5]\d\d$/;

/** The rules of the shipped scenarios that requests have asked for. */
const BOOKS = new Map<string, RuleBook>();

/**
 * Reads a `Prefer` header. Other preferences are ignored, as HTTP requires.
 *
 * @param sandbox whose own scenarios can be named
 * @throws KeeperError if other servers know these, and cannot be asked
 */
export async function readPrefer(
  header: string,
  sandbox?: ScenarioHolder,
): Promise<Preference | undefined> {
  const preferences = new Map<string, string>();
  for (const [, name = '', quoted, plain] of header.matchAll(PREFERENCE)) {
    const known = name.toLowerCase();
    // Of a repeated preference the first counts (RFC 7240, section 2).
    if (!preferences.has(known)) preferences.set(known, quoted ?? plain ?? '');
  }
  const code = preferences.get('code');
  const scenario = preferences.get('scenario');
  const strict = preferences.get('handling')?.toLowerCase() === 'strict';
  const invalid = (wrong: string): Preference => ({ wrong: `Prefer: ${wrong}`, strict });
  if (code !== undefined && STATUS.test(code)) return { status: Number(code) };
  if (code !== undefined && (strict || scenario === undefined)) {
    return invalid(`code: expected a status from 200 to 599, found ${describe(code)}`);
  }
  if (scenario === undefined) {
    const [wrong] = [...preferences.keys()].flatMap(misspellings);
    return wrong === undefined ? undefined : invalid(wrong);
  }
  // Imported here, since few requests ask for a scenario.
  const { loadForRequest } = await import('../scenario/load-scenario.ts');
  if (isShipped(scenario)) {
    const book = BOOKS.get(scenario) ?? bookOf(await loadForRequest([scenario]));
    BOOKS.set(scenario, book);
    return { scenario, book };
  }
  await sandbox?.current();
  const known = sandbox && knownScenarios(sandbox);
  if (known?.has(scenario) !== true) {
    const found =
      describe(scenario) + suggest(scenario, [...SCENARIO_NAMES, ...(known?.keys() ?? [])]);
    return invalid(`scenario: expected a shipped scenario, or one of this sandbox, found ${found}`);
  }
  try {
    return { scenario, book: bookOf(await loadForRequest([scenario], undefined, known)) };
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    return invalid(`scenario: ${error.problems[0]}`);
  }
}

function bookOf(scenarios: readonly Scenario[]): RuleBook {
  return ruleBook(scenarios.toReversed().flatMap(({ rules }) => rules));
}

/** What is wrong with a name that was probably meant to be one of ours. HTTP has many others. */
function misspellings(name: string): string[] {
  if (NAMES.includes(name)) return [];
  const hint = /status/.test(name) ? ' (did you mean code?)' : suggest(name, NAMES);
  return hint === '' ? [] : [`the mock knows no preference ${describe(name)}${hint}`];
}

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
