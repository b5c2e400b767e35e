import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { serverFor } from '../helpers/deployment.ts';
import { drawRequests } from '../helpers/drawn-requests.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { type Ask, asker } from '../helpers/wire.ts';

const folder = temporaryFolder();

/** Sends a request to a path that may name a sandbox. */
const ask = (port: number, ...sent: Parameters<Ask>) => asker(port, '')(...sent);

test('a sandbox that nobody uses is removed in the log, and its coverage stays', async () => {
  const notices: string[] = [];
  const { port, coverage } = await serverFor({
    sandboxIdle: 100,
    onNotice: (it) => notices.push(it),
  });
  await ask(port, 'GET', '/~idle/v1/store/orders');
  await ask(port, 'POST', '/__mock/sandboxes', { body: { name: 'unused' } });
  await ask(port, 'GET', '/~staging/v1/pets', { key: 'staging-key' });
  await expect.poll(() => notices.length, { timeout: 10_000 }).toBe(2);
  expect(notices.join()).toMatch(/^removed sandbox idle: .*,removed sandbox unused: /);
  const { json } = await ask(port, 'GET', '/__mock/sandboxes');
  const names = Object(json).map(({ name }: { name: string }) => name);
  expect(names).toEqual(['default', 'staging']);
  const shown = coverage().documented.find(
    (it) => it.operation === 'listOrders' && it.status === 200,
  );
  expect(shown?.count).toBe(1);
});

test('a sandbox whose client waits for a held reply is in use', async () => {
  const file = join(folder, 'held.json');
  writeFileSync(file, '{"rules":[{"on":"listPets","hold":true}]}');
  const [notices, held]: [string[], string[]] = [[], []];
  const { port } = await serverFor({
    sandboxIdle: 100,
    scenarios: [file],
    onNotice: (it) => notices.push(it),
    observe: (name, { hold }) => hold && held.push(name),
  });
  const list = ask(port, 'GET', '/~waiting/v1/pets');
  await expect.poll(() => held, { timeout: 10_000 }).toEqual(['waiting']);
  await ask(port, 'GET', '/~later/v1/store/orders');
  await expect.poll(() => notices.join(), { timeout: 10_000 }).toMatch(/^removed sandbox later: /);
  await ask(port, 'POST', '/~waiting/__mock/holds/release');
  expect((await list).status).toBe(200);
  await expect.poll(() => notices.length, { timeout: 10_000 }).toBe(2);
  expect(notices[1]).toMatch(/^removed sandbox waiting: /);
});

test('a sandbox whose client waits for a delayed reply is in use', async () => {
  const file = join(folder, 'delayed.json');
  writeFileSync(file, '{"rules":[{"on":"listPets","delay":1500}]}');
  const notices: string[] = [];
  const onNotice = (it: string) => notices.push(it);
  const { port } = await serverFor({ sandboxIdle: 100, scenarios: [file], onNotice });
  const list = ask(port, 'GET', '/~delayed/v1/pets');
  await ask(port, 'GET', '/~later/v1/store/orders');
  await list;
  expect(notices.join()).toMatch(/^removed sandbox later: [^,]*$/);
  await expect.poll(() => notices.at(1), { timeout: 10_000 }).toMatch(/^removed sandbox delayed: /);
});

describe('a sandbox', () => {
  test('is taken from the path before the key, and from the key before the header', async () => {
    const { port } = await serverFor();
    const headers = { 'Mock-Sandbox': 'header' };
    const named = { key: 'demo-key~key', headers };
    expect((await ask(port, 'DELETE', '/~path/v1/store/orders/1', named)).status).toBe(204);
    expect((await ask(port, 'DELETE', '/v1/store/orders/1', named)).status).toBe(204);
    expect((await ask(port, 'DELETE', '/v1/store/orders/1', { headers })).status).toBe(204);
    for (const name of ['path', 'key', 'header']) {
      expect((await ask(port, 'DELETE', `/~${name}/v1/store/orders/1`)).status).toBe(409);
    }
  });

  test('named default is the one that requests without a name use', async () => {
    const { port } = await serverFor();
    expect((await ask(port, 'DELETE', '/~default/v1/store/orders/1')).status).toBe(204);
    expect((await ask(port, 'DELETE', '/v1/store/orders/1')).status).toBe(409);
  });

  test('has a rate limit of its own', async () => {
    const { port } = await serverFor({ assume: { 'rate-limit': '1/m' } });
    const paths = ['/v1/pets', '/v1/pets', '/~one/v1/pets', '/~one/v1/pets'];
    const statuses: number[] = [];
    for (const path of paths) statuses.push((await ask(port, 'GET', path)).status);
    expect(statuses).toEqual([200, 429, 200, 429]);
  });

  test('accepts a key that contains a ~', async () => {
    const { port } = await serverFor({ keys: { valid: ['a~b'] } });
    expect((await ask(port, 'DELETE', '/v1/store/orders/1', { key: 'a~b' })).status).toBe(204);
    expect((await ask(port, 'DELETE', '/v1/store/orders/1', { key: 'a~b' })).status).toBe(409);
    expect((await ask(port, 'DELETE', '/v1/store/orders/1', { key: 'a~b~c' })).status).toBe(204);
  });

  test.each(['a b', '', '.', '..', 'x'.repeat(65), 'ä', '..%2f', 'a!'])(
    'cannot be named %j, in path, key or header',
    async (name) => {
      const { port } = await serverFor();
      const bytes = Buffer.from(name).toString('latin1');
      const path = `/~${encodeURI(name)}`;
      for (const answer of [
        await ask(port, 'GET', '/v1/pets', { headers: { 'Mock-Sandbox': bytes } }),
        await ask(port, 'GET', '/v1/pets', { key: `demo-key~${bytes}` }),
        await ask(port, 'GET', `${path}/v1/pets`),
        await ask(port, 'GET', `${path}/__mock/state`),
        await ask(port, 'GET', `${path}/__mock/health`),
        await ask(port, 'GET', '/~one/v1/pets', { key: `demo-key~${bytes}` }),
        await ask(port, 'GET', '/~one/v1/pets', { headers: { 'Mock-Sandbox': bytes } }),
      ]) {
        expect(answer).toMatchObject({
          status: 400,
          json: {
            code: 'sandbox_name_invalid',
            message: expect.stringContaining('expected 1 to 64 of a-z A-Z 0-9 . _ -'),
          },
        });
      }
    },
  );

  test('is not created by requests without a valid key, which the default one records', async () => {
    const server = await serverFor({ maxSandboxes: 1 });
    const { port } = server;
    for (const name of ['one', 'two', 'three']) {
      expect((await ask(port, 'GET', `/~${name}/v1/pets`, { key: 'wrong' })).status).toBe(401);
      expect((await ask(port, 'GET', '/v1/pets', { key: `wrong~${name}` })).status).toBe(401);
      expect((await ask(port, 'OPTIONS', `/~${name}/v1/pets`, { key: 'no' })).status).toBe(204);
      expect((await ask(port, 'GET', `/~${name}/v1/no`, { key: 'no' })).status).toBe(404);
    }
    const names = async () => {
      const { json } = await ask(port, 'GET', '/__mock/sandboxes');
      return Object(json).map(({ name }: { name: string }) => name);
    };
    expect(await names()).toEqual(['default', 'staging']);
    expect((await ask(port, 'GET', '/~three/v1/pets')).status).toBe(200);
    expect(await names()).toEqual(['default', 'staging', 'three']);
    // The default sandbox records the refusals.
    const journal = await ask(port, 'GET', '/__mock/requests?status=401');
    expect(Object(journal.json).exchanges.map(({ target }: { target: string }) => target)).toEqual(
      ['one', 'two', 'three'].flatMap((name) => [`/~${name}/v1/pets`, '/v1/pets']),
    );
    expect(server.coverage().documented).toContainEqual(
      expect.objectContaining({ operation: 'listPets', status: 401, count: 6 }),
    );
  });

  test('must be named if the server requires it', async () => {
    const { port } = await serverFor({ sandboxRequired: true });
    const answer = await ask(port, 'GET', '/v1/pets');
    expect(answer).toMatchObject({ status: 400, json: { code: 'sandbox_required' } });
    expect((await ask(port, 'GET', '/~one/v1/pets')).status).toBe(200);
    expect((await ask(port, 'GET', '/~staging/v1/pets', { key: 'staging-key' })).status).toBe(200);
  });

  test('is not created beyond the limit, and none is dropped', async () => {
    const { port } = await serverFor({ maxSandboxes: 2 });
    expect((await ask(port, 'DELETE', '/~one/v1/store/orders/1')).status).toBe(204);
    expect((await ask(port, 'GET', '/~two/v1/pets')).status).toBe(200);
    const answer = await ask(port, 'GET', '/~three/v1/pets');
    expect(answer).toMatchObject({ status: 503, json: { code: 'too_many_sandboxes' } });
    expect((await ask(port, 'DELETE', '/~one/v1/store/orders/1')).status).toBe(409);
    expect((await ask(port, 'GET', '/~staging/v1/pets', { key: 'staging-key' })).status).toBe(200);
  });
});

test('concurrent clients in their own sandboxes get the replies that each gets alone', async () => {
  const { port } = await serverFor();
  const replies = async (client: number, sandbox: string): Promise<string[]> => {
    const all: string[] = [];
    for (const { method, path, ...sent } of drawRequests(client, 25)) {
      const { status, text } = await asker(port, `/~${sandbox}/v1`)(method, path, sent);
      all.push(`${method} ${path} gets ${status}: ${text.replaceAll(sandbox, '')}`);
    }
    return all;
  };
  const clients = Array.from({ length: 30 }, (_, index) => index);
  const together = await Promise.all(clients.map((it) => replies(it, `together-${it}`)));
  for (const client of clients) {
    expect(together[client]).toEqual(await replies(client, `alone-${client}`));
  }
});
