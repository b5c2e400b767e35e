import type { StoreState } from '../../core/control/store/store-endpoints.ts';
import { parseInput, writeJson } from '../../core/json.ts';
import type { Platform } from '../../core/platform.ts';
import { createFileProblem, type Problem, type TextProblem } from '../../core/problems.ts';
import {
  isShipped,
  SCENARIO_NAMES,
  type ScenarioName,
} from '../../core/scenario/scenario-names.ts';
import { ScenarioError } from '../../core/scenario/scenario-records.ts';
import {
  readScenario,
  type Scenario,
  type ScenarioDefinition,
} from '../../core/scenario/scenario-shape.ts';
import { AMOUNT, MOCK_OPTIONS, type MockOptions } from '../../core/service/mock-options.ts';
import {
  checkOptionsOf,
  inCode,
  listRows,
  type OptionGroups,
  type OptionsOf,
} from '../../core/shape/option-kinds.ts';
import { ANY, list, readAs, withTypes } from '../../core/shape/shapes.ts';
import { FixtureError, readShippedFixture, STORE } from '../../core/store/fixture.ts';
import type { Store } from '../../core/store/store.ts';
import { describe, suggest } from '../../core/words.ts';
import { OBSERVERS, type Observers } from '../../server/observers.ts';

/** Options of a mock without files, besides those of every mock. */
const OWN_OPTIONS = {
  Code: {
    /** The initial store; the shipped one by default. Collections that are left out are empty. */
    fixture: inCode(withTypes<Partial<StoreState>, never>(ANY)),
    /** How many animals to generate in place of the fixture. */
    animals: { ...inCode(AMOUNT.codeShape), excludes: ['fixture'] },
    /** How many orders to generate in place of the fixture. */
    orders: { ...inCode(AMOUNT.codeShape), excludes: ['fixture'] },
    /** Names of shipped scenarios, or scenarios as objects. Later ones win. */
    scenarios: inCode(withTypes<readonly (ScenarioName | ScenarioDefinition)[], never>(list(ANY))),
  },
} satisfies OptionGroups;

export const CREATE_MOCK_ROWS = listRows(MOCK_OPTIONS, OBSERVERS, OWN_OPTIONS);

/** Options of a mock in this process: those of a server that need neither port nor file. */
export type CreateMockOptions = MockOptions & Observers & OptionsOf<typeof OWN_OPTIONS>;

/** @throws RangeError for a wrong option, FixtureError or ScenarioError for invalid content */
export function readOptions(options: CreateMockOptions, texts: Pick<Platform, 'shippedText'>) {
  checkOptionsOf(CREATE_MOCK_ROWS, options);
  const { fixture, animals, orders, scenarios = [] } = options;
  const isGenerated = animals !== undefined || orders !== undefined;
  return {
    store: fixture ? readGivenStore(fixture) : readShippedFixture(texts, 'default'),
    generate: isGenerated ? { animals, orders } : undefined,
    scenarios: scenarios.map(readGivenScenario),
  };
}

function readGivenStore(given: Partial<StoreState>): Store {
  const reading = readAs(STORE, parseInput(writeJson(given)));
  if (reading.ok) return reading.value;
  throw new FixtureError(placeIn('fixture', reading.problems));
}

/** Messages name a scenario that is an object by its position in the list. */
function readGivenScenario(
  given: ScenarioName | ScenarioDefinition,
  index: number,
): string | Scenario {
  const at = `scenarios[${index}]`;
  if (typeof given === 'string') {
    if (isShipped(given)) return given;
    const found = describe(given) + suggest(given, SCENARIO_NAMES);
    throw new RangeError(
      `${at}: expected the name of a shipped scenario, or an object; found ${found}`,
    );
  }
  const reading = readScenario(parseInput(writeJson(given)), `scenario-${index + 1}`);
  if (reading.ok) return reading.value;
  throw new ScenarioError(placeIn(at, reading.problems));
}

function placeIn(option: string, problems: readonly Problem[]): readonly TextProblem[] {
  return problems.map(({ path, expected, found }) =>
    createFileProblem(path.replace('$', option), expected, found),
  );
}
