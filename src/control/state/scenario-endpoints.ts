import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ref } from '../../contract/openapi-schemas.ts';
import { isObject, type Problem, type Reading } from '../../contract/records.ts';
import { packageRoot } from '../../package.ts';
import { Rules } from '../../scenario/rules.ts';
import type { Start } from '../../scenario/sandbox-start.ts';
import { type Scenario, ScenarioError } from '../../scenario/scenario.ts';
import type { ScenarioLibrary } from '../../scenario/scenario-library.ts';
import { touchesStore } from '../../scenario/starter.ts';
import { FixtureError } from '../../store/fixture/parse-fixture.ts';
import { restoreStore } from '../../store/store.ts';
import { describe } from '../../words.ts';
import { readMembers } from '../checks.ts';
import {
  type ControlCall,
  type ControlReply,
  type Endpoint,
  json,
  refuse,
  refuseInput,
} from '../endpoint.ts';

/** What a scenario is called that was written in a request. */
const WRITTEN = 'request';

const ACTIVE = { description: 'The active scenarios.', schema: ref('schemas', 'ActiveScenarios') };

export const SCENARIO_ENDPOINTS: readonly Endpoint[] = [
  {
    id: 'listScenarios',
    method: 'get',
    path: '/scenarios',
    tag: 'Scenarios',
    summary: 'The scenarios that can be named',
    replies: {
      200: {
        description: 'The scenarios that are shipped.',
        schema: { type: 'array', items: ref('schemas', 'Scenario') },
      },
    },
    handle: async ({ parts }) => json(await parts.library.list()),
  },
  {
    id: 'getScenario',
    method: 'get',
    path: '/scenario',
    tag: 'Scenarios',
    summary: 'The active scenarios and their rules',
    replies: { 200: ACTIVE },
    handle: ({ sandbox: { start, rules } }) => json(activeView(start, rules)),
  },
  {
    id: 'setScenario',
    method: 'put',
    path: '/scenario',
    tag: 'Scenarios',
    summary: 'Replace the active scenarios',
    description: `By names in \`scenarios\`, and by one that is written out in \`scenario\`, which wins over them and is called \`${WRITTEN}\`. No names and no scenario leave none. The sandbox starts anew from them; records that were changed stay where no scenario says anything of records, now or before.`,
    body: { schema: ref('schemas', 'ScenarioChoice') },
    replies: { 200: ACTIVE },
    handle: setScenario,
  },
];

const NAMES = {
  expected: 'an array of names of scenarios',
  read: (value: unknown): readonly string[] | undefined =>
    Array.isArray(value) && value.every((name) => typeof name === 'string') ? value : undefined,
};

const WHOLE = {
  expected: 'an object with the parts of a scenario',
  read: (value: unknown) => (isObject(value) ? value : undefined),
};

async function setScenario({ parts, sandbox, body }: ControlCall): Promise<ControlReply> {
  const members = readMembers({ scenarios: NAMES, scenario: WHOLE }, body);
  if (!members.ok) return refuseInput(members.problems);
  const { scenarios: names, scenario } = members.value;
  if (names === undefined && scenario === undefined) {
    return refuseInput([{ path: '$', expected: 'scenarios or scenario', found: 'neither' }]);
  }
  let start: Start;
  try {
    const scenarios = await loaded(parts.library, names ?? [], scenario);
    if (!scenarios.ok) return refuseInput(scenarios.problems);
    start = parts.sandboxes.startOf(sandbox.name, await parts.starter(scenarios.value));
  } catch (error) {
    if (!(error instanceof ScenarioError || error instanceof FixtureError)) throw error;
    return refuse('invalid_input', 400, error.message.replaceAll('\n', '; '));
  }
  const changed = [...sandbox.start.scenarios, ...start.scenarios].some(touchesStore);
  if (changed) restoreStore(sandbox.world.store, start.store);
  // What a reset goes back to is what the sandbox started with, which a file may have brought.
  const next = changed ? start : { ...start, store: sandbox.start.store };
  return {
    ...json(activeView(next, new Rules(next.rules, next.seed))),
    finish: () => sandbox.use(next),
  };
}

/** Scenarios in the order in which they win, the one that was written in the request last. */
async function loaded(
  library: ScenarioLibrary,
  names: readonly string[],
  written: object | undefined,
): Promise<Reading<readonly Scenario[]>> {
  const shipped = await library.load(names);
  if (written === undefined) return { ok: true, value: shipped };
  const { readScenario } = await import('../../scenario/read-scenario.ts');
  const reading = readScenario(written, WRITTEN);
  if (!reading.ok) return { ok: false, problems: reading.problems.map(underScenario) };
  const { fixture } = reading.value;
  if (fixture !== undefined && !isShippedFixture(fixture)) {
    const expected = 'the name of a fixture that is shipped';
    const path = '$.scenario.fixture';
    return { ok: false, problems: [{ path, expected, found: describe(fixture) }] };
  }
  const { withExtended } = await import('../../scenario/load-scenario.ts');
  const added = await withExtended(reading.value);
  const known = new Set(shipped.map(({ name }) => name));
  return { ok: true, value: [...shipped, ...added.filter(({ name }) => !known.has(name))] };
}

function underScenario({ path, ...problem }: Problem): Problem {
  return { path: `$.scenario${path.slice(1)}`, ...problem };
}

/** Whoever may send requests cannot read files. */
function isShippedFixture(name: string): boolean {
  return /^[\w-]+$/.test(name) && existsSync(join(packageRoot, 'fixtures', `${name}.json`));
}

function activeView({ scenarios }: Start, active: Rules): object {
  const views = scenarios.map(({ name, description, rules }) => ({
    name,
    description,
    rules: rules.map((rule) => ({
      number: rule.number,
      on: rule.on,
      status: rule.reply?.status,
      fault: rule.fault?.kind,
      calls: active.callsOf(rule),
    })),
  }));
  return { scenarios: views };
}
