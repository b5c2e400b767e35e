import { expect, test } from 'vitest';
import { type Answer, type Client, describeServer } from '../helpers/wire.ts';

const YAML = { 'Content-Type': 'application/yaml' };

const NO_CAT =
  'description: No cat. # as in the shop\nrules: [{ on: getPet, reply: { status: 404 } }]\n';

function save({ send }: Client, name: string, body: string | object): Promise<Answer> {
  const headers = typeof body === 'string' ? YAML : {};
  return send('PUT', `/__mock/scenarios/${name}`, { body, headers });
}

async function pet({ send }: Client, prefer?: string): Promise<number> {
  const headers = prefer === undefined ? {} : { Prefer: `scenario=${prefer}, handling=strict` };
  return (await send('GET', '/v1/pets/1', { headers })).status;
}

async function listed({ send }: Client, control = '/__mock'): Promise<unknown[]> {
  const { json } = await send('GET', `${control}/scenarios`);
  return Object.values<{ own: boolean }>(Object(json)).filter(({ own }) => own);
}

describeServer('own scenarios', (open) => {
  test('are kept as they were written, listed, activated by name and preferred by a request', async () => {
    const client = await open();
    const { send } = client;
    const summary = { name: 'no-cat', description: 'No cat.', shipped: false, own: true };
    expect(await save(client, 'no-cat', NO_CAT)).toMatchObject({ status: 201, json: summary });
    expect(await save(client, 'no-cat', NO_CAT)).toMatchObject({ status: 200, json: summary });
    expect(await listed(client)).toEqual([summary]);
    const text = await send('GET', '/__mock/scenarios/no-cat');
    expect(text).toMatchObject({ text: NO_CAT, headers: { 'content-type': 'application/yaml' } });
    expect(await pet(client)).toBe(200);
    expect(await pet(client, 'no-cat')).toBe(404);
    await send('PUT', '/__mock/scenario', { body: { scenarios: ['slow', 'no-cat'] } });
    expect(await listed(client)).toEqual([{ ...summary, active: 2 }]);
    const reply = await send('GET', '/v1/pets/1');
    expect(reply.headers['mock-basis']).toBe('forced;by="no-cat#1"');
  });

  test('in JSON are as exact as in YAML, and extend each other', async () => {
    const client = await open();
    const { send } = client;
    const id = '9223372036854775807';
    const base = `{"state": {"animals": {"set": [{"id": ${id}, "name": "Rex", "categoryId": 1}]}}}`;
    const json = { body: base, headers: { 'Content-Type': 'application/json; charset=utf-8' } };
    expect(await send('PUT', '/__mock/scenarios/base', json)).toMatchObject({ status: 201 });
    expect(await send('GET', '/__mock/scenarios/base')).toMatchObject({
      text: base,
      headers: { 'content-type': 'application/json' },
    });
    await save(client, 'top', { extends: ['no-orders', 'base'] });
    const used = await send('PUT', '/__mock/scenario', { body: { scenarios: ['top'] } });
    expect(used.json).toMatchObject({
      scenarios: [{ name: 'no-orders' }, { name: 'base' }, { name: 'top' }],
    });
    expect(await send('GET', `/v1/pets/${id}`)).toMatchObject({ status: 200 });
    await send('DELETE', '/__mock/scenarios/base');
    const broken = await send('PUT', '/__mock/scenario', { body: { scenarios: ['top'] } });
    expect(broken).toMatchObject({ status: 200 }); // the active one is still known
    await send('PUT', '/__mock/scenario', { body: { scenarios: [] } });
    const lost = await send('PUT', '/__mock/scenario', { body: { scenarios: ['top'] } });
    expect(lost).toMatchObject({ status: 400 });
    expect(await pet(client, 'top')).toBe(400);
  });

  test('an active one stays as it was activated when it is replaced or deleted', async () => {
    const client = await open();
    const { send } = client;
    await save(client, 'mine', NO_CAT);
    await send('PUT', '/__mock/scenario', { body: { scenarios: ['mine'] } });
    await save(client, 'mine', 'rules: [{ on: getPet, reply: { status: 410 } }]');
    expect(await pet(client)).toBe(404);
    await send('PUT', '/__mock/scenario', { body: { scenarios: ['mine'] } });
    expect(await pet(client)).toBe(410);
    expect(await send('DELETE', '/__mock/scenarios/mine')).toMatchObject({ status: 204 });
    expect(await pet(client)).toBe(410);
    expect(await listed(client)).toEqual([]);
    expect(await send('DELETE', '/__mock/scenarios/mine')).toMatchObject({ status: 404 });
    expect(await send('GET', '/__mock/scenarios/mine')).toMatchObject({ status: 404 });
  });

  test('one that is saved again counts the calls of requests that prefer it anew', async () => {
    const client = await open();
    const once = 'rules: [{ on: getPet, calls: 1, reply: { status: 503 } }]';
    await save(client, 'once', once);
    expect([await pet(client, 'once'), await pet(client, 'once')]).toEqual([503, 200]);
    await save(client, 'once', once);
    expect(await pet(client, 'once')).toBe(503);
  });

  test('belong to their sandbox: a reset keeps them unless it says otherwise, a new sandbox has none', async () => {
    const client = await open();
    const { send } = client;
    await save(client, 'mine', NO_CAT);
    await send('PUT', '/__mock/scenario', { body: { scenarios: ['mine'] } });
    expect(await listed(client, '/~other/__mock')).toEqual([]);
    await send('POST', '/__mock/snapshots', { body: { name: 'before' } });
    await save(client, 'second', 'extends: mine');
    await send('POST', '/__mock/snapshots/before/restore');
    expect(await listed(client)).toHaveLength(2);
    await send('POST', '/__mock/reset');
    expect(await pet(client)).toBe(200);
    await send('POST', '/__mock/reset', { body: { keep: ['own-scenarios', 'clock'] } });
    expect(await listed(client)).toHaveLength(2);
    await send('POST', '/__mock/reset', { body: { keep: ['clock'] } });
    expect(await listed(client)).toEqual([]);
  });

  test.each<[string, string | object, number, string]>([
    ['slow', NO_CAT, 409, 'the name slow is taken: choose another'],
    ['a b', NO_CAT, 400, 'scenario name: expected 1 to 64 of'],
    ['mine', 'rules:\n  - { on: getPt }', 400, 'mine:2:11: $.rules[0].on: '],
    [
      'mine',
      'extends: ./package.json',
      400,
      'mine:1:10: $.extends[0]: expected a shipped scenario',
    ],
    ['mine', 'fixture: /etc/passwd', 400, 'the name of a shipped fixture'],
    ['mine', `# ${'x'.repeat(16_384)}`, 400, 'at most 16384 characters'],
  ])('%j is refused with %j', async (name, body, status, why) => {
    const client = await open();
    const reply = await save(client, encodeURIComponent(name), body);
    expect(reply.status).toBe(status);
    expect(Object(reply.json).message).toContain(why);
    expect(await listed(client)).toEqual([]);
  });

  test('a body of another type, or that is no text, is refused', async () => {
    const { send } = await open();
    const put = (type: string, body: string | Buffer) =>
      send('PUT', '/__mock/scenarios/mine', { body, headers: { 'Content-Type': type } });
    expect(await put('text/plain', NO_CAT)).toMatchObject({ status: 415 });
    expect(await put('application/json', NO_CAT)).toMatchObject({ status: 400 });
    expect(await put('application/yaml', Buffer.from([0x23, 0xff]))).toMatchObject({ status: 400 });
    expect(await send('PUT', '/__mock/scenarios/mine')).toMatchObject({ status: 400 });
    expect(await send('DELETE', '/__mock/scenarios/slow')).toMatchObject({
      status: 409,
      json: { code: 'cannot_be_deleted' },
    });
  });

  test('there are at most 100, and each of them can be replaced', async () => {
    const client = await open();
    const names = Array.from({ length: 100 }, (_, index) => `mine-${index}`);
    const saved = await Promise.all(names.map((name) => save(client, name, 'rules: []')));
    expect(saved.every(({ status }) => status === 201)).toBe(true);
    expect(await save(client, 'one-more', 'rules: []')).toMatchObject({
      status: 409,
      json: { code: 'too_many_scenarios' },
    });
    expect(await save(client, 'mine-7', NO_CAT)).toMatchObject({ status: 200 });
  });
});
