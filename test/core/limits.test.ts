import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { STORED_RECORDS } from '../../src/core/contract/records.ts';
import { createListQuery } from '../../src/core/control/store/list-query.ts';
import { parseInput } from '../../src/core/json.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { formatProblem } from '../../src/core/problems.ts';
import { EXCHANGE_FILTER } from '../../src/core/sandbox/exchange-filter.ts';
import { resolveScenarios, scenariosByName } from '../../src/core/scenario/resolve-scenarios.ts';
import { ScenarioError } from '../../src/core/scenario/scenario-records.ts';
import { readScenario } from '../../src/core/scenario/scenario-shape.ts';
import { readYaml } from '../../src/core/scenario/yaml-text.ts';
import { BodyBytes } from '../../src/core/service/input.ts';
import { readAs } from '../../src/core/shape/shapes.ts';
import { readJson } from '../../src/core/shape/source-text.ts';
import { STORE } from '../../src/core/store/fixture.ts';
import { NODE_PLATFORM } from '../../src/server/node-platform.ts';
import { openMock } from '../helpers/in-process.ts';
import { type Answer, type Client, openServer } from '../helpers/wire.ts';

const QUERY = createListQuery(STORED_RECORDS.animals.members);

/** The problems with a scenario that has `count` of something, and with one more. */
const scenario =
  (parts: (count: number) => object) =>
  (count: number): readonly string[] =>
    problems(readScenario(parts(count), 'test'));

const query =
  (members: (count: number) => object) =>
  (count: number): readonly string[] =>
    problems(readAs(QUERY, members(count)));

function problems(
  reading: { ok: true } | { ok: false; problems: readonly { expected: string }[] },
): readonly string[] {
  return reading.ok ? [] : reading.problems.map(({ expected }) => expected);
}

const animalNamed = (name: string) => ({ id: 1, name, categoryId: 1 });

const many = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

/** What is wrong with an input of a size, by limit. */
const REFUSALS: Readonly<
  Record<string, (count: number) => readonly string[] | Promise<readonly string[]>>
> = {
  rules: scenario((count) => ({ rules: many(count, { on: 'getPet', delay: 1 }) })),
  'rules of all scenarios': (count) =>
    loadProblems({ rules: many(count - 1, { on: 'getPet', delay: 1 }), extends: ['slow'] }),
  'each of all scenarios': (count) => {
    const each = many(count - 1, { status: 'pending' });
    return loadProblems({ state: { orders: { each } }, extends: ['shipped-orders'] });
  },
  each: scenario((count) => ({ state: { animals: { each: many(count, { status: 'sold' }) } } })),
  calls: scenario((count) => ({ rules: [{ on: 'getPet', delay: 1, calls: many(count, 1) }] })),
  lag: scenario((calls) => ({ rules: [{ on: 'listPets', lag: { calls } }] })),
  patchItems: scenario((count) => ({
    rules: [{ on: 'listPets', patch: { items: many(count, { where: {}, body: {} }) } }],
  })),
  'calls as text': scenario((count) => ({
    rules: [{ on: 'getPet', delay: 1, calls: many(count, '1-2').join() }],
  })),
  recordText: (count) =>
    problems(
      readAs(STORE, { animals: [animalNamed('🦜'.repeat(count / 2) + 'x'.repeat(count % 2))] }),
    ),
  'recordText of a date': (count) => {
    const shipDate = `2030-01-01T00:00:00.${'0'.repeat(count - '2030-01-01T00:00:00.Z'.length)}Z`;
    return problems(readAs(STORE, { orders: [{ id: 1, shipDate }] }));
  },
  'recordText of a change': scenario((count) => ({
    state: { animals: { each: { name: 'x'.repeat(count) } } },
  })),
  searchTerms: (count) => problems(readAs(EXCHANGE_FILTER, { search: '-x '.repeat(count) })),
  generated: (animals) => loadProblems({ generate: { animals } }),
  'generated of all scenarios': (count) =>
    loadProblems(
      { generate: { animals: count - 1 }, extends: ['own'] },
      { generate: { animals: 1 } },
    ),
  sortFields: query((count) => ({ _sort: many(count, 'id').join() })),
  filterText: query((count) => ({ q: '🦜'.repeat(count) })),
  nesting: (count) => refusal(() => parseInput('['.repeat(count) + ']'.repeat(count))),
  'nesting with an exact number': (count) =>
    refusal(() => parseInput(`${'['.repeat(count)}9007199254740993${']'.repeat(count)}`)),
  'nesting of YAML': (count) => {
    const parsed = readYaml('FILE', '- '.repeat(count) + 1);
    return parsed.ok ? [] : parsed.problems.map(({ message }) => message);
  },
};

/** What is wrong with a scenario in a request, when it is loaded, beside one of the sandbox's own. */
function loadProblems(definition: object, own: object = {}): readonly string[] {
  const [known, reading] = [readScenario(own, 'own'), readScenario(definition, 'test')];
  if (!known.ok || !reading.ok) return problems(reading);
  try {
    const source = scenariosByName(NODE_PLATFORM, new Map([['own', known.value]]), reading.value);
    resolveScenarios(['test'], source);
    return [];
  } catch (error) {
    if (error instanceof ScenarioError) return error.problems.map(formatProblem);
    throw error;
  }
}

function refusal(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    return [String(error)];
  }
}

/** Asks a server for something of a size, by limit. */
const REQUESTS: Readonly<Record<string, (client: Client, size: number) => Promise<Answer>>> = {
  // Other headers take the rest.
  head: ({ send }, size) => send('GET', '/v1/pets', { headers: { X: 'x'.repeat(size - 250) } }),
  serviceBody: ({ send }, size) =>
    send('POST', '/v1/pets', { body: '{"name":"Rex","categoryId":1}'.padEnd(size) }),
  recordText: ({ send }, size) =>
    send('POST', '/v1/pets', { body: { name: 'x'.repeat(size), categoryId: 1 } }),
  controlBody: ({ control }, size) => control('PUT state', '{"animals":[]}'.padEnd(size)),
  jsonText: ({ control }, size) => control('PUT scenarios/own', '{"rules":[]}'.padEnd(size)),
  yamlText: ({ send }, size) => {
    const headers = { 'Content-Type': 'application/yaml' };
    return send('PUT', '/__mock/scenarios/own', { body: 'rules: [] #'.padEnd(size), headers });
  },
};

const LIMIT_OF = new Map(Object.entries(LIMITS));

describe('the limit of', () => {
  test.each(Object.entries(REFUSALS))('%s is allowed, and one more names it', async (name, ask) => {
    const max = LIMIT_OF.get(name.split(' ')[0] ?? '') ?? Number.NaN;
    expect(await ask(max)).toEqual([]);
    expect(String(await ask(max + 1))).toMatch(new RegExp(`(?:at most|more than) ${max}\\b`));
  });

  test('everything is tested, here or where a deployment is', () => {
    const names = [...Object.keys(REFUSALS), ...Object.keys(REQUESTS)].map(
      (it) => it.split(' ')[0],
    );
    const others = [
      'problems',
      'named',
      'listeners',
      'counters',
      'keptBody',
      'patchedBody',
      'snapshotRecords',
      'deploymentBody',
      'deploymentHead',
      'deploymentSockets',
    ];
    expect(new Set([...names, ...others])).toEqual(new Set(LIMIT_OF.keys()));
  });
});

const DEEPER = 'it is nested more than 100 levels deep';

// A parser recurses, and V8 ends the process if it compiles a regular expression where the stack ends.
test.each(['[', '- ', '? ', '{a: ', '!!seq [&a ', '{"a":'])(
  'thousands of "%s" are refused before a parser recurses',
  (open) => {
    const deep = open.repeat(16_000);
    for (const text of [deep, `${deep}9007199254740993`]) {
      const problems = [{ line: 1, column: 1, message: `expected YAML: ${DEEPER}` }];
      expect(readYaml('FILE', text)).toMatchObject({ ok: false, problems });
    }
  },
);

test.each(['[', '{"a":', '[{"a\\"":'])('thousands of %s are refused, whatever follows', (open) => {
  const problems = [{ line: 1, column: 1, message: `expected JSON: ${DEEPER}` }];
  for (const end of ['', '9007199254740993', ']', '"']) {
    expect(readJson('FILE', open.repeat(16_000) + end)).toMatchObject({ ok: false, problems });
  }
});

describe('the server', () => {
  test.each(Object.entries(REQUESTS))(
    'allows as much as %s, and refuses more',
    async (name, ask) => {
      const client = await openServer({ assume: { 'body-limit': 'none' } });
      const max = LIMIT_OF.get(name) ?? Number.NaN;
      expect((await ask(client, max)).status).toBeLessThan(300);
      const { status, text } = await ask(client, name === 'head' ? max + 250 : max + 1);
      expect([400, 413, 431]).toContain(status);
      expect(text).toContain(`${max}`);
    },
  );

  test('refuses the 101st count or stream of a sandbox, but no count that does not wait', async () => {
    const { send, control } = await openServer();
    const max = LIMITS.listeners;
    const wait = () => control('POST requests/count', { operation: 'getPet', within: 'PT1M' });
    const replies = many(max + 1, wait).map((ask) => ask());
    const refused = await Promise.race(replies);
    expect(refused).toMatchObject({ status: 409, json: { code: 'too_many_listeners' } });
    expect(refused.text).toContain(`at most ${max} streams and waiting counts`);
    expect(await control('GET requests/stream')).toMatchObject({ status: 409 });
    for (const body of [undefined, { within: 'PT0S' }])
      expect(await control('POST requests/count', body)).toMatchObject({ json: { count: 0 } });
    await send('GET', '/v1/pets/1');
    const statuses = (await Promise.all(replies)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([...many(max, 200), 409]);
    expect((await wait()).status).toBe(200);
  });

  test('refuses a snapshot with which those of a sandbox have too many records', async () => {
    const animals = LIMITS.snapshotRecords / LIMITS.named / 2;
    const { control } = await openMock({ animals, orders: 1 });
    const take = (name: number) => control('POST snapshots', { name: `${name}` });
    for (const name of many(LIMITS.named - 1, 0).keys()) await take(name);
    const { status, text } = await take(LIMITS.named);
    expect([status, text]).toEqual([409, expect.stringContaining('(3000000) reached')]);
    expect(await take(0)).toMatchObject({ status: 200 });
  });

  test.each([
    [401, { key: 'wrong' }],
    [415, { headers: { 'Content-Encoding': 'gzip' } }],
  ])('does not parse the body of a request that it refuses with %i', async (status, sent) => {
    const parsed = vi.spyOn(BodyBytes.prototype, 'json', 'get');
    onTestFinished(() => parsed.mockRestore());
    const { send } = await openServer();
    const body = { name: 'Rex', categoryId: 1, unknown: true };
    expect(await send('POST', '/v1/pets', { body, ...sent })).toMatchObject({ status });
    expect(parsed).not.toHaveBeenCalled();
  });
});

test('a reader stops at one problem more than a message lists', () => {
  const animals = many(100_000, { id: 'wrong', name: 1, unknown: true });
  const reading = readAs(STORE, { animals });
  expect(reading).toMatchObject({ ok: false, problems: { length: LIMITS.problems + 1 } });
});
