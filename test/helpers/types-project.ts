import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/files.ts';
import { examplesProject } from './examples-project.ts';
import { blocks, readPage } from './page.ts';
import { runProgram } from './program.ts';
import { toolFile } from './tools.ts';

const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  types: [],
  target: 'es2022',
  lib: ['es2022', 'dom'],
};

/**
 * Sets up a project that has the published types installed, what they name, and nothing else of what
 * developing the package needs.
 *
 * @returns what a compiler says of files under some options
 */
export function typesProject() {
  const folder = examplesProject('@types/node', 'vitest', '@playwright/test');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'consumer.ts'), CONSUMER);
  writeFileSync(join(folder, 'consumer.cts'), CONSUMER);
  for (const [runner, head] of Object.entries(RUNNERS))
    writeFileSync(join(folder, runner, 'matchers.cts'), head + MATCHERS);
  mkdirSync(join(folder, 'node_modules/@jest'));
  for (const name of ['expect', '@jest/globals'])
    symlinkSync(toolFile(name), join(folder, 'node_modules', name), 'junction');
  return (name: string, files: readonly string[], options: object, compiler = 'typescript') => {
    const config = `tsconfig.${name}.json`;
    const text = JSON.stringify({ compilerOptions: { ...STRICT, ...options }, files });
    writeFileSync(join(folder, config), text);
    const tsc = join(packageRoot, 'node_modules', compiler, 'bin/tsc');
    return runProgram(process.execPath, [tsc, '-p', config], { cwd: folder });
  };
}

const OPTIONS = `{ failOn: ['unmatched', 'findings', 'rounded-id'], scenarios: ['slow'] }`;

/** How each runner gives a test its mock. The page says what the types of Jest need. */
const RUNNERS = {
  vitest: `
import { expect } from 'vitest';
import { createTest } from 'petstore-mock/vitest';
const test = createTest(${OPTIONS});
// @ts-expect-error
createTest({ failOn: ['unmatch'] });`,
  playwright: `
import { createTest, expect } from 'petstore-mock/playwright';
const test = createTest(${OPTIONS});`,
  jest: `
import { expect, test as jestTest } from '@jest/globals';
import { setupMock } from 'petstore-mock/jest';
${blocks(readPage('docs/library.md'), 'typescript')}
const mock = setupMock(${OPTIONS});
const test = (name: string, use: (fixtures: { mock: typeof mock }) => Promise<void>) =>
  jestTest(name, () => use({ mock }));`,
};

/** Uses the matcher as each runner types it. */
const MATCHERS = `
test('matchers', async ({ mock }) => {
  await expect(mock).toHaveReceived('createPet', { name: 'Rex', categoryId: 1n });
  await expect(mock).not.toHaveReceived('listPets', { status: expect.stringMatching(/d$/), limit: 5 });
  await expect(mock).toHaveReceived('listOrders');
  // @ts-expect-error
  await expect(mock).toHaveReceived('createPets');
  // @ts-expect-error
  await expect(mock).toHaveReceived('createPet', { nam: 'Rex' });
  // @ts-expect-error
  await expect(mock).toHaveReceived('cancelOrder', { orderId: 'one' });
});
`;

/** A program that uses every part of a mock, and checks the types that it gets and those it may not pass. */
const CONSUMER = `
import {
  type Animal, type AssumptionId, ControlError, connectPetstoreMock, type CoverageReport,
  type Finding, type FindingCode, type FindingsReport, globalSetup, type Int64,
  type InventoryEntry, type MockSandbox, type ObservedExchange, type OperationId, type Order,
  type PetstoreMock, type RecordControl, type RecordedExchange, type RequestFilter,
  type RuleDefinition, type RunningServer, type ScenarioDefinition, type ScenarioName,
  type ServerOptions, startPetstoreMock, startServer, type StateChanges, type StoreState,
} from 'petstore-mock';

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function is<A, B>(..._same: Same<A, B> extends true ? [] : [never]): void {}

type Result<F> = F extends (...args: never[]) => Promise<infer R> ? R : never;

is<Result<typeof startPetstoreMock | typeof connectPetstoreMock>, PetstoreMock>();
is<Result<typeof startServer>, RunningServer>();
is<NonNullable<Parameters<typeof startPetstoreMock>[0]>, ServerOptions>();
is<Result<ReturnType<typeof globalSetup>>, () => Promise<void>>();

is<PetstoreMock['url' | 'key' | 'name' | 'controlUrl'], string>();
is<ReturnType<PetstoreMock['sandbox']>, MockSandbox>();
is<Result<PetstoreMock['sandboxes']['list']>[number]['animals' | 'requests'], number>();

is<Int64, number | bigint>();
is<Animal, { readonly id: Int64; readonly name: string; readonly categoryId: Int64; readonly status?: string }>();
is<InventoryEntry, { readonly petId: Int64; readonly quantity: number; readonly status: string }>();
is<Order['petId'], Int64 | undefined>();
is<Order['status'], 'pending' | 'shipped' | 'cancelled' | undefined>();
is<StoreState['animals'], readonly Animal[]>();

type Sandbox = MockSandbox;
is<Result<Sandbox['state']['get' | 'put' | 'patch']>, StoreState>();
is<Parameters<Sandbox['state']['patch']>[0], StateChanges>();
is<Result<Sandbox['animals']['get' | 'create' | 'put' | 'patch']>, Animal>();
is<Sandbox['orders'], RecordControl<'orders'>>();
is<Result<Sandbox['snapshots']['create']>['orders'], number>();
is<Result<Sandbox['scenario']['get' | 'use']>[number]['name' | 'description'], string>();
is<Result<Sandbox['scenarios']['save']>['own' | 'shipped'], boolean>();
is<NonNullable<Parameters<Sandbox['clock']['set']>[0]['now']>, string | Date>();
is<Result<Sandbox['clock']['get' | 'set' | 'advance' | 'freeze']>['frozen' | 'real'], boolean>();
is<Result<Sandbox['requests']['list']>, readonly RecordedExchange[]>();
is<NonNullable<Parameters<Sandbox['reset']>[0]>['keep'], readonly ('store' | 'scenario' | 'own-scenarios' | 'assumptions' | 'clock' | 'journal')[] | undefined>();
is<Result<Sandbox['coverage']>, CoverageReport>();
is<Result<Sandbox['findings']>, FindingsReport>();

is<RecordedExchange['operation'] | RequestFilter['operation'], OperationId | undefined>();
is<RecordedExchange['basis'], 'documented' | 'assumed' | 'forced' | 'upstream'>();
is<RecordedExchange['request']['body'], unknown>();
is<RecordedExchange['reply']['headers'], Readonly<Record<string, string>>>();

is<CoverageReport['totals']['documented' | 'cases' | 'assumed']['shown' | 'total' | 'percent'], number>();
is<CoverageReport['documented' | 'assumed'][number]['operation'], OperationId>();
is<NonNullable<CoverageReport['cases'][number]['first']>['exchange'], number>();
is<ObservedExchange['why'], readonly string[]>();
is<FindingsReport['findings'], readonly Finding[]>();
is<FindingsReport['counts'], Readonly<Partial<Record<FindingCode, number>>>>();
is<Finding['code'], FindingCode>();
is<ControlError['code' | 'call' | 'message'], string>();

const rule: RuleDefinition = { on: 'getPet', reply: { status: 503 } };
const named: ScenarioName = 'outage';

const scenario: ScenarioDefinition = {
  extends: 'slow',
  state: {
    animals: { set: [{ id: 9007199254740993n, name: 'Rex', categoryId: 1n }] },
    orders: { set: [{ id: 1, status: 'shipped' }], remove: [9007199254740995n] },
    inventory: { remove: 'all', each: { where: { status: ['sold', 'lost'] }, quantity: 0 } },
  },
  assume: { 'cancel-again': '204' },
  clock: { now: '2030-01-01T00:00:00Z', frozen: true },
  rules: [
    { on: 'getPet', where: { petId: 9007199254740993n }, calls: '1-2', reply: { status: 503 } },
    { on: '*', delay: { median: 100, sigma: 0.4 }, fault: { kind: 'slow-body', chunks: 2 } },
  ],
};

export async function use(mock: PetstoreMock): Promise<AssumptionId[]> {
  await mock.scenario.use('slow', 'mine', named, scenario, { rules: [rule] });
  await mock.state.patch({ orders: [{ id: 1n, status: 'cancelled' }] });
  await mock.animals.list({ id_gte: 5, status: 'sold', _sort: 'name', _limit: 3 });
  await mock.orders.patch(1n, { quantity: null, shipDate: undefined });
  await mock.orders.put(2n, await mock.orders.get(2n));
  await mock.requests.list({ operation: 'cancelOrder', basis: 'assumed', limit: 5 });
  const { sandbox, stop } = mock;
  await sandbox('x').assume({ 'unknown-pet': '400' });
  const { frozen } = await mock.control.call('PUT /clock', { body: { frozen: true } });
  is<typeof frozen, boolean>();
  await stop();
  return (await mock.assumptions()).map(({ id }) => id);
}

export function misuse(mock: PetstoreMock): void {
  ${[
    "mock.assume({ 'cancel-again': '418' });",
    "mock.control.call('GET /clocks');",
    "mock.assume({ 'no-assumption': '404' });",
    "mock.requests.list({ operation: 'getPets' });",
    "mock.orders.patch(1, { status: 'lost' });",
    "mock.animals.create({ name: 'Rex' });",
    "mock.orders.get('1');",
    "mock.state.patch({ orders: [{ status: 'shipped' }] });",
    'mock.scenario.use({ extends: 1 });',
    "mock.scenarios.save('mine', { rules: [{ on: 'getPets' }] });",
    'mock.scenario.use({ state: { orders: { each: { id: 1 } } } });',
    "mock.scenario.use({ keys: { invalid: 'every' } });",
    'startPetstoreMock({ observe: (_sandbox, exchange) => { exchange.status = 200; } });',
    "mock.scenario.use({ rules: [{ on: 'getPet', reply: { body: 1 } }] });",
    "mock.scenario.use({ rules: [{ on: 'getPet', fault: 'explode' }] });",
    "mock.clock.set({ frozen: 'yes' });",
    'startPetstoreMock({ ports: 1 });',
    "mock.url = 'http://127.0.0.1';",
  ]
    .map((line) => `// @ts-expect-error\n  ${line}`)
    .join('\n  ')}
}
`;
