import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeJson } from '../../../src/core/json.ts';
import type { ServerOptions } from '../../../src/index.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { openMock } from '../../helpers/in-process.ts';
import { openRaw, rawRequest } from '../../helpers/raw.ts';
import { type Ask, asker, clientAt, openServer } from '../../helpers/wire.ts';

const folder = temporaryFolder();

/** Options with a scenario called `test` that has these rules. */
function withRules(...rules: readonly object[]): ServerOptions {
  const path = join(folder, 'test.json');
  writeFileSync(path, writeJson({ rules }));
  return { scenarios: [path] };
}

async function startAsking(options?: ServerOptions): Promise<Ask> {
  const { send } = await openMock(options);
  return (method, path, sent) => send(method, `/v1${path}`, sent);
}

describe('a rule', () => {
  test('for calls 1 and 2 fires exactly twice when 100 requests arrive at once', async () => {
    const rule = { on: 'createPet', calls: '1-2', reply: { status: 503 } };
    const ask = asker((await serverFor(withRules(rule))).port);
    const body = { name: 'Rex', categoryId: 1 };
    const asked = Array.from({ length: 100 }, () => ask('POST', '/pets', { body }));
    const statuses = (await Promise.all(asked)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(98).fill(201), 503, 503]);
  });

  test.each<[string, { status: number; body?: object }, RegExp, string]>([
    ['the documented body of its status', { status: 401 }, /^\{"code":"unauthorized",/, ''],
    [
      'any body',
      { status: 201, body: { id: 2n ** 53n + 1n } },
      /^\{"id":9007199254740993\}$/,
      ';off-contract',
    ],
    ['its status before the key is checked', { status: 500 }, /"status":500/, ''],
  ])('sends %s, and is named in Mock-Basis', async (_what, reply, body, mark) => {
    const ask = await startAsking(withRules({ on: 'getPet', where: { petId: 3 }, reply }));
    const { status, text, headers } = await ask('GET', '/pets/3', { key: null });
    expect([status, headers['mock-basis']]).toEqual([reply.status, `forced;by="test#1"${mark}`]);
    expect(text).toMatch(body);
    expect((await ask('GET', '/pets/1')).status).toBe(200);
  });

  test('that sets headers of CORS replaces those of the mock', async () => {
    const headers = {
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-credentials': 'false',
      vary: '*',
    };
    const { port } = await serverFor(withRules({ on: 'getPet', reply: { status: 200, headers } }));
    const connection = await openRaw(port);
    const sent = { Origin: 'https://app.example', Connection: 'close' };
    connection.send(rawRequest('GET', '/v1/pets/1', sent));
    const text = await connection.rest();
    expect(text.match(/^(?:access-control-allow-.*|vary): .*/gim)).toEqual(
      Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    );
    expect(text).toMatch(
      /^Access-Control-Expose-Headers: .*Preference-Applied.*, access-control-allow-origin/m,
    );
  });

  test('has its digits and UTF-8 on the wire, in the journal and in a rule made of it', async () => {
    const { port } = await serverFor();
    const control = asker(port, '/__mock');
    const reply =
      '{"status":400,"headers":{"Retry-After":2.50,"X-Stadt":"Zürich"},"body":{"a":1.0}}';
    const where = '{"headers":{"X-Version":1.0,"X-Ort":"Köln"}}';
    const body = `{"scenario":{"rules":[{"on":"getPet","where":${where},"reply":${reply}}]}}`;
    await control('PUT', '/scenario', { body });
    const latin = { 'X-Version': '1.0', 'X-Ort': 'Köln' };
    const utf = { ...latin, 'X-Ort': Buffer.from('Köln').toString('latin1') };
    for (const headers of [latin, utf]) {
      const { headers: sent, text } = await asker(port)('GET', '/pets/1', { headers });
      expect([text, sent['retry-after']]).toEqual(['{"a":1.0}', '2.50']);
      expect(Buffer.from(String(sent['x-stadt']), 'latin1').toString()).toBe('Zürich');
    }
    const { json } = await control('GET', '/requests');
    const shown = {
      request: { headers: { 'x-ort': 'Köln' } },
      reply: { headers: { 'x-stadt': 'Zürich' } },
    };
    expect(json).toMatchObject({ exchanges: [shown, shown] });
    expect((await control('GET', '/requests/1/rule')).text).toContain('"body":{"a":1.0}');
  });

  test('with 304 has no Content-Length', async () => {
    const { port } = await serverFor(withRules({ on: 'getPet', reply: { status: 304 } }));
    const connection = await openRaw(port);
    connection.send(rawRequest('GET', '/v1/pets/1') + rawRequest('GET', '/v1/inventory'));
    const [none, next] = await connection.replies(2);
    expect(none?.headers).not.toHaveProperty('content-length');
    expect([none?.status, next?.status]).toEqual([304, 200]);
  });

  test.each<[string, () => ServerOptions]>([
    ['that only delays', () => withRules({ on: 'listInventory', delay: 30 })],
    ['of --delay', () => ({ delay: 30 })],
  ])('%s does not change the reply or its basis, also after a reset', async (_what, options) => {
    const { port } = await serverFor(options());
    for (const _time of ['before', 'after']) {
      const started = performance.now();
      const { status, headers } = await asker(port)('GET', '/inventory');
      expect([status, headers['mock-basis']]).toEqual([200, 'documented']);
      expect(performance.now() - started).toBeGreaterThan(28);
      await asker(port, '/__mock')('POST', '/reset');
    }
  });
});

const preferring = (Prefer: string) => ({ headers: { Prefer } });

describe('Prefer', () => {
  test.each([
    ['code=409', 409],
    ['scenario=outage', 503],
  ])('%s gets a %i, is told so, and changes nothing', async (preference, status) => {
    const ask = await startAsking();
    const answer = await ask('DELETE', '/store/orders/1', preferring(preference));
    expect(answer).toMatchObject({ status, json: { status } });
    expect(answer.headers['preference-applied']).toBe(preference);
    expect((await ask('DELETE', '/store/orders/1', preferring('code=204'))).status).toBe(204);
    expect((await ask('DELETE', '/store/orders/1')).status).toBe(204);
  });

  test('scenario=outage means a file of this name rather than the scenario that ships', async () => {
    const file = join(folder, 'outage.json');
    writeFileSync(file, writeJson({ rules: [{ on: '*', reply: { status: 418 } }] }));
    const server = await serverFor({ scenarios: [file] });
    const { control, send } = clientAt(server.port);
    await control('PUT scenario', { scenarios: [] });
    expect((await send('GET', '/v1/pets')).status).toBe(200);
    const preferred = await send('GET', '/v1/pets', preferring('scenario=outage'));
    expect(preferred.status).toBe(418);
  });

  test('scenario=proxy-error-page gets the page of a proxy, which knows no preferences', async () => {
    const ask = await startAsking();
    const { status, headers } = await ask('GET', '/pets', preferring('scenario=proxy-error-page'));
    expect([status, headers['preference-applied']]).toEqual([502, undefined]);
  });

  test('code=200 shows the first record where the service refuses', async () => {
    const ask = await startAsking();
    const show = async (...[method, path, sent]: Parameters<typeof ask>) =>
      (await ask(method, path, { ...preferring('code=200'), ...sent })).json;
    expect(await show('GET', '/pets/999')).toMatchObject({ id: 1 });
    expect(await show('PATCH', '/inventory/999')).toMatchObject({ petId: 1 });
    expect(await show('GET', '/store/orders', { key: 'wrong' })).toMatchObject([{ id: 1 }]);
  });

  test.each<[string, ServerOptions]>([
    ['return=minimal', {}],
    ['wait=10, respond-async; x="a,code=409"; y, z=", code=409"', {}],
    [String.raw`foo;bar="a\", code=409", a.b="q, code=409"`, {}],
    ['code=abc', {}],
    ['scenario=../../etc/passwd', {}],
    ['code=401', { plain: true }],
  ])('%s is ignored (%o)', async (preference, options) => {
    const ask = await startAsking(options);
    const { status, headers } = await ask('GET', '/pets', preferring(preference));
    expect([status, headers['preference-applied']]).toEqual([200, undefined]);
  });

  test.each([
    ['code=999', 'Prefer: code: expected a status from 200 to 599, found "999"'],
    ['scenario=outtage', 'one of this sandbox, found "outtage" (did you mean outage?)'],
    ['scenario', 'one of this sandbox, found ""'],
    ['status=401', 'Prefer: the mock knows no preference "status" (did you mean code?)'],
    ['return=minimal, scenari=slow', 'no preference "scenari" (did you mean scenario?)'],
  ])(
    '%s is explained in the journal, is a finding, and gets 400 with handling=strict',
    async (preference, why) => {
      const { send, control } = await openMock();
      const list = (prefer: string) => send('GET', '/v1/pets', preferring(prefer));
      const lenient = await list(preference);
      expect([lenient.status, lenient.headers['preference-applied']]).toEqual([200, undefined]);
      const { json } = await control('GET requests');
      const finding = { code: 'unknown-preference', message: expect.stringContaining(why) };
      const explained = { why: [expect.stringContaining(why)], findings: [finding] };
      expect(json).toMatchObject({ exchanges: [explained] });
      const strict = await list(`handling=strict, ${preference}`);
      expect(strict).toMatchObject({
        status: 400,
        json: { code: 'invalid_input', message: expect.stringContaining(why) },
      });
      expect((await list('code=401; handling=strict')).status).toBe(401);
    },
  );
});

test('with a frozen clock, every run has the same bytes', async () => {
  const body = '{"name":"Rex","categoryId":1}';
  const length = String(body.length);
  const created = { 'Content-Type': 'application/json', 'Content-Length': length };
  const requests = [
    rawRequest('GET', '/v1/pets?limit=3'),
    rawRequest('DELETE', '/v1/store/orders/1'),
    rawRequest('DELETE', '/v1/store/orders/1'),
    rawRequest('POST', '/v1/pets', created),
  ];
  const run = async (): Promise<string> => {
    const { port } = await serverFor({ clock: Date.UTC(2030, 0, 1), frozen: true });
    const { send, reply, replies } = await openRaw(port);
    send(requests.join(''));
    const first = await replies(3);
    // It comes later than its request, by a time that differs from run to run.
    send(body + rawRequest('GET', '/__mock/requests'));
    const [second, { body: exchanges }] = [await reply(), await reply()];
    return JSON.stringify([...first, second]) + exchanges;
  };
  const first = await run();
  expect(first).toContain('"date":"Tue, 01 Jan 2030 00:00:00 GMT"');
  expect(first).toContain('"number":4');
  expect(await run()).toBe(first);
});

test('a delay neither keeps a server from closing nor outlasts its client', async () => {
  const server = await serverFor({ delay: 300_000 });
  const left = await openRaw(server.port);
  left.send(rawRequest('GET', '/v1/pets/1'));
  const answer = asker(server.port)('GET', '/pets/1');
  const journal = asker(server.port, '/__mock');
  await journal('POST', '/requests/count', { body: { atLeast: 2, within: 'PT5S' } });
  left.socket.destroy();
  await server.close();
  expect((await answer).status).toBe(200);
});

test.each([
  ['its client has left', 'AbortError', {}],
  ['a fault has broken', 'TypeError', { fault: 'truncate' }],
])('a POST that is sent again after %s a held reply is a finding', async (_, error, rule) => {
  const held = { on: 'createPet', calls: 1, hold: true, ...rule };
  const { url, port } = await serverFor(withRules(held));
  const control = asker(port, '/__mock');
  const arrived = (body: object) =>
    control('POST', '/requests/count', { body: { atLeast: 1, within: 'PT5S', ...body } });
  const post = (signal?: AbortSignal) => {
    const headers = { Authorization: 'Bearer demo-key', 'Content-Type': 'application/json' };
    const body = '{"name":"Zoë","categoryId":1}';
    return fetch(`${url}/pets`, { method: 'POST', headers, body, ...(signal && { signal }) });
  };
  const client = new AbortController();
  const first = post(client.signal)
    .then((reply) => reply.text())
    .catch(({ name }) => name);
  await arrived({ held: true });
  if ('fault' in rule) await control('POST', '/holds/release', { body: {} });
  else client.abort();
  expect(await first).toBe(error);
  await arrived({ hold: 'default', held: false });
  expect((await post()).status).toBe(201);
  const { json } = await control('GET', '/findings');
  expect(json).toMatchObject({ counts: { 'blind-retry': 1 } });
});

test('the call that reuses a stale connection meets a reset, and is not run', async () => {
  const { send, control } = await openServer(
    withRules({ on: 'getPet', calls: 1, fault: 'stale-connection' }),
  );
  const reply = await send('GET', '/v1/pets/1');
  expect([reply.status, reply.headers.connection]).toEqual([200, 'keep-alive']);
  expect((await control('GET requests')).json).toMatchObject({ total: 1 });
  await expect(send('DELETE', '/v1/store/orders/1')).rejects.toThrow(/ECONNRESET|socket hang up/);
  expect((await send('DELETE', '/v1/store/orders/1')).status).toBe(204);
});
