import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { responses } from '../../src/cli/commands/responses.ts';
import type { Flags } from '../../src/cli/flags.ts';
import { createTerminal } from '../../src/cli/terminal.ts';
import { ASSUMPTION_IDS, assumptionShape } from '../../src/contract/assumption-table.ts';
import { OPERATION_IDS, operationShape } from '../../src/contract/operations.ts';
import { parseAddress } from '../../src/http/target.ts';
import { checkReplies } from '../../src/responses/check-replies.ts';
import { listReplies } from '../../src/responses/reply-recipes.ts';
import { formatCurlLines } from '../../src/responses/request-files.ts';
import { type RunningServer, startServer } from '../../src/server.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { spawnProgram } from '../helpers/program.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ port: 0 });
});
afterAll(() => server.close());

async function print(flags: Flags, operation?: string) {
  const terminal = createTerminal(new PassThrough(), new PassThrough(), {});
  const positionals = operation === undefined ? [] : [operation];
  return responses({ flags, positionals, terminal });
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
  expect(text).not.toMatch(/^failed/m);
  expect(text.match(/^ok /gm)).toHaveLength(3 * repliesOf('getPet').length);
  expect(exitCode).toBe(0);
});

test('a check fails on another status and on another basis', async () => {
  const [recipe] = listReplies().filter(({ ground }) => ground === 'unknown-pet=404');
  const wrong = [{ status: 410 }, { ground: 'after-sunset=404' }];
  const checked = await checkReplies(wrong.map((it) => ({ ...recipe!, ...it })));
  const problems = checked.filter(({ way }) => way === 'state').map(({ problem }) => problem);
  expect(problems).toEqual([
    expect.stringMatching(/^got 404/),
    expect.stringMatching(/^its basis is/),
  ]);
});

const repliesOf = (operation: string) => listReplies().filter((it) => it.operation === operation);

test('every curl line of cancelOrder gets the status in its comment, repeatedly', async () => {
  const blocks = formatCurlLines(repliesOf('cancelOrder'), parseAddress(server.url)).split('\n\n');
  const statusIn = (block: string) => /# (\d+)$/.exec(block.trim())?.[1] ?? '';
  expect(blocks).toHaveLength(3 * repliesOf('cancelOrder').length);
  // What changes the store runs twice.
  const all = [...blocks, ...blocks.filter((it) => ['204', '409'].includes(statusIn(it)))];
  // One shell runs them all: a process for each costs more than the requests.
  const script = all.map((block) => `echo '=== next'\n${block}`).join('\n');
  const { printed, exited } = spawnProgram('bash', ['-c', script]);
  await exited;
  const outputs = printed.stdout.split('=== next\n').slice(1);
  const received = outputs.map((it) => [...it.matchAll(/HTTP\/1\.1 (\d+)/g)].at(-1)?.[1]);
  expect(received).toEqual(all.map(statusIn));
});

test.each([
  ['', '/v1'],
  [' of a sandbox', '/~mine/v1/'],
])('the requests in the .http file%s get the statuses in their titles', async (_, path) => {
  const file = join(folder, 'replies.http');
  const { origin } = new URL(server.url);
  await print({ http: file, serverUrl: origin + path, force: true }, 'cancelOrder');
  expect(readFileSync(file, 'utf8')).toContain(
    `{{host}}${path.replace(/\/$/, '')}/store/orders/1\n`,
  );
  const [head = '', ...requests] = readFileSync(file, 'utf8').split(/^### /m);
  const variables = new Map([...head.matchAll(/^@(\w+) = (.*)$/gm)].map((it) => [it[1], it[2]]));
  expect(Object.fromEntries(variables)).toEqual({
    host: origin,
    key: 'demo-key',
  });
  let titles = 0;
  for (const request of requests) {
    const filled = request.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => variables.get(name) ?? '');
    const [top = '', body] = filled.trimEnd().split('\n\n');
    const [title = '', line = '', ...headers] = top.split('\n');
    const [method = '', url = ''] = line.split(' ');
    const reply = await fetch(url, {
      method,
      headers: headers.map((header): [string, string] => {
        const [name = '', value = ''] = header.split(': ');
        return [name, value];
      }),
      body: body ?? null,
    });
    await reply.text();
    const [, status] = / gets (\d+)$/.exec(title) ?? [];
    if (status === undefined) continue;
    expect(`${reply.status}`, title).toBe(status);
    titles += 1;
  }
  expect(titles).toBe(3 * repliesOf('cancelOrder').length);
});

test.each([['http'], ['postman']])('--%s overwrites a file only with --force', async (flag) => {
  const file = join(folder, `kept.${flag}`);
  writeFileSync(file, 'kept');
  await expect(print({ [flag]: file })).rejects.toThrow(
    `--${flag}: ${file} exists; --force overwrites it`,
  );
  expect(readFileSync(file, 'utf8')).toBe('kept');
  await print({ [flag]: file, force: true });
  expect(readFileSync(file, 'utf8')).not.toBe('kept');
});

test('the Postman collection has what format 2.1 requires', async () => {
  const file = join(folder, 'replies.json');
  await print({ postman: file, serverUrl: server.url });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    info: {
      name: expect.any(String),
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
      description: expect.stringContaining('4 are left out'),
    },
    item: OPERATION_IDS.map((name) => ({ name })),
    variable: [
      { key: 'baseUrl', value: new URL(server.url).origin },
      { key: 'key', value: 'demo-key' },
    ],
  });
});
