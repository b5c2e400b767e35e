import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { stringify } from 'lossless-json';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DOCUMENTED_REPLIES } from '../../src/contract/cases.ts';
import { parseJson, writeJson } from '../../src/contract/json.ts';
import { operationShape } from '../../src/contract/operations.ts';
import { packageRoot } from '../../src/files.ts';
import { type PetstoreMock, startPetstoreMock } from '../../src/index.ts';
import { createServiceOpenApi } from '../../src/openapi/service-openapi.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { findProgram, runProgram } from '../helpers/program.ts';
import { toolFile } from '../helpers/tools.ts';
import type { Answer, Call, Caller, Id } from './callers/call.ts';

const MODULES = join(packageRoot, 'node_modules');
const CALLERS = join(packageRoot, 'test/clients/callers');

/** An id that no double holds. */
const BIG_ID = 9_007_199_254_740_993n;

const folder = temporaryFolder();

let mock: PetstoreMock;
beforeAll(async () => {
  mock = await startPetstoreMock();
});
afterAll(() => mock.stop());

describe('a client that is generated from the OpenAPI document gets every documented reply', () => {
  const names = ['openapi-fetch', 'hey-api'];

  beforeAll(async () => {
    cpSync(CALLERS, folder, { recursive: true });
    symlinkSync(MODULES, join(folder, 'node_modules'), 'junction');
    await generate();
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

  const cases = names.flatMap((name) => [
    [name, 'as it comes', 123_456, false] as const,
    [name, 'with ids above 2^53 and another JSON parser', BIG_ID, true] as const,
  ]);

  test.each(cases)('%s, %s', async (name, _how, id, exact) => {
    const module = pathToFileURL(join(folder, 'built', `${name}.mjs`)).href;
    const { call }: { call: Caller } = await import(module);
    await drive(id, async (url, steps) => {
      const answers: Answer[] = [];
      for (const step of steps) {
        const { status, body } = await call({ url, key: step.key, exact }, step.call);
        // The numbers of lossless-json are objects, which here become numbers and bigints.
        answers.push(exact ? answerOf(`${status}`, stringify(body) ?? '') : { status, body });
      }
      return answers;
    });
  });
});

test.for([
  ["Python's http.client", 'http_client.py', findProgram('python3', 'python')],
  ["Java's HttpClient", 'HttpClientCaller.java', findProgram('javac') && findProgram('java')],
] as const)('%s gets every documented reply', async ([name, script, program], { skip }) => {
  if (program === undefined) return skip(`This machine cannot run ${name}.`);
  await drive(BIG_ID, (url, steps) => fromLines(program, script, url, steps));
});

/** Gives a program all steps in a file, and reads a line for each answer. */
async function fromLines(
  program: string,
  script: string,
  url: string,
  steps: readonly Step[],
): Promise<readonly Answer[]> {
  const lines = steps.map(({ call, key }) => {
    const [method, path, body] = requestOf(call);
    return [method, path, key, body].join('\t');
  });
  const file = join(folder, `${script}.calls`);
  writeFileSync(file, `${lines.join('\n')}\n`);
  const { code, output } = await runProgram(program, [join(CALLERS, script), url, file]);
  expect(code, output).toBe(0);
  const answers = output.trimEnd().split('\n');
  return answers.map((line) => {
    const [status = '', body = ''] = line.split('\t');
    return answerOf(status, body);
  });
}

/** Writes what the generators make of the OpenAPI document. */
async function generate(): Promise<void> {
  const document = join(folder, 'openapi.json');
  writeFileSync(
    document,
    JSON.stringify(createServiceOpenApi({ serverUrl: mock.url, version: '1.0.0' })),
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
  readonly body?: unknown;
}

/** Method, path and body of a call. */
function requestOf({ operation, ...input }: Call): readonly string[] {
  const { method, path } = operationShape(operation);
  const members = Object.entries(input);
  const inPath = members.filter(([name]) => path.includes(`{${name}}`));
  const others = members.filter((it) => !inPath.includes(it));
  const target = inPath.reduce((to, [name, id]) => to.replace(`{${name}}`, `${id}`), path);
  if (others.length === 0) return [method, target, ''];
  if (method !== 'GET') return [method, target, writeJson(Object.fromEntries(others))];
  return [method, `${target}?${others.map(([name, value]) => `${name}=${value}`).join('&')}`, ''];
}

/**
 * Runs the whole plan in a sandbox of its own, in which an animal, its inventory entry and its order
 * have this id.
 *
 * @param answer sends the steps with the client under test
 */
async function drive(
  id: Id,
  answer: (url: string, steps: readonly Step[]) => Promise<readonly Answer[]>,
): Promise<void> {
  const sandbox = mock.sandbox();
  await sandbox.state.patch({
    animals: [{ id, name: 'Big', categoryId: id, status: 'available' }],
    inventory: [{ petId: id, quantity: 1, status: 'available' }],
    orders: [{ id, petId: id, quantity: 1 }],
  });
  const steps = planOf(sandbox.key, id);
  const answers = await answer(sandbox.url, steps);
  expect(answers).toEqual(steps.map(({ status, body }) => ({ status, body })));
  const exchanges = await sandbox.requests.list();
  expect(exchanges.filter(({ basis }) => basis !== 'documented')).toEqual([]);
  const shown = exchanges.map(({ operation, status }) => `${operation} ${status}`);
  expect(shown.sort()).toEqual(
    DOCUMENTED_REPLIES.map((it) => `${it.operation} ${it.status}`).sort(),
  );
  expect((await sandbox.orders.get(id)).status).toBe('cancelled');
  expect((await sandbox.inventory.get(id)).quantity).toBe(7);
  expect(await sandbox.animals.count({ name: 'Rex', categoryId: id })).toBe(1);
}

/** A reply that a client has printed. */
function answerOf(status: string, text: string): Answer {
  return { status: Number(status), body: text === '' ? undefined : parseJson(text) };
}

/** Calls that get every documented reply of every operation, in a store that is so arranged. */
function planOf(key: string, id: Id): readonly Step[] {
  const having = (members: object): unknown => expect.objectContaining(members);
  const among = (members: object): unknown => expect.arrayContaining([having(members)]);
  const animal = { name: 'Rex', categoryId: id };
  const stock = { petId: id, quantity: 7 };
  const granted: readonly [Call, status: number, body?: unknown][] = [
    [{ operation: 'listPets', limit: 100, status: 'available' }, 200, among({ id, name: 'Big' })],
    [{ operation: 'createPet', ...animal }, 201, having(animal)],
    [{ operation: 'getPet', petId: id }, 200, having({ id, categoryId: id })],
    [{ operation: 'listInventory' }, 200, among({ petId: id, quantity: 1 })],
    [{ operation: 'updateInventory', ...stock }, 200, having(stock)],
    [{ operation: 'listOrders' }, 200, among({ id, petId: id })],
    [{ operation: 'cancelOrder', orderId: id }, 204],
  ];
  const refused = (call: Call, status: number, code: string, by = key): Step => {
    return { call, key: by, status, body: having({ code, status }) };
  };
  return [
    ...granted.map(([call, status, body]) => ({ call, key, status, body })),
    refused({ operation: 'cancelOrder', orderId: BigInt(id) + 2n }, 404, 'order_not_found'),
    refused({ operation: 'cancelOrder', orderId: 2 }, 409, 'order_already_shipped'),
    ...granted.map(([call]) => refused(call, 401, 'unauthorized', 'no-such-key')),
  ];
}
