import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import { beforeAll, describe, expect, test } from 'vitest';
import { DOCUMENTED_REPLIES } from '../../src/core/contract/assumption-table.ts';
import type { OperationId } from '../../src/core/contract/operations.ts';
import { type Int64, parseJson } from '../../src/core/json.ts';
import { createServiceOpenApi } from '../../src/features/openapi/service-openapi.ts';
import { startPetstoreMock } from '../../src/index.ts';
import { packageRoot } from '../../src/server/files.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { runProgram } from '../helpers/program.ts';
import { toolFile } from '../helpers/tools.ts';

const MODULES = join(packageRoot, 'node_modules');
const CALLERS = join(packageRoot, 'test/clients/callers');

/** What `callers/openapi-fetch.ts` exports. Its own types need those that are generated. */
interface Callers {
  createCalls(
    url: string,
    key: string,
    exact: boolean,
    id: Int64,
  ): Readonly<Record<OperationId, (order?: Int64) => Promise<unknown>>>;
  read(call: Promise<unknown>, exact: boolean): Promise<{ status: number; body: unknown }>;
}

/** An id that no double holds. */
const BIG_ID = 9_007_199_254_740_993n;

const COMPILER_OPTIONS = {
  ...{ strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true },
  ...{ module: 'esnext', moduleResolution: 'bundler', target: 'es2023', types: [] },
  lib: ['es2023', 'dom', 'dom.iterable'],
};

describe('a client that is typed by the OpenAPI document', () => {
  const folder = temporaryFolder();
  const run = async (...args: string[]) => {
    const { code, output } = await runProgram(process.execPath, args, { cwd: folder });
    expect(code, output).toBe(0);
  };

  beforeAll(() => {
    cpSync(CALLERS, folder, { recursive: true });
    symlinkSync(MODULES, join(folder, 'node_modules'), 'junction');
  });

  test('makes its calls as the generated types allow them', async () => {
    const document = createServiceOpenApi({ serverUrl: 'http://127.0.0.1/v1', version: '1.0.0' });
    const [json, schema] = [join(folder, 'openapi.json'), join(folder, 'schema.ts')];
    writeFileSync(json, JSON.stringify(document));
    await run(toolFile('openapi-typescript/bin/cli.js'), json, '-o', schema);
    const config = { compilerOptions: COMPILER_OPTIONS, include: ['*.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    await run(join(MODULES, 'typescript/bin/tsc'));
  });

  test.each([
    ['as it comes', 123_456, false],
    ['with ids above 2^53 and another JSON parser', BIG_ID, true],
  ] as const)('gets every documented reply, %s', async (_how, id, exact) => {
    await using mock = await startPetstoreMock();
    await mock.state.patch({
      animals: [{ id, name: 'Big', categoryId: id, status: 'available' }],
      inventory: [{ petId: id, quantity: 1, status: 'available' }],
      orders: [{ id, petId: id, quantity: 1 }],
    });
    const having = (members: object): unknown => expect.objectContaining(members);
    const among = (members: object): unknown => expect.arrayContaining([having(members)]);
    const { createCalls, read }: Callers = await import(join(CALLERS, 'openapi-fetch.ts'));
    const calls = createCalls(mock.url, mock.key, exact, id);
    const refused = Object.values(createCalls(mock.url, 'no-such-key', exact, id));
    const stock = { petId: id, quantity: 7 };
    // biome-ignore format: a row for each
    const steps: readonly (readonly [call: () => Promise<unknown>, status: number, body?: unknown])[] = [
      [calls.listPets, 200, among({ id, name: 'Big' })],
      [calls.createPet, 201, having({ name: 'Rex', categoryId: id })],
      [calls.getPet, 200, having({ id, categoryId: id })],
      [calls.listInventory, 200, among({ petId: id })],
      [calls.updateInventory, 200, having(stock)],
      [calls.listOrders, 200, among({ id, petId: id })],
      [calls.cancelOrder, 204],
      [() => calls.cancelOrder(BigInt(id) + 2n), 404, having({ code: 'order_not_found' })],
      [() => calls.cancelOrder(2), 409, having({ code: 'order_already_shipped' })],
      ...refused.map((call) => [call, 401, having({ code: 'unauthorized' })] as const),
    ];
    for (const [call, status, body] of steps) {
      const got = await read(call(), exact);
      // The numbers of lossless-json are objects, which here become numbers and bigints.
      const text = exact ? (stringify(got.body) ?? '') : '';
      expect({ ...got, body: text === '' ? got.body : parseJson(text) }).toEqual({ status, body });
    }
    const exchanges = await mock.requests.list();
    expect(exchanges.filter(({ basis }) => basis !== 'documented')).toEqual([]);
    const shown = exchanges.map(({ operation, status }) => `${operation} ${status}`);
    const documented = DOCUMENTED_REPLIES.map(({ operation, status }) => `${operation} ${status}`);
    expect(shown.sort()).toEqual(documented.sort());
  });
});
