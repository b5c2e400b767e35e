import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { stringify } from 'lossless-json';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseJson } from '../../src/contract/json.ts';
import { OPERATION_IDS, operationShape } from '../../src/contract/operations.ts';
import { type PetstoreMock, startPetstoreMock } from '../../src/index.ts';
import type { MockSandbox } from '../../src/library/mock-sandbox.ts';
import { serviceOpenApi } from '../../src/openapi/service-openapi.ts';
import { packageRoot } from '../../src/package.ts';
import { findProgram, runProgram } from '../helpers/program.ts';
import { toolFile } from '../helpers/tools.ts';
import type { Answer, Call, Caller, Id } from './callers/call.ts';

const MODULES = join(packageRoot, 'node_modules');
const CALLERS = join(packageRoot, 'test/clients/callers');

const ORDINARY = 123_456;

let folder: string;
let mock: PetstoreMock;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clients-'));
  mock = await startPetstoreMock();
});
afterAll(async () => {
  await mock.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('in JavaScript', () => {
  beforeAll(async () => {
    cpSync(CALLERS, folder, { recursive: true });
    symlinkSync(MODULES, join(folder, 'node_modules'), 'junction');
    await generate();
    const names = ['openapi-fetch', 'hey-api', 'axios'];
    await Promise.all([
      checkTypes(),
      build({
        absWorkingDir: folder,
        entryPoints: names.map((name) => `${name}.ts`),
        outdir: 'built',
        outExtension: { '.js': '.mjs' },
        bundle: true,
        format: 'esm',
        platform: 'node',
        packages: 'external',
      }),
    ]);
  });

  describe.each(['openapi-fetch', 'hey-api', 'axios'])('%s gets every documented reply', (name) => {
    async function run(id: number | bigint, exact: boolean): Promise<void> {
      const module = pathToFileURL(join(folder, 'built', `${name}.mjs`)).href;
      const { call }: { call: Caller } = await import(module);
      await drive(mock, id, async (url, steps) => {
        const answers: Answer[] = [];
        for (const step of steps) {
          const { status, body } = await call({ url, key: step.key, exact }, step.call);
          // The numbers of lossless-json are objects, which here become numbers and bigints.
          answers.push(exact ? answerOf(`${status}`, stringify(body) ?? '') : { status, body });
        }
        return answers;
      });
    }

    test('as it comes', () => run(ORDINARY, false));
    test('with ids above 2^53 and another JSON parser', () => run(BIG_ID, true));
  });
});

describe('elsewhere', () => {
  test("Python's http.client gets every documented reply", async ({ skip }) => {
    const python = findProgram('python3', 'python');
    if (python === undefined) return skip('This machine has no Python.');
    await drive(mock, BIG_ID, (url, steps) => fromLines(python, 'http_client.py', url, steps));
  });

  test("Java's HttpClient gets every documented reply", async ({ skip }) => {
    const java = findProgram('java');
    if (java === undefined || findProgram('javac') === undefined) {
      return skip('This machine has no Java compiler.');
    }
    await drive(mock, BIG_ID, (url, steps) => fromLines(java, 'HttpClientCaller.java', url, steps));
  });
});

/** Gives a program all steps in a file, and reads a line for each answer. */
async function fromLines(
  program: string,
  script: string,
  url: string,
  steps: readonly Step[],
): Promise<readonly Answer[]> {
  const lines = steps.map(({ call, key }) => {
    const { method, path, body } = requestOf(call);
    return [method, path, key, body].join('\t');
  });
  const file = join(folder, `${script}.calls`);
  writeFileSync(file, `${lines.join('\n')}\n`);
  const { code, output } = await runProgram(program, [join(CALLERS, script), url, file]);
  expect(code, output).toBe(0);
  return output
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [status = '', body = ''] = line.split('\t');
      return answerOf(status, body);
    });
}

/** Writes what the generators make of the OpenAPI document. */
async function generate(): Promise<void> {
  const document = join(folder, 'openapi.json');
  writeFileSync(
    document,
    JSON.stringify(serviceOpenApi({ serverUrl: mock.url, version: '1.0.0' })),
  );
  const runs = [
    ['openapi-typescript/bin/cli.js', document, '-o', join(folder, 'schema.ts')],
    [
      '@hey-api/openapi-ts/bin/run.js',
      ...['-i', document, '-o', join(folder, 'generated')],
      ...['-c', '@hey-api/client-fetch', '--no-log-file'],
    ],
  ].map(async ([script = '', ...args]) => {
    const run = [toolFile(script), ...args];
    const { code, output } = await runProgram(process.execPath, run, { cwd: folder });
    expect(code, output).toBe(0);
  });
  await Promise.all(runs);
}

/** The calls that the callers make have to fit the types that were generated. */
async function checkTypes(): Promise<void> {
  const config = {
    compilerOptions: {
      strict: true,
      noEmit: true,
      module: 'esnext',
      moduleResolution: 'bundler',
      target: 'es2023',
      lib: ['es2023', 'dom', 'dom.iterable'],
      types: [],
      allowImportingTsExtensions: true,
      skipLibCheck: true,
    },
    include: ['*.ts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(MODULES, 'typescript/bin/tsc');
  const { code, output } = await runProgram(process.execPath, [tsc], { cwd: folder });
  expect(code, output).toBe(0);
}

interface Step {
  readonly call: Call;
  readonly key: string;
  readonly status: number;
  /** Matches the body of the reply; undefined if it has none. */
  readonly body: unknown;
}

/** The ids that a plan leaves without a record, and the records that it leaves. */
const UNKNOWN = 2;

/** An id that no double holds. */
const BIG_ID = 9_007_199_254_740_993n;

/** Runs the whole plan in its own sandbox: `answer` sends the steps with the client under test. */
async function drive(
  mock: PetstoreMock,
  id: Id,
  answer: (url: string, steps: readonly Step[]) => Promise<readonly Answer[]>,
): Promise<void> {
  const sandbox = mock.sandbox();
  await arrange(sandbox, id);
  const steps = planOf(sandbox, id);
  await verify(sandbox, id, steps, await answer(sandbox.url, steps));
}

/** A reply that a client has printed. */
function answerOf(status: string, text: string): Answer {
  return { status: Number(status), body: text === '' ? undefined : parseJson(text) };
}

/** Puts an animal, its inventory entry and its order into a store, all with this id. */
async function arrange(mock: MockSandbox, id: Id): Promise<void> {
  await mock.state.patch({
    animals: [{ id, name: 'Big', categoryId: id, status: 'available' }],
    inventory: [{ petId: id, quantity: 1, status: 'available' }],
    orders: [{ id, petId: id, quantity: 1 }],
  });
}

/** Calls that get every documented reply of every operation, in a store that is so arranged. */
function planOf(mock: MockSandbox, id: Id): readonly Step[] {
  const unknown = typeof id === 'bigint' ? id + BigInt(UNKNOWN) : id + UNKNOWN;
  const having = (members: object): unknown => expect.objectContaining(members);
  const among = (members: object): unknown => expect.arrayContaining([having(members)]);
  const answered: readonly Omit<Step, 'key'>[] = [
    {
      call: { operation: 'listPets', limit: 100, status: 'available' },
      status: 200,
      body: among({ id, name: 'Big' }),
    },
    {
      call: { operation: 'createPet', name: 'Rex', categoryId: id },
      status: 201,
      body: having({ name: 'Rex', categoryId: id }),
    },
    { call: { operation: 'getPet', petId: id }, status: 200, body: having({ id, categoryId: id }) },
    { call: { operation: 'listInventory' }, status: 200, body: among({ petId: id, quantity: 1 }) },
    {
      call: { operation: 'updateInventory', petId: id, quantity: 7 },
      status: 200,
      body: having({ petId: id, quantity: 7 }),
    },
    { call: { operation: 'listOrders' }, status: 200, body: among({ id, petId: id }) },
    { call: { operation: 'cancelOrder', orderId: id }, status: 204, body: undefined },
    {
      call: { operation: 'cancelOrder', orderId: unknown },
      status: 404,
      body: having({ code: 'order_not_found', status: 404 }),
    },
    {
      call: { operation: 'cancelOrder', orderId: 2 },
      status: 409,
      body: having({ code: 'order_already_shipped', status: 409 }),
    },
  ];
  const refused = answered
    .filter(({ status }) => status < 400)
    .map(({ call }) => ({
      call,
      status: 401,
      body: having({ code: 'unauthorized', status: 401 }),
    }));
  return [
    ...answered.map((step) => ({ ...step, key: mock.key })),
    ...refused.map((step) => ({ ...step, key: 'no-such-key' })),
  ];
}

/** Checks what a client received for each step, and what the mock reports that it was shown. */
async function verify(
  mock: MockSandbox,
  id: Id,
  steps: readonly Step[],
  answers: readonly Answer[],
): Promise<void> {
  expect(answers).toEqual(steps.map(({ status, body }) => ({ status, body })));
  const exchanges = await mock.requests.list();
  expect(exchanges.filter(({ basis }) => basis !== 'documented')).toEqual([]);
  const seen = exchanges.map(({ operation, status }) => `${operation} ${status}`);
  expect([...seen].sort()).toEqual([...DOCUMENTED].sort());
  expect((await mock.orders.get(id)).status).toBe('cancelled');
  expect((await mock.inventory.get(id)).quantity).toBe(7);
  expect(await mock.animals.count({ name: 'Rex', categoryId: id })).toBe(1);
}

const DOCUMENTED = OPERATION_IDS.flatMap((operation) =>
  Object.keys(operationShape(operation).replies).map((status) => `${operation} ${status}`),
);

/** A call as HTTP has it. */
function requestOf(call: Call): { method: string; path: string; body: string } {
  switch (call.operation) {
    case 'listPets':
      return { method: 'GET', path: `/pets?limit=${call.limit}&status=${call.status}`, body: '' };
    case 'createPet': {
      const body = `{"name":"${call.name}","categoryId":${call.categoryId}}`;
      return { method: 'POST', path: '/pets', body };
    }
    case 'getPet':
      return { method: 'GET', path: `/pets/${call.petId}`, body: '' };
    case 'listInventory':
      return { method: 'GET', path: '/inventory', body: '' };
    case 'updateInventory': {
      const body = `{"quantity":${call.quantity}}`;
      return { method: 'PATCH', path: `/inventory/${call.petId}`, body };
    }
    case 'listOrders':
      return { method: 'GET', path: '/store/orders', body: '' };
    case 'cancelOrder':
      return { method: 'DELETE', path: `/store/orders/${call.orderId}`, body: '' };
  }
}
