import type { StoreState } from '../../core/control/state/state-endpoints.ts';
import { parseInput, writeJson } from '../../core/json.ts';
import type { Platform } from '../../core/platform.ts';
import type { SandboxOptions } from '../../core/sandbox/sandboxes.ts';
import { ScenarioError, type StartSettings } from '../../core/scenario/sandbox-start.ts';
import {
  isShipped,
  SCENARIO_NAMES,
  type ScenarioName,
} from '../../core/scenario/scenario-names.ts';
import {
  readScenario,
  type Scenario,
  type ScenarioDefinition,
} from '../../core/scenario/scenario-shape.ts';
import { ANY, FLAG, list, type Shape } from '../../core/shape/shapes.ts';
import { parseFixture, readShippedFixture } from '../../core/store/fixture.ts';
import { createFileProblem, describe, suggest } from '../../core/words.ts';
import type { MockOptions } from '../../server/open-sandboxes.ts';
import {
  AMOUNT,
  ASSUMED,
  CLOCK,
  checkValues,
  DELAY,
  FUNCTION,
  KEY_LISTS,
  MAX_HOLD,
  SANDBOX_IDLE,
  SEED,
} from '../../server/option-kinds.ts';

/** The options of a server that need no port and no file, with the same defaults. */
export interface CreateMockOptions
  extends StartSettings,
    SandboxOptions,
    Pick<MockOptions, 'observe' | 'onFinding' | 'onNotice'> {
  /** The store to start from; by default the one that ships. Collections left out are empty. */
  readonly fixture?: Partial<StoreState> | undefined;
  /** Generates this many animals instead. */
  readonly animals?: number | undefined;
  /** Generates this many orders instead. */
  readonly orders?: number | undefined;
  /** Names of scenarios that ship, or scenarios; later ones win. */
  readonly scenarios?: readonly (ScenarioName | ScenarioDefinition)[] | undefined;
}

const SHAPES: Readonly<Record<keyof CreateMockOptions, Shape<unknown>>> = {
  seed: SEED.codeShape,
  assume: ASSUMED.codeShape,
  keys: KEY_LISTS,
  clock: CLOCK.codeShape,
  frozen: FLAG,
  delay: DELAY.codeShape,
  plain: FLAG,
  journal: AMOUNT.codeShape,
  maxSandboxes: AMOUNT.codeShape,
  sandboxRequired: FLAG,
  sandboxIdle: SANDBOX_IDLE.codeShape,
  maxHold: MAX_HOLD.codeShape,
  observe: FUNCTION,
  onFinding: FUNCTION,
  onNotice: FUNCTION,
  fixture: ANY,
  animals: AMOUNT.codeShape,
  orders: AMOUNT.codeShape,
  scenarios: list(ANY),
};

/** @throws RangeError for a wrong option, FixtureError or ScenarioError for what does not have its form */
export function readOptions(options: CreateMockOptions, texts: Pick<Platform, 'shippedText'>) {
  checkValues(options, SHAPES);
  const { fixture, animals, orders, scenarios = [] } = options;
  const isGenerated = animals !== undefined || orders !== undefined;
  if (fixture !== undefined && isGenerated)
    throw new RangeError('fixture excludes animals and orders: drop one of them');
  const text = writeJson(fixture ?? {});
  return {
    store: fixture
      ? parseFixture('fixture', { ok: true, text })
      : readShippedFixture(texts, 'default'),
    generate: isGenerated ? { animals, orders } : undefined,
    scenarios: scenarios.map(readGivenScenario),
  };
}

/** An object is named by its place in the list. */
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
  throw new ScenarioError(
    reading.problems.map(({ path, expected, found }) =>
      createFileProblem(path.replace('$', at), expected, found),
    ),
  );
}
