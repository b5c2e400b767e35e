import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serverFor } from '../helpers/deployment.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { describeServer } from '../helpers/wire.ts';

const folder = temporaryFolder();

describeServer('scenarios in the control API', (open) => {
  test('shipped scenarios are listed, chosen by name and combined', async () => {
    const { send } = await open();
    const shipped = Object((await send('GET', '/__mock/scenarios')).json);
    expect(shipped).toContainEqual({
      name: 'shipped-orders',
      description: expect.stringMatching(/./),
      shipped: true,
      own: false,
    });
    const body = { scenarios: ['shipped-orders', 'conflict-without-body'] };
    const reply = await send('PUT', '/__mock/scenario', { body });
    expect(reply).toMatchObject({
      status: 200,
      json: { scenarios: [{ name: 'shipped-orders' }, { name: 'conflict-without-body' }] },
    });
    expect(await send('DELETE', '/v1/store/orders/1')).toMatchObject({ status: 409, text: '' });
    await send('PUT', '/__mock/scenario', { body: { scenarios: [] } });
    expect(await send('DELETE', '/v1/store/orders/1')).toMatchObject({ status: 204 });
    expect((await send('GET', '/__mock/scenario')).json).toEqual({ scenarios: [] });
  });

  test('a scenario in the request forces a reply and counts its calls', async () => {
    const { send } = await open();
    const rules = [
      { on: 'getPet', calls: '1-2', reply: { status: 503 } },
      { on: 'listPets', hold: 'lists' },
    ];
    const body = { scenarios: ['sold-out'], scenario: { description: 'Down.', rules } };
    expect(await send('PUT', '/__mock/scenario', { body })).toMatchObject({ status: 200 });
    const forced = await send('GET', '/v1/pets/1');
    expect(forced.headers['mock-basis']).toBe('forced;by="request#1"');
    const { json } = await send('GET', '/__mock/scenario');
    expect(json).toMatchObject({
      scenarios: [
        { name: 'sold-out' },
        {
          name: 'request',
          description: 'Down.',
          rules: [
            { number: 1, on: ['getPet'], status: 503, calls: 1 },
            { number: 2, on: ['listPets'], hold: 'lists' },
          ],
        },
      ],
    });
  });

  test('changed records stay if no scenario defines records', async () => {
    const { send } = await open();
    await send('PATCH', '/__mock/animals/1', { body: { name: 'Changed' } });
    const name = async () => Object((await send('GET', '/__mock/animals/1')).json).name;
    await send('PUT', '/__mock/scenario', { body: { scenarios: ['slow'] } });
    expect(await name()).toBe('Changed');
    await send('PUT', '/__mock/scenario', { body: { scenarios: ['shipped-orders'] } });
    expect(await name()).not.toBe('Changed');
  });
});

describeServer('assumptions in the control API', (open) => {
  test('options apply from the next request on', async () => {
    const { send } = await open();
    const body = { 'unknown-method': '404', 'invalid-input': 422 };
    const reply = await send('PATCH', '/__mock/assumptions', { body });
    const changed = Object(reply.json).filter(
      (it: { chosen: string; default: string }) => it.chosen !== it.default,
    );
    expect(changed).toMatchObject([
      { id: 'invalid-input', chosen: '422' },
      { id: 'unknown-method' },
    ]);
    expect(await send('GET', '/v1/pets/x')).toMatchObject({ status: 422 });
    expect((await send('GET', '/__mock/assumptions')).json).toEqual(reply.json);
  });

  test('what a check of a deployment found out stands beside them, in every sandbox', async () => {
    const found = { deployment: 'https://staging.example/v1', at: '2026-11-22T09:00:00.000Z' };
    const verdict = { verdict: 'settled', option: '404', why: 'DELETE' } as const;
    const checked = { ...found, assumptions: [{ id: 'cancel-again', ...verdict } as const] };
    const { send } = await open({ checked });
    const { json } = await send('PATCH', '/~a/__mock/assumptions', {
      body: { 'cancel-again': '404' },
    });
    const told = Object(json).filter((it: object) => 'checked' in it);
    expect(told).toMatchObject([{ id: 'cancel-again', checked: { ...found, ...verdict } }]);
  });
});

test('scenarios from the start and from a request are listed, and can be turned off and on', async () => {
  writeFileSync(join(folder, 'base.yaml'), 'state: { orders: { remove: all } }\n');
  const file = join(folder, 'mine.yaml');
  writeFileSync(file, 'description: Mine.\nextends: [base.yaml]\nassume: { unknown-pet: "400" }\n');
  const server = await serverFor({ scenarios: [file, 'slow'] });
  const control = `${new URL(server.url).origin}/__mock`;
  const active = async () => {
    const all: { name: string; active?: number; shipped: boolean }[] = Object(
      await (await fetch(`${control}/scenarios`)).json(),
    );
    return all
      .filter((it) => it.active !== undefined || !it.shipped)
      .map((it) => `${it.active ?? '-'} ${it.name}`)
      .sort();
  };
  const use = async (body: object) => {
    const headers = { 'Content-Type': 'application/json' };
    const init = { method: 'PUT', headers, body: JSON.stringify(body) };
    expect((await fetch(`${control}/scenario`, init)).status).toBe(200);
  };
  const pet = async () =>
    (await fetch(`${server.url}/pets/9999`, { headers: { Authorization: 'Bearer demo-key' } }))
      .status;
  expect(await active()).toEqual(['1 base', '2 mine', '3 slow']);
  await use({ scenarios: [], scenario: { rules: [{ on: 'getPet', reply: { status: 418 } }] } });
  expect(await active()).toEqual(['- base', '- mine', '1 request']);
  await use({ scenarios: ['request', 'mine'] });
  expect(await active()).toEqual(['1 request', '2 base', '3 mine']);
  expect(await pet()).toBe(418);
  await use({ scenarios: ['mine'] });
  expect(await active()).toEqual(['1 base', '2 mine']);
  expect(await pet()).toBe(400);
});

describeServer('the clock in the control API', (open) => {
  test('can be set, frozen, moved both ways and returned to the system time', async () => {
    const { send } = await open();
    expect((await send('GET', '/__mock/clock')).json).toMatchObject({ frozen: false, real: true });
    const body = { now: '2030-12-06T02:00:00+02:00', frozen: true };
    const set = { now: '2030-12-06T00:00:00.000Z', frozen: true, real: false };
    expect((await send('PUT', '/__mock/clock', { body })).json).toEqual(set);
    const advance = (by: string) => send('POST', '/__mock/clock/advance', { body: { by } });
    expect((await advance('P30D')).json).toEqual({ ...set, now: '2031-01-05T00:00:00.000Z' });
    const back = await advance('-P30D');
    expect(back.json).toEqual(set);
    expect((await send('GET', '/v1/pets/1')).headers.date).toBe('Fri, 06 Dec 2030 00:00:00 GMT');
    const running = await send('PUT', '/__mock/clock', { body: { frozen: false } });
    expect(running.json).toMatchObject({ frozen: false, real: false });
    const real = await send('PUT', '/__mock/clock', { body: { real: true } });
    expect(real.json).toMatchObject({ frozen: false, real: true });
  });
});
