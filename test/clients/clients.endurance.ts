import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { stringify } from 'lossless-json';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DOCUMENTED_REPLIES } from '../../src/contract/cases.ts';
import { parseJson } from '../../src/contract/json.ts';
import { packageRoot } from '../../src/files.ts';
import { type PetstoreMock, startPetstoreMock } from '../../src/index.ts';
import { createServiceOpenApi } from '../../src/openapi/service-openapi.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { runProgram } from '../helpers/program.ts';
import { toolFile } from '../helpers/tools.ts';
import type { Call, Caller, Id } from './callers/call.ts';

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
    const sandbox = mock.sandbox();
    await sandbox.state.patch({
      animals: [{ id, name: 'Big', categoryId: id, status: 'available' }],
      inventory: [{ petId: id, quantity: 1, status: 'available' }],
      orders: [{ id, petId: id, quantity: 1 }],
    });
    for (const { call: sent, key, ...expected } of createPlan(sandbox.key, id)) {
      const { status, body } = await call({ url: sandbox.url, key, exact }, sent);
      // The numbers of lossless-json are objects, which here become numbers and bigints.
      const text = exact ? (stringify(body) ?? '') : '';
      expect({ status, body: text === '' ? body : parseJson(text) }).toEqual(expected);
    }
    const exchanges = await sandbox.requests.list();
    expect(exchanges.filter(({ basis }) => basis !== 'documented')).toEqual([]);
    const shown = exchanges.map(({ operation, status }) => `${operation} ${status}`);
    const documented = DOCUMENTED_REPLIES.map(({ operation, status }) => `${operation} ${status}`);
    expect(shown.sort()).toEqual(documented.sort());
  });
});

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

/** Calls that get every documented reply of every operation, in a store that is so arranged. */
function createPlan(key: string, id: Id): readonly Step[] {
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
