import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../helpers/folder.ts';
import { openMock } from '../../helpers/in-process.ts';
import type { Answer, Client } from '../../helpers/wire.ts';

const folder = temporaryFolder();

const NO_CAT =
  'description: No cat. # as in the shop\nrules: [{ on: getPet, reply: { status: 404 } }]\n';

/** Saves a scenario of the sandbox's own in YAML. */
function save({ send }: Client, name: string, body: string | Buffer): Promise<Answer> {
  const headers = { 'Content-Type': 'application/yaml' };
  return send('PUT', `/__mock/scenarios/${name}`, { body, headers });
}

/** Activates scenarios by name. */
function use({ control }: Client, ...scenarios: string[]): Promise<Answer> {
  return control('PUT scenario', { scenarios });
}

async function pet({ send }: Client, prefer?: string): Promise<number> {
  const headers = prefer === undefined ? {} : { Prefer: `scenario=${prefer}, handling=strict` };
  return (await send('GET', '/v1/pets/1', { headers })).status;
}

/** The own scenarios of a sandbox. */
async function listed({ send }: Client, mount = ''): Promise<unknown[]> {
  const { json } = await send('GET', `${mount}/__mock/scenarios`);
  return Object.values<{ own: boolean }>(Object(json)).filter(({ own }) => own);
}

describe('scenarios in the control API', () => {
  test('one in the request, as JSON or as text, forces a reply and counts its calls', async () => {
    const { send, control } = await openMock();
    const rules = [
      { on: 'getPet', calls: '1-2', reply: { status: 503 } },
      { on: 'listPets', hold: 'lists' },
    ];
    const scenario = { description: 'Down.', rules };
    const active = [
      { number: 1, on: ['getPet'], status: 503, calls: 1 },
      { number: 2, on: ['listPets'], hold: 'lists' },
    ];
    for (const written of [{ scenario }, { text: JSON.stringify(scenario) }]) {
      await control('PUT scenario', { scenarios: ['sold-out'], ...written });
      const forced = await send('GET', '/v1/pets/1');
      expect(forced.headers['mock-basis']).toBe('forced;by="request#1"');
      expect((await control('GET scenario')).json).toMatchObject({
        scenarios: [{ name: 'sold-out' }, { name: 'request', description: 'Down.', rules: active }],
      });
    }
  });

  test('change only what they say, once, and what was set by hand wins', async () => {
    const client = await openMock();
    const { control, send } = client;
    const status = async () => Object((await control('GET status')).json);
    const orders = async () => {
      const [one, , , four] = Object((await control('GET orders')).json);
      return [one.status, four.status];
    };
    await control('DELETE animals/9');
    await control('PUT clock', { now: '2030-01-01T00:00:00Z', frozen: true });
    await control('PATCH assumptions', { 'cancel-again': '404' });
    await use(client, 'flaky', 'shipped-orders');
    expect(await orders()).toEqual(['shipped', 'shipped']);
    expect(await status()).toMatchObject({
      assumptions: ['cancel-again=404'],
      clock: { now: '2030-01-01T00:00:00.000Z', frozen: true },
      changed: { animals: 1 },
    });
    // One that is active already is not applied again, and one that ends leaves its records.
    await control('PATCH orders/1', { status: 'pending' });
    await use(client, 'shipped-orders', 'slow');
    await use(client);
    expect(await orders()).toEqual(['pending', 'shipped']);

    const assume = { 'unknown-pet': '400', 'cancel-again': '204' };
    await control('PUT scenario', { scenario: { assume } });
    expect(await status()).toMatchObject({ assumptions: ['unknown-pet=400', 'cancel-again=404'] });
    expect((await send('GET', '/v1/pets/999')).status).toBe(400);
    await use(client);
    expect(await status()).toMatchObject({ assumptions: ['cancel-again=404'] });
  });

  test('those from the start and from a request are listed, and can be turned off and on', async () => {
    writeFileSync(join(folder, 'base.yaml'), 'state: { orders: { remove: all } }\n');
    const file = join(folder, 'mine.yaml');
    writeFileSync(file, 'extends: [base.yaml]\nassume: { unknown-pet: "400" }\n');
    const client = await openMock({ scenarios: [file, 'slow'] });
    const active = async () => {
      const { json } = await client.control('GET scenarios');
      const all: { name: string; active?: number; shipped: boolean }[] = Object(json);
      const shown = all.filter((it) => it.active !== undefined || !it.shipped);
      return shown.map((it) => `${it.active ?? '-'} ${it.name}`).sort();
    };
    expect(await active()).toEqual(['1 base', '2 mine', '3 slow']);
    const scenario = { rules: [{ on: 'getPet', reply: { status: 418 } }] };
    await client.control('PUT scenario', { scenarios: [], scenario });
    expect(await active()).toEqual(['- base', '- mine', '1 request']);
    await use(client, 'request', 'mine');
    expect([await active(), await pet(client)]).toEqual([['1 request', '2 base', '3 mine'], 418]);
    await use(client, 'mine');
    expect([await active(), await pet(client)]).toEqual([['1 base', '2 mine'], 200]);
    await use(client, 'slow', 'mine');
    for (let time = 0; time < 2; time += 1) await use(client, 'mine', 'slow');
    const { edits } = Object((await client.control('GET requests?edits=true')).json);
    expect(edits.map(({ what }: { what: string }) => what)).toEqual([
      'turned on request, turned off base, mine, slow',
      'turned on base, mine',
      'turned off request',
      'turned on slow',
      'set the scenarios to base, mine, slow',
    ]);
  });
});

describe('scenarios as text in the control API', () => {
  test.each<[text: string, problems: [line: number, column: number, why: RegExp][]]>([
    [
      'rules:\n  - { on: cancelOrdr, delay: 5 }\n  - { on: getPet, repl: { status: 404 } }\n',
      [
        [2, 11, /did you mean cancelOrder\?/],
        [3, 19, /did you mean reply\?/],
      ],
    ],
    [
      'extends:\n  - mine\n  - nope\nfixture: nowhere',
      [
        [3, 5, /^\$\.extends\[1\]: .*found "nope"$/],
        [4, 10, /found "nowhere"$/],
      ],
    ],
  ])('the problems of %j have lines and columns, and nothing changes', async (text, all) => {
    const client = await openMock();
    await save(client, 'mine', 'extends: slow');
    const { json } = await client.control('POST scenario/check', { text });
    expect(json).toEqual({
      problems: all.map(([line, column, why]) => ({
        line,
        column,
        message: expect.stringMatching(why),
      })),
    });
    const refused = await client.control('PUT scenario', { text });
    expect(refused.status).toBe(400);
    for (const [line, column] of all)
      expect(refused.text).toContain(`request:${line}:${column}: $.`);
    expect((await client.control('GET scenario')).json).toEqual({ scenarios: [] });
  });

  test('every shipped scenario can be read, and its text is valid', async () => {
    const { control } = await openMock();
    const { json: shipped } = await control('GET scenarios');
    for (const { name } of Object.values<{ name: string }>(Object(shipped))) {
      const { text, headers } = await control(`GET scenarios/${name}`);
      expect(headers['content-type']).toBe('application/yaml');
      const { json } = await control('POST scenario/check', { text });
      expect([name, json]).toEqual([name, { problems: [] }]);
    }
    expect(await control('GET scenarios/flakey')).toMatchObject({ status: 404 });
  });
});

describe('own scenarios', () => {
  test('are kept as they were written, listed, activated by name and preferred by a request', async () => {
    const client = await openMock();
    const summary = { name: 'no-cat', description: 'No cat.', shipped: false, own: true };
    for (const status of [201, 200]) {
      expect(await save(client, 'no-cat', NO_CAT)).toMatchObject({ status, json: summary });
    }
    expect([await pet(client), await pet(client, 'no-cat')]).toEqual([200, 404]);
    await use(client, 'slow', 'no-cat');
    expect(await listed(client)).toEqual([{ ...summary, active: 2 }]);
    const reply = await client.send('GET', '/v1/pets/1');
    expect(reply.headers['mock-basis']).toBe('forced;by="no-cat#1"');
  });

  test('in JSON are as exact as in YAML, and extend each other', async () => {
    const client = await openMock();
    const id = '9223372036854775807';
    const body = `{"state": {"animals": {"set": [{"id": ${id}, "name": "Rex", "categoryId": 1}]}}}`;
    const headers = { 'Content-Type': 'application/json; charset=utf-8' };
    await client.send('PUT', '/__mock/scenarios/base', { body, headers });
    await save(client, 'top', 'extends: [no-orders, base] # both');
    for (const [name, text, type] of [
      ['base', body, 'application/json'],
      ['top', 'extends: [no-orders, base] # both', 'application/yaml'],
    ]) {
      const saved = await client.control(`GET scenarios/${name}`);
      expect([saved.text, saved.headers['content-type']]).toEqual([text, type]);
    }
    expect((await use(client, 'top')).json).toMatchObject({
      scenarios: [{ name: 'no-orders' }, { name: 'base' }, { name: 'top' }],
    });
    expect(await client.send('GET', `/v1/pets/${id}`)).toMatchObject({ status: 200 });
    await client.control('DELETE scenarios/base');
    // The active one is still known.
    expect((await use(client, 'top')).status).toBe(200);
    await use(client);
    expect((await use(client, 'top')).status).toBe(400);
    expect(await pet(client, 'top')).toBe(400);
  });

  test('replace only the version that `If-Match` names', async () => {
    const client = await openMock();
    const replace = (body: string, version: unknown) => {
      const headers = { 'Content-Type': 'application/yaml', 'If-Match': String(version) };
      return client.send('PUT', '/__mock/scenarios/no-cat', { body, headers });
    };
    const etag = async () => (await client.control('GET scenarios/no-cat')).headers.etag;
    await save(client, 'no-cat', NO_CAT);
    const first = await etag();
    expect((await replace(`${NO_CAT}# Mine.\n`, first)).status).toBe(200);
    const message = 'somebody has changed the scenario no-cat since you read it';
    expect(await replace(NO_CAT, first)).toMatchObject({ status: 412, json: { message } });
    const second = await etag();
    expect((await replace(NO_CAT, second)).status).toBe(200);
    expect(await etag()).toBe(first);
    expect((await replace(NO_CAT, '*')).status).toBe(200);
    expect((await replace(NO_CAT, `"other", ${first}`)).status).toBe(200);
    await client.control('DELETE scenarios/no-cat');
    expect(await replace(NO_CAT, first)).toMatchObject({ status: 412 });
    expect(await replace(NO_CAT, '*')).toMatchObject({ status: 412 });
  });

  test('stay as they were activated when they are replaced or deleted', async () => {
    const client = await openMock();
    await save(client, 'mine', NO_CAT);
    await use(client, 'mine');
    await save(client, 'mine', 'rules: [{ on: getPet, reply: { status: 410 } }]');
    expect(await pet(client)).toBe(404);
    await use(client, 'mine');
    await client.control('DELETE scenarios/mine');
    expect(await pet(client)).toBe(410);
    expect(await listed(client)).toEqual([]);
  });

  test('count their calls apart from latches, and anew once saved again or deleted', async () => {
    const client = await openMock();
    const once = 'rules: [{ on: getPet, calls: 1, reply: { status: 418 } }]';
    await client.control('POST holds', { on: 'getPet', hold: 'latch', calls: '9' });
    for (const isDeleted of [false, true, false]) {
      await save(client, 'latch', once);
      expect([await pet(client, 'latch'), await pet(client, 'latch')]).toEqual([418, 200]);
      if (isDeleted) await client.control('DELETE scenarios/latch');
    }
    const counted = client.control('POST requests/count', { hold: 'latch', atLeast: 1 });
    for (let call = 7; call <= 8; call += 1) await pet(client);
    const ninth = pet(client);
    expect((await counted).json).toMatchObject({ count: 1 });
    await client.control('POST holds/release');
    expect(await ninth).toBe(200);
  });

  test('belong to their sandbox: a reset keeps them unless it says otherwise, a new sandbox has none', async () => {
    const client = await openMock();
    await save(client, 'mine', NO_CAT);
    await use(client, 'mine');
    expect(await listed(client, '/~other')).toEqual([]);
    await client.control('POST reset');
    expect([await pet(client), (await listed(client)).length]).toEqual([200, 1]);
    await client.control('POST reset', { keep: ['own-scenarios', 'clock'] });
    expect(await listed(client)).toHaveLength(1);
    await client.control('POST reset', { keep: ['clock'] });
    expect(await listed(client)).toEqual([]);
  });

  test.each([
    ['slow', NO_CAT, 409, 'the name slow is taken: choose another'],
    ['request', NO_CAT, 409, 'the name request is taken: choose another'],
    ['a b', NO_CAT, 400, 'scenario name: expected 1 to 64 letters'],
    ['mine', 'rules:\n  - { on: getPt }', 400, 'mine:2:11: $.rules[0].on: '],
    ['mine', 'extends: ./package.json', 400, 'mine:1:10: $.extends[0]: expected a scenario: after'],
    ['mine', 'fixture: /etc/passwd', 400, 'the name of a shipped fixture'],
    ['mine', Buffer.from([0x23, 0xff]), 400, 'the body cannot be read'],
  ])('%s is refused with %j', async (name, body, status, why) => {
    const client = await openMock();
    const refused = { status, json: { message: expect.stringContaining(why) } };
    expect(await save(client, encodeURIComponent(name), body)).toMatchObject(refused);
    expect(await listed(client)).toEqual([]);
  });
});
