import type { Platform } from '../platform.ts';
import { formatProblem } from '../problems.ts';
import type { KnownScenarios } from '../scenario/resolve-scenarios.ts';
import { createRuleBook, type RuleBook, type RuleMatch } from '../scenario/rules.ts';
import { isShipped } from '../scenario/scenario-names.ts';
import { ScenarioError } from '../scenario/scenario-records.ts';
import type { Scenario } from '../scenario/scenario-shape.ts';
import { describe, suggest } from '../words.ts';
import type { State } from './state.ts';

/** What a request asks for in its `Prefer` header (RFC 7240). */
export type Preference =
  /** `applied` is the value of the header `Preference-Applied`. */
  | { readonly kind: 'status'; readonly match: RuleMatch; readonly applied: string }
  /** Its rules are tried before those of the sandbox. */
  | { readonly kind: 'scenario'; readonly book: RuleBook; readonly applied?: string }
  /** With `handling=strict`, an unknown preference fails the request (RFC 7240, section 4.4). */
  | { readonly kind: 'wrong'; readonly wrong: string; readonly strict: boolean };

/** A name with a token or a quoted string (RFC 9110, section 5.6). Parameters are skipped. */
const PREFERENCE =
  /(?:^|,)\s*([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]+)))?(?:\s*;(?:[^",]|"(?:[^"\\]|\\.)*")*)?/g;

const NAMES = ['code', 'scenario', 'handling'];

const STATUS = /^[2-5]\d\d$/;

const shippedBooks = new Map<string, RuleBook>();

/** Reads `Prefer`. Unknown preferences are ignored, as HTTP requires. */
export async function readPrefer(
  header: string,
  platform: Platform,
  readState?: () => Promise<State>,
): Promise<Preference | undefined> {
  const asked = new Map<string, string>();
  for (const [, name = '', quoted, plain] of header.matchAll(PREFERENCE)) {
    const known = name.toLowerCase();
    // The first of several preferences of one name counts (RFC 7240, section 2).
    if (!asked.has(known)) asked.set(known, quoted ?? plain ?? '');
  }
  const { code, scenario, handling } = Object.fromEntries(asked);
  const strict = handling?.toLowerCase() === 'strict';
  let found: Preference | string | undefined;
  if (code !== undefined && STATUS.test(code)) found = preferStatus(Number(code));
  else if (code !== undefined && (strict || scenario === undefined)) {
    found = `code: expected a status from 200 to 599, found ${describe(code)}`;
  } else if (scenario !== undefined) found = await preferScenario(scenario, platform, readState);
  else [found] = [...asked.keys()].flatMap(findMisspelling);
  return typeof found === 'string' ? { kind: 'wrong', wrong: `Prefer: ${found}`, strict } : found;
}

function preferStatus(status: number): Preference {
  const reply = { status, headers: [], content: undefined };
  const reason = 'the request asked for it with Prefer';
  const match = { by: 'prefer', reason, reply, delay: 0, apply: false };
  return { kind: 'status', match, applied: `code=${status}` };
}

/** @returns the scenario's rules, or a message if there is no such scenario */
async function preferScenario(
  name: string,
  platform: Platform,
  readState: (() => Promise<State>) | undefined,
): Promise<Preference | string> {
  const applied = `scenario=${name}`;
  const state = await readState?.();
  const known = state && knownScenarios(state);
  const ships = isShipped(name) && !known?.has(name);
  const shipped = ships ? shippedBooks.get(name) : undefined;
  if (shipped !== undefined) return { kind: 'scenario', book: shipped, applied };
  // Imported late, because few requests name a scenario.
  const { resolveScenarios, scenariosByName } = await import('../scenario/resolve-scenarios.ts');
  const source = scenariosByName(platform, known);
  try {
    const found = source.find(name);
    if (typeof found === 'string') {
      return `scenario: expected a shipped scenario, or one of this sandbox, found ${found}`;
    }
    const book = createBook(name, resolveScenarios([name], source));
    if (ships) shippedBooks.set(name, book);
    return { kind: 'scenario', book, applied };
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    return `scenario: ${error.problems.slice(0, 1).map(formatProblem)}`;
  }
}

/** @param name whose counters the rules use, also those of scenarios that it extends */
function createBook(name: string, scenarios: readonly Scenario[]): RuleBook {
  const rules = scenarios.toReversed().flatMap((scenario) => scenario.rules);
  return createRuleBook(rules, 'prefer', name);
}

function findMisspelling(name: string): string[] {
  if (NAMES.includes(name)) return [];
  const hint = /status/.test(name) ? ' (did you mean code?)' : suggest(name, NAMES);
  return hint === '' ? [] : [`the mock knows no preference ${describe(name)}${hint}`];
}

/** The scenarios of a sandbox besides the shipped ones. Of two with one name, the later wins. */
export function knownScenarios({ settings, scenarios }: State): KnownScenarios {
  const known = [...settings.start.scenarios, ...settings.active, ...scenarios.values()];
  return new Map(known.map((scenario) => [scenario.name, scenario]));
}
