import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkRules } from '../../../src/cli/check-rules.ts';
import { validateFile } from '../../../src/cli/commands/validate.ts';
import { formatProblem } from '../../../src/core/problems.ts';
import {
  readShipped,
  resolveScenarios,
  scenariosByName,
} from '../../../src/core/scenario/resolve-scenarios.ts';
import { SCENARIO_NAMES } from '../../../src/core/scenario/scenario-names.ts';
import { ScenarioError } from '../../../src/core/scenario/scenario-records.ts';
import { readScenario } from '../../../src/core/scenario/scenario-shape.ts';
import { parseDuration } from '../../../src/core/service/settings-shapes.ts';
import { NODE_PLATFORM } from '../../../src/server/node-platform.ts';
import { loadScenarios } from '../../../src/server/scenarios.ts';
import { temporaryFolder } from '../../helpers/folder.ts';

const folder = temporaryFolder();

function write(name: string, text: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

async function names(...values: string[]): Promise<readonly string[]> {
  return (await loadScenarios(values)).map(({ name }) => name);
}

async function refusal(load: () => unknown): Promise<readonly string[]> {
  const error: unknown = await Promise.resolve()
    .then(load)
    .catch((reason: unknown) => reason);
  if (!(error instanceof ScenarioError)) throw new Error(`Not refused: ${error}`);
  return error.problems.map((problem) => formatProblem(problem).replaceAll(folder, 'FOLDER'));
}

const EXPECTED = 'expected a scenario file (.yaml, .yml or .json), or the name of a shipped one';

describe('scenarios are loaded in ascending precedence', () => {
  test('in the order of their names', async () => {
    const mine = write('mine.json', '{ "description": "Mine." }');
    expect(await names('slow', mine, 'flaky')).toEqual(['slow', 'mine', 'flaky']);
  });

  test('extended scenarios first, by name or by a path relative to the file', async () => {
    write('deep/base.yml', 'extends: no-orders');
    const top = write('top.yaml', 'extends: [slow, deep/base.yml]');
    expect(await names(top)).toEqual(['slow', 'no-orders', 'base', 'top']);
    expect(await names(write('alone.yaml', 'extends: []'))).toEqual(['alone']);
  });

  test('a scenario that is extended first and named later, at the later position', async () => {
    const one = write('one.yaml', 'extends: [slow, two.yaml]');
    const two = write('two.yaml', 'description: Two.');
    expect(await names(one, 'slow')).toEqual(['two', 'one', 'slow']);
    expect(await names(one, relative('', two))).toEqual(['slow', 'one', 'two']);
  });

  test('under the name of their file', async () => {
    const files = ['日本.yaml', 'a "b".yaml', 'büro-1.yaml'].map((name) => write(name, '{}'));
    expect(await names(...files)).toEqual(['日本', 'a "b"', 'büro-1']);
  });

  test('with their file, and the path of their fixture resolved from it', async () => {
    write('store.json', '{}');
    const file = write('with-fixture.yaml', 'fixture: store.json');
    const [scenario] = await loadScenarios([file]);
    expect(scenario).toMatchObject({ file, fixture: join(folder, 'store.json') });
  });
});

describe('scenarios that cannot be loaded are refused', () => {
  test('a cycle, with every file in it', async () => {
    write('b.yaml', 'extends: c.yaml');
    write('c.yaml', 'extends: [slow, a.yaml]');
    const a = write('a.yaml', 'extends: b.yaml');
    expect(await refusal(() => loadScenarios([a]))).toEqual([
      'FOLDER/c.yaml:1:17: $.extends[1]: expected no cycle of scenarios that extend each other, found FOLDER/a.yaml → FOLDER/b.yaml → FOLDER/c.yaml → FOLDER/a.yaml',
    ]);
  });

  test('a misspelt name in a file, with its line and column', async () => {
    const file = write('extending.yaml', 'description: Mine.\nextends:\n  - outge\n  - other.yaml');
    expect(await refusal(() => loadScenarios([file]))).toEqual([
      `FOLDER/extending.yaml:3:5: $.extends[0]: ${EXPECTED}, found nothing (did you mean outage?)`,
      `FOLDER/extending.yaml:4:5: $.extends[1]: ${EXPECTED}, found nothing`,
    ]);
  });

  test('all problems of all files in one error', async () => {
    write('broken-base.yaml', 'rules: 1');
    const one = write('broken-1.yaml', 'extends: broken-base.yaml\nkeys: 1');
    const two = write('broken-2.json', '{ "extends": "broken-base.yaml", "state": 1 }');
    expect(await refusal(() => loadScenarios([one, two]))).toEqual([
      expect.stringMatching(/^FOLDER\/broken-1\.yaml:2:7: \$\.keys: /),
      expect.stringMatching(/^FOLDER\/broken-2\.json:1:43: \$\.state: /),
    ]);
  });
});

describe('a request', () => {
  const shipped = scenariosByName(NODE_PLATFORM);

  test('cannot read other files', async () => {
    const file = write('mine.yaml', 'description: Mine.');
    expect(await refusal(() => resolveScenarios([file, 'slwo'], shipped))).toEqual([
      expect.stringMatching(/^FOLDER\/mine\.yaml: expected a scenario: after-sunset/),
      expect.stringMatching(/found "slwo" \(did you mean slow\?\)$/),
    ]);
  });

  test('can contain a scenario that extends shipped ones only', async () => {
    const read = (value: unknown) => {
      const reading = readScenario(value, 'mine');
      if (!reading.ok) throw new Error('It was refused.');
      const source = scenariosByName(NODE_PLATFORM, undefined, reading.value);
      return resolveScenarios(['mine'], source);
    };
    const scenarios = read({ extends: ['slow'], fixture: 'default' });
    expect(scenarios.map(({ name }) => name)).toEqual(['slow', 'mine']);
    expect(await refusal(() => read({ extends: '../mine.yaml', fixture: '/etc/passwd' }))).toEqual([
      expect.stringMatching(/^\$\.scenario\.extends\[0\]: expected a scenario: /),
      '$.scenario.fixture: expected the name of a shipped fixture, found "/etc/passwd"',
    ]);
  });
});

test('a scenario whose records do not fit the store that it starts from is refused', async () => {
  const state = 'state: { animals: { set: [{ id: 999, categoryId: 1 }] } }';
  const order = 'state: { orders: { set: [{ id: 1, petId: 999 }] } }';
  for (const [text, problem] of [
    // Without its own fixture it starts from the default one.
    [state, /:1:27: \$\.state\.animals\.set\[0\]\.name: expected a string, found nothing$/],
    [`fixture: default\n${state}`, /:2:27: .*found nothing$/],
    [order, /petId: expected the id of an animal, found 999, which no animal has$/],
    ['fixture: nowhere', /^nowhere: expected a fixture file, or .* default; found nothing$/],
  ] as const) {
    expect((await validateFile(write('unfit.yaml', text))).problems.map(formatProblem)).toEqual([
      expect.stringMatching(problem),
    ]);
  }
});

test('a duration is an ISO 8601 one of weeks to seconds', () => {
  for (const [text, milliseconds] of [
    ['PT10M', 600_000],
    ['P30D', 2_592_000_000],
    ['P1DT1H1M1.5S', 90_061_500],
    ['P2W', 1_209_600_000],
    ['PT0S', 0],
    ...['P', 'PT', 'P1DT', 'P1Y', 'P1M', '10 minutes', '-PT1S'].map((it) => [it] as const),
  ] as const) {
    expect([text, parseDuration(text)]).toEqual([text, milliseconds]);
  }
});

test('validate warns of replies that the document does not allow, unless the scenario declares them', async () => {
  const text = `
rules:
  - { on: getPet, reply: { status: 202 } }
  - on: [getPet, listPets]
    patch:
      status: 200
      each: { name: 1 }
      items:
        - { where: { status: 404 }, body: { code: gone } }
        - { where: { code: x }, body: { code: null } }
        - { where: { id: 9007199254740993 }, body: { tag: 1 } }
  - { on: getPet, reply: { status: 200, body: {} }, fault: truncate }
`;
  const { problems, warnings } = await validateFile(write('odd.yaml', text));
  expect(problems).toEqual([]);
  expect(warnings.map(({ line, message }) => `${line} ${message}`)).toEqual([
    '3 $.rules[0].reply.status: expected 200 or 401, or an Error from 400 on as status of getPet, found 202',
    '7 $.rules[1].patch.each: expected a string as $.name of getPet, found 1',
    '10 $.rules[1].patch.items[1]: expected a string as $.code of getPet, found nothing',
    '11 $.rules[1].patch.items[2]: expected only id, name, categoryId, status as $ of getPet, found "tag"',
  ]);
  const declared = await validateFile(write('meant.yaml', `offContract: true${text}`));
  expect(declared.warnings).toEqual([]);
});

test.each(SCENARIO_NAMES)('%s that ships has no warning', (name) => {
  expect(checkRules(readShipped(NODE_PLATFORM, name))).toEqual([]);
});
