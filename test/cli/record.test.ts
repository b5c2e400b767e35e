import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ServerOptions } from '../../src/index.ts';
import { packageRoot } from '../../src/server/files.ts';
import { serverFor } from '../helpers/deployment.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { runInProcess } from '../helpers/invocation.ts';
import { asker } from '../helpers/wire.ts';

const folder = temporaryFolder();

const KEY = 'demo-key';
const INT64 = '9007199254740993';

/** The shipped fixture, and an animal with an id that no double can hold. */
function withInt64(): string {
  const text = readFileSync(join(packageRoot, 'fixtures/default.json'), 'utf8');
  const file = join(folder, 'int64.json');
  const added = `"animals": [{ "id": ${INT64}, "name": "Rex", "categoryId": -${INT64} },`;
  writeFileSync(file, text.replace('"animals": [', added));
  return file;
}

/** Starts a deployment, or a server from what was recorded of one. */
async function serve(options: ServerOptions) {
  const server = await serverFor({ ...options });
  const ask = asker(server.port);
  const control = asker(server.port, '/__mock');
  return { url: server.url, ask, control };
}

function record(url: string, file: string, ...flags: readonly string[]) {
  const args = ['--key', KEY, '--rate', '10000', '--output', file, ...flags];
  return runInProcess(['record', url, ...args]);
}

const storeIn = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

test('a server that starts from the recording answers as the deployment does', async () => {
  const options: ServerOptions = {
    fixture: withInt64(),
    assume: { 'order-status-field': 'shown', 'date-format': 'offset', 'absent-optionals': 'null' },
  };
  const deployment = await serve(options);
  const file = join(folder, 'whole.json');
  const { code, stdout, stderr } = await record(deployment.url, file);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `${file}: 65 animals, 64 inventory entries and 14 orders\n`,
  });
  expect(stderr).toContain('will get at least 3 GET requests');
  const { json } = await deployment.control('POST', '/requests/count', {
    body: { method: 'GET' },
  });
  expect(json).toMatchObject({ count: 4 });
  const copy = await serve({ ...options, fixture: file });
  for (const path of ['/pets?limit=100', '/inventory', '/store/orders', `/pets/${INT64}`]) {
    const [its, ours] = await Promise.all([deployment, copy].map(({ ask }) => ask('GET', path)));
    expect(ours?.text).toBe(its?.text);
  }
  for (const order of [1, 2, 3]) {
    const path = `/store/orders/${order}`;
    const [its, ours] = await Promise.all([deployment, copy].map(({ ask }) => ask('DELETE', path)));
    expect(ours?.text).toBe(its?.text);
  }
});

test('--anonymise keeps equal names equal, across recordings', async () => {
  const { url } = await serve({ fixture: withInt64() });
  const files = ['one.json', 'two.json'].map((name) => join(folder, name));
  for (const file of files) await record(url, file, '--anonymise');
  const [one = '', two] = files.map((file) => readFileSync(file, 'utf8'));
  expect(one).toBe(two);
  const { animals } = storeIn(files[0] ?? '');
  const [rex] = animals;
  expect(rex.name).toMatch(/^Animal [\da-f]{12}$/);
  expect(one.match(new RegExp(`"${rex.name}"`, 'g'))).toHaveLength(2);
  expect(one).toContain(`{"id":${INT64},"name":"${rex.name}"`);
  expect(one).not.toMatch(/"Rex"|"Whiskers"/);
});

describe('--diff', () => {
  test('shows what changed since the last recording', async () => {
    const deployment = await serve({ assume: { 'order-status-field': 'shown' } });
    const file = join(folder, 'diff.json');
    expect((await record(deployment.url, file, '--diff')).stdout).not.toContain('hanges');
    expect((await record(deployment.url, file, '--diff')).stdout).toMatch(/\nNo changes\.\n$/);
    await deployment.ask('PATCH', '/inventory/1', { body: { quantity: 77 } });
    await deployment.ask('DELETE', '/store/orders/1');
    await deployment.ask('POST', '/pets', { body: { name: 'Odie', categoryId: 1 } });
    await deployment.control('DELETE', '/orders/2');
    const changes = [
      '  + animals {"id":65,"name":"Odie","categoryId":1}',
      '  ~ inventory 1: quantity 1 → 77',
      '  + inventory {"petId":65,"quantity":0,"status":"sold"}',
      '  ~ orders 1: status "pending" → "cancelled"',
      expect.stringMatching(/^ {2}- orders \{"id":2,.*"status":"shipped"\}$/),
    ];
    const before = readFileSync(file);
    const { stdout } = await record(deployment.url, file, '--diff');
    expect(stdout.trimEnd().split('\n').slice(-6)).toEqual(['Changes:', ...changes]);
    writeFileSync(file, before);
    const { stdout: json } = await record(deployment.url, file, '--diff', '--json');
    expect(JSON.parse(json)).toMatchObject({
      file,
      animals: 65,
      gaps: [],
      changes: [
        { collection: 'animals', after: { id: 65 } },
        { collection: 'inventory', before: { quantity: 1 }, after: { quantity: 77 } },
        { collection: 'inventory', after: { petId: 65 } },
        { collection: 'orders', before: { status: 'pending' }, after: { status: 'cancelled' } },
        { collection: 'orders', before: { id: 2 } },
      ],
    });
  });

  test('refuses a file that is not a recording, before the first request', async () => {
    const file = join(folder, 'text.json');
    writeFileSync(file, 'text');
    const { code, stderr } = await record('http://127.0.0.1:1/v1', file, '--diff');
    expect(code).toBe(2);
    expect(stderr).toContain(`${file} is not an earlier recording\n${file}:1:1: expected JSON`);
    expect(stderr).not.toContain('will get');
  });
});

test('if the deployment fails, no file is written, and an earlier one stays unchanged', async () => {
  const scenario = join(folder, 'fails.yaml');
  const reply = `{ status: 403, body: { code: oops, message: "no ${KEY}", status: 403 } }`;
  writeFileSync(scenario, `description: x\nrules: [{ on: listPets, reply: ${reply} }]\n`);
  const { url } = await serve({ scenarios: [scenario] });
  const file = join(folder, 'earlier.json');
  const files = readdirSync(folder);
  const failed = {
    code: 1,
    stdout: '',
    stderr: expect.stringContaining(
      'nothing was recorded\nGET /pets?limit=100: expected 200, found 403: oops: no KEY\n',
    ),
  };
  expect(await record(url, file)).toEqual(failed);
  expect(readdirSync(folder)).toEqual(files);
  const earlier = '{ "animals": [], "inventory": [], "orders": [] }';
  writeFileSync(file, earlier);
  expect(await record(url, file, '--diff')).toEqual(failed);
  expect(readFileSync(file, 'utf8')).toBe(earlier);
  expect(await record('http://127.0.0.1:1/v1', file, '--force')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('ECONNREFUSED'),
  });
});

test.each([
  ['', {}, 'record needs URL'],
  ['x --output no.json', {}, 'URL: expected the base URL of a deployment'],
  ['http://127.0.0.1/v1 --output no.json', {}, '--key is required'],
  ['http://127.0.0.1/v1 --key a', {}, '--output'],
  ['http://127.0.0.1/v1 --key a --output /dev/null', {}, 'exists; --force'],
  [
    'https://staging.example/v1 --output no.json',
    { PETSTORE_MOCK_DEPLOYMENT_KEY: 'secret' },
    '--yes is required to send requests to staging.example',
  ],
])('record %s %j is refused before the first request', async (words, env, message) => {
  const args = ['record', ...words.split(' ').filter((word) => word !== '')];
  const { code, stderr } = await runInProcess(args, env);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('secret');
});

test.each([
  [{ PETSTORE_MOCK_KEY: 'ours', PETSTORE_MOCK_DEPLOYMENT_KEY: 'theirs' }, [], 0],
  [{ PETSTORE_MOCK_KEY: 'theirs' }, [], 2],
  [{ PETSTORE_MOCK_DEPLOYMENT_KEY: 'ours' }, ['--key', 'theirs'], 0],
])(
  'the key of the deployment comes from a variable of its own: %j %j',
  async (env, flags, code) => {
    const { url } = await serve({ keys: { valid: ['theirs'] } });
    const args = ['record', url, '--output', join(folder, 'keyed.json'), '--force', ...flags];
    expect((await runInProcess(args, env)).code).toBe(code);
  },
);
