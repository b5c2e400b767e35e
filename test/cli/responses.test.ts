import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { responses } from '../../src/cli/commands/responses.ts';
import type { Flags } from '../../src/cli/flags.ts';
import { terminalOf } from '../../src/cli/terminal.ts';
import { ASSUMPTION_IDS, assumptionShape } from '../../src/contract/assumption-table.ts';
import { OPERATION_IDS, operationShape } from '../../src/contract/operations.ts';
import { checkReplies } from '../../src/responses/check-replies.ts';
import { listReplies, type ReplyRecipe } from '../../src/responses/reply-recipes.ts';
import { WAYS } from '../../src/responses/ways.ts';
import { type RunningServer, startServer } from '../../src/server.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { runCurlLines, runHttpFile } from '../helpers/written-replies.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ port: 0 });
});
afterAll(() => server.close());

async function print(flags: Flags, operation?: string) {
  const terminal = terminalOf(new PassThrough(), new PassThrough(), {});
  const positionals = operation === undefined ? [] : [operation];
  return responses({ flags, originOf: (name) => `--${name}`, positionals, terminal });
}

const folder = temporaryFolder();

test('the list has exactly the documented and assumed replies of the contract', async () => {
  const documented = OPERATION_IDS.flatMap((id) =>
    Object.keys(operationShape(id).replies).map((status) => `${id} ${status} documented`),
  );
  const assumed = ASSUMPTION_IDS.flatMap((id) =>
    assumptionShape(id).options.flatMap(({ name, reply }) =>
      reply ? assumptionShape(id).touches.map((on) => `${on} ${reply.status} ${id}=${name}`) : [],
    ),
  );
  const listed: { operation: string; status: number; ground: string }[] = Object(
    (await print({})).json,
  );
  const names = listed.map((it) => `${it.operation} ${it.status} ${it.ground}`);
  expect(documented).toHaveLength(16);
  expect(names.toSorted()).toEqual([...documented, ...assumed].toSorted());
});

test('the table shows each way and fits the terminal', async () => {
  const { exitCode, text } = await print({}, 'cancelOrder');
  expect(exitCode).toBe(0);
  expect(text).toContain(`  409               documented
          state     PATCH /__mock/orders/1 {"status":"shipped"}; DELETE /v1/store/orders/1
          scenario  --scenario shipped-orders; DELETE /v1/store/orders/1
          prefer    Prefer: code=409
`);
  expect(text).not.toContain('listPets');
});

test('--check gets the replies of an operation in every way', async () => {
  const { exitCode, text = '' } = await print({ check: true }, 'getPet');
  const replies = listReplies().filter(({ operation }) => operation === 'getPet');
  expect(text).not.toMatch(/^failed/m);
  expect(text.match(/^ok /gm)).toHaveLength(3 * replies.length);
  expect(exitCode).toBe(0);
});

test('a check fails on a refused control call, another reply and another basis', async () => {
  const broken = {
    ...WAYS.documented.cancelOrder,
    409: {
      arrange: [{ method: 'PATCH', path: '/orders/1', body: '{"status":7}' }],
      preset: { name: 'no-orders' },
    },
  } as const;
  const documented = { ...WAYS.documented, cancelOrder: broken };
  const replies = listReplies({ ...WAYS, documented }).filter(
    ({ operation, ground }) => operation === 'cancelOrder' && ground === 'documented',
  );
  const problemsOf = async (recipes: readonly ReplyRecipe[]) =>
    (await checkReplies(recipes)).filter(({ problem }) => problem !== undefined);
  const problems = await problemsOf(replies);
  expect(problems.map(({ recipe, way }) => `${recipe.status} ${way}`)).toEqual([
    '409 state',
    '409 scenario',
  ]);
  const [other] = listReplies().filter(({ ground }) => ground === 'unknown-pet=404');
  const wrong = other === undefined ? [] : [{ ...other, ground: 'after-sunset=404' }];
  expect((await problemsOf(wrong))[0]?.problem).toMatch(/^its basis is/);
});

test('every curl line of cancelOrder gets the reply in its comment, repeatedly', async () => {
  await runCurlLines('cancelOrder', new URL(server.url).origin);
});

test('the requests in the .http file of cancelOrder get the replies in their titles', async () => {
  const file = join(folder, 'replies.http');
  await print({ http: file, serverUrl: server.url }, 'cancelOrder');
  const replies = listReplies().filter(({ operation }) => operation === 'cancelOrder');
  const titles = await runHttpFile(readFileSync(file, 'utf8'), new URL(server.url).origin);
  expect(titles.size).toBe(3 * replies.length);
});

interface PostmanCollection {
  readonly info: object;
  readonly variable: readonly object[];
  readonly item: readonly { readonly name: string }[];
}

test('the Postman collection has what format 2.1 requires', async () => {
  const file = join(folder, 'replies.json');
  await print({ postman: file, serverUrl: server.url });
  const collection: PostmanCollection = JSON.parse(readFileSync(file, 'utf8'));
  expect(collection.info).toEqual({
    name: expect.any(String),
    schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    description: expect.stringContaining('4 are left out'),
  });
  expect(collection.item.map(({ name }) => name)).toEqual(OPERATION_IDS);
  expect(collection.variable).toEqual([
    { key: 'baseUrl', value: new URL(server.url).origin },
    { key: 'key', value: 'demo-key' },
  ]);
});
