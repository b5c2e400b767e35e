import { basename, extname } from 'node:path';
import { type At, pathText } from '../shape/shapes.ts';
import { shippedFixtures } from '../store/fixture/parse-fixture.ts';
import { cut, describe, listed, MOST_HINTS, problemText, suggest } from '../words.ts';
import { loadScenarios } from './load-scenario.ts';
import { ScenarioError } from './scenario-error.ts';
import { isShipped, SCENARIO_NAMES } from './scenario-names.ts';
import type { Scenario } from './scenario-shape.ts';

/** The scenarios that a sandbox knows besides those that ship, by name. Each is read when it is wanted. */
export type KnownScenarios = ReadonlyMap<string, () => Scenario | Promise<Scenario>>;

/** Reports a name that cannot be used. */
type Refuse = (expected: string, found: string) => void;

/** Characters shown of a name in a message. */
const LONGEST_NAME = 100;

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
  const problems: string[] = [];
  /** In ascending precedence. */
  const loaded = new Map<string, Scenario>();
  const find = async (name: string): Promise<Scenario | undefined> => {
    if (name === written?.name) return written;
    const scenario = await known.get(name)?.();
    return scenario ?? (isShipped(name) ? (await loadScenarios([name])).at(-1) : undefined);
  };
  /** Reports a value, at its place in the scenario's text or else in the body of the request. */
  const report = ({ name, linesOf }: Scenario, at: At, expected: string, found: string): void => {
    const path = pathText(at);
    // To find a place takes time.
    const lines = problems.length < MOST_HINTS ? linesOf?.([{ path, expected, found }]) : undefined;
    const inBody = linesOf === undefined;
    const place = inBody ? pathText(['scenario', ...at]) : `${name}: ${path}`;
    problems.push(lines?.[0] ?? problemText({ path: place, expected, found }));
  };

  /** @param chain the scenarios that led to this one by `extends` */
  const add = async (name: string, chain: readonly string[], refuse: Refuse): Promise<void> => {
    if (chain.includes(name)) {
      const round = [...chain.slice(chain.indexOf(name)), name].join(' → ');
      return refuse('no cycle of scenarios that extend each other', round);
    }
    if (loaded.has(name)) return;
    const scenario = await find(name);
    if (scenario === undefined) {
      const words = [...SCENARIO_NAMES, ...known.keys()];
      const hint = problems.length < MOST_HINTS ? suggest(name, words) : '';
      return refuse(expectedName(known), `${describe(name)}${hint}`);
    }
    const { fixture, file } = scenario;
    for (const [index, extended] of scenario.extends.entries()) {
      // The server's own files extend paths.
      const other = file === undefined ? extended : basename(extended, extname(extended));
      await add(other, [...chain, name], (expected, found) =>
        report(scenario, ['extends', index], expected, found),
      );
    }
    if (file === undefined && fixture !== undefined && !shippedFixtures().includes(fixture)) {
      const expected = 'the name of a shipped fixture';
      report(scenario, ['fixture'], expected, describe(fixture));
    }
    loaded.set(name, scenario);
  };

  const refusedAt =
    (place: string): Refuse =>
    (expected, found) =>
      problems.push(`${place}: expected ${expected}; found ${found}`);
  for (const name of names) {
    // A named scenario wins over those named before it, even if they extend it.
    loaded.delete(name);
    await add(name, [], refusedAt(cut(name, LONGEST_NAME)));
  }
  if (written !== undefined) {
    loaded.delete(written.name);
    await add(written.name, [], refusedAt(written.name));
  }
  if (problems.length > 0) throw new ScenarioError(problems);
  return [...loaded.values()];
}

function expectedName(known: KnownScenarios): string {
  const shipped = `a shipped scenario: ${listed(SCENARIO_NAMES, 'or')}`;
  return known.size === 0 ? shipped : `${shipped}; or ${listed([...known.keys()], 'or')}`;
}
