import express from 'express';
import request from 'supertest';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Alternative } from '../../../src/core/control/journal/time-travel-endpoints.ts';
import { createApp } from '../../../src/index.ts';
import { NODE_PLATFORM } from '../../../src/server/node-platform.ts';
import { openMock } from '../../helpers/in-process.ts';
import type { Client, RequestParts } from '../../helpers/wire.ts';

const NEW_YEAR = '2030-01-01T00:00:00.000Z';
const FROZEN = { clock: Date.parse(NEW_YEAR), frozen: true };

/** Calls the control API, which must do it. Returns the JSON of its reply. */
async function control(client: Client, call: string, body?: object) {
  const { status, json, text } = await client.control(call, body);
  if (status >= 400) throw new Error(`${call}: ${text}`);
  return Object(json);
}

async function statusOf({ send }: Client, method: string, path: string, sent?: RequestParts) {
  return (await send(method, `/v1${path}`, sent)).status;
}

/** The options that would have changed the reply of an exchange, with their statuses. */
async function alternativesOf(client: Client, number: number): Promise<Record<string, unknown>> {
  const list: Alternative[] = await control(client, `GET requests/${number}/alternatives`);
  return Object.fromEntries(
    list.map(({ assumption, option, status }) => [`${assumption}=${option}`, status]),
  );
}

/** A reply without what depends on the time or says how the mock came to it. */
function shown({ headers, ...reply }: { readonly headers: Readonly<Record<string, string>> }) {
  const { date, 'mock-basis': basis, ...others } = headers;
  return { ...reply, others };
}

test('alternatives are looked for only as long as the client waits', async () => {
  const leaving = await openMock(FROZEN, (act) => {
    act();
    return () => {};
  });
  expect(await statusOf(leaving, 'GET', '/pets/999999')).toBe(404);
  expect(await control(leaving, 'GET requests/1/alternatives')).toEqual([]);
  const staying = await openMock(FROZEN);
  expect(await statusOf(staying, 'GET', '/pets/999999')).toBe(404);
  expect(await control(staying, 'GET requests/1/alternatives')).not.toEqual([]);
});

test('nobody listens for a client that leaves once its alternatives are found, or are not', async () => {
  let listening = 0;
  const client = await openMock(FROZEN, () => {
    listening += 1;
    return () => {
      listening -= 1;
    };
  });
  expect(await statusOf(client, 'GET', '/pets/999999')).toBe(404);
  expect(await control(client, 'GET requests/1/alternatives')).not.toEqual([]);
  expect(listening).toBe(0);
  const pause = vi.spyOn(NODE_PLATFORM, 'pause').mockRejectedValueOnce(new Error('no pause'));
  onTestFinished(() => pause.mockRestore());
  await expect(client.control('GET requests/1/alternatives')).rejects.toThrow('no pause');
  expect(listening).toBe(0);
});

test.each(['', '/mock', '/v1/mock', '/v1/~a'])(
  'a call under the mount %j becomes a rule, and is replayed, as under none',
  async (mount) => {
    const outer = express();
    outer.use(mount, createApp());
    const control = `${mount}/~b/__mock/requests/1`;
    await request(outer).get(`${mount}/~b/v1/pets/999`).auth('demo-key', { type: 'bearer' });
    const { text } = await request(outer).get(`${control}/rule`).expect(200);
    expect(text).toContain('on: getPet\n    where: {"petId":999}\n');
    await request(outer).post(`${control}/replay`).expect(200, { number: 2 });
  },
);

describe('time travel in the control API', () => {
  test('undoes a setting without what calls did since', async () => {
    const client = await openMock(FROZEN);
    const scenario = { rules: [{ on: 'getPet', calls: 1, reply: { status: 503 } }] };
    await control(client, 'PUT scenario', { scenario });
    await control(client, 'PATCH assumptions', { 'rate-limit': '2/m' });
    const pet = () => statusOf(client, 'GET', '/pets/1');
    const stock = { body: { quantity: 77 } };
    expect(await statusOf(client, 'PATCH', '/inventory/1', stock)).toBe(200);
    expect([await pet(), await pet(), await pet()]).toEqual([503, 200, 429]);
    await control(client, 'POST snapshots', { name: 'later' });
    expect(await control(client, 'POST undo')).toMatchObject({ laterCalls: 0 });
    expect(await pet()).toBe(429);
    await control(client, 'POST undo');
    expect([await pet(), await control(client, 'GET inventory/1')]).toMatchObject([
      200,
      { quantity: 77 },
    ]);
  });

  test.each([
    ['PUT scenario', { scenarios: [] }],
    ['PATCH assumptions', { 'unknown-pet': '400' }],
    ['POST reset', { keep: ['scenario', 'own-scenarios'] }],
    ['POST reset', {}],
    ['DELETE animals/5', undefined],
  ])('an undo right after %s %j gives back the counts of rules and rates', async (change, body) => {
    const client = await openMock(FROZEN);
    const rules = [{ on: 'listPets', calls: '1-2', reply: { status: 503 } }];
    await control(client, 'PUT scenario', { scenario: { rules } });
    await control(client, 'PATCH assumptions', { 'rate-limit': '2/m' });
    const list = () => statusOf(client, 'GET', '/pets');
    expect([await list(), await list(), await list()]).toEqual([503, 503, 200]);
    await control(client, change, body);
    await control(client, 'POST undo');
    expect([await list(), await list()]).toEqual([200, 429]);
  });

  test('an undo gives back the count of one rule, and leaves what calls have counted for another', async () => {
    const client = await openMock(FROZEN);
    const fails = (on: string, status: number) => ({
      rules: [{ on, calls: 1, reply: { status } }],
    });
    await control(client, 'PUT scenarios/a', fails('listPets', 503));
    await control(client, 'PUT scenarios/b', fails('getPet', 500));
    await control(client, 'PUT scenario', { scenarios: ['a', 'b'] });
    const list = () => statusOf(client, 'GET', '/pets');
    const pet = () => statusOf(client, 'GET', '/pets/1');
    expect([await list(), await list()]).toEqual([503, 200]);
    await control(client, 'PUT scenario', { scenarios: ['b'] });
    expect(await pet()).toBe(500);
    await control(client, 'POST undo');
    expect([await list(), await pet()]).toEqual([200, 200]);
  });

  test('an undo of records leaves counts that later calls have made', async () => {
    const client = await openMock(FROZEN);
    const rules = [{ on: 'getPet', calls: 1, reply: { status: 503 } }];
    await control(client, 'PUT scenario', { scenario: { rules } });
    await control(client, 'PATCH assumptions', { 'rate-limit': '1/m' });
    await control(client, 'PATCH state', { orders: [{ id: 1, status: 'shipped' }] });
    const pet = () => statusOf(client, 'GET', '/pets/1');
    expect([await pet(), await pet()]).toEqual([503, 200]);
    expect(await control(client, 'POST undo')).toEqual({ what: 'merged records', laterCalls: 0 });
    expect(await pet()).toBe(429);
  });

  test('no retry is pointless after an undo, as after any change', async () => {
    const client = await openMock(FROZEN);
    await control(client, 'PUT clock', { now: '2030-01-02T00:00:00Z' });
    const cancel = () => statusOf(client, 'DELETE', '/store/orders/2');
    expect([await cancel(), await control(client, 'POST undo'), await cancel()]).toMatchObject([
      409,
      { laterCalls: 0 },
      409,
    ]);
    expect(await control(client, 'GET findings')).toMatchObject({ findings: [] });
  });

  test('rewinds the clock and the counters of rules too, but not the journal', async () => {
    const client = await openMock(FROZEN);
    const scenario = { rules: [{ on: 'getPet', calls: 1, reply: { status: 503 } }] };
    await control(client, 'PUT scenario', { scenario });
    expect(await statusOf(client, 'GET', '/pets/1')).toBe(503);
    await control(client, 'POST clock/advance', { by: 'P30D' });
    expect(await statusOf(client, 'GET', '/pets/1')).toBe(200);
    await control(client, 'POST requests/1/rewind');
    expect(await control(client, 'GET status')).toMatchObject({
      clock: { now: NEW_YEAR },
      latestExchange: 2,
    });
    expect(await statusOf(client, 'GET', '/pets/1')).toBe(503);
    await control(client, 'POST requests/1/rewind', { to: 'after' });
    expect(await statusOf(client, 'GET', '/pets/1')).toBe(200);
    const { edits } = await control(client, 'GET requests?edits=true');
    expect(edits.at(-1)).toMatchObject({ what: 'rewound to after call 1', after: 3 });
  });

  test('undoes one change after another, but nothing before a reset', async () => {
    const client = await openMock();
    const start = await control(client, 'GET state');
    const nothing = { status: 409, json: { code: 'nothing_to_undo' } };
    expect(await client.control('POST undo')).toMatchObject(nothing);
    await control(client, 'DELETE animals/5');
    await client.send('DELETE', '/v1/store/orders/1');
    await control(client, 'PATCH assumptions', { 'unknown-pet': '400' });
    await client.send('POST', '/v1/pets', { body: { name: 'Rex', categoryId: 1 } });
    await client.send('GET', '/v1/pets');
    // Undone, a setting leaves the records as later calls have made them.
    for (const [laterCalls, statuses] of [
      [0, [200, 404]],
      [2, [404, 200]],
    ]) {
      expect(await control(client, 'POST undo')).toMatchObject({ laterCalls });
      const found = [65, 5].map((id) => statusOf(client, 'GET', `/pets/${id}`));
      expect(await Promise.all(found)).toEqual(statuses);
    }
    expect(await control(client, 'GET state')).toEqual(start);
    const { edits } = await control(client, 'GET requests?edits=true');
    expect(edits).toMatchObject([
      { number: 1, what: 'removed animal 5', after: 0, isUndone: true },
      { number: 2, after: 1, isUndone: true },
      { number: 3, what: expect.stringMatching(/^undid: /), after: 3, isUndone: true },
      { number: 4, what: 'undid: removed animal 5', after: 5, isUndone: true },
    ]);
    await control(client, 'POST reset', { keep: ['scenario', 'own-scenarios', 'journal'] });
    const what = 'reset store, assumptions and clock';
    expect(await control(client, 'POST undo')).toEqual({ what, laterCalls: 0 });
    await control(client, 'DELETE animals/5');
    await control(client, 'POST reset');
    expect(await control(client, 'POST undo')).toEqual({ what: 'reset', laterCalls: 0 });
    expect(await client.control('POST undo')).toMatchObject(nothing);
  });

  const LATCH = { on: 'getPet', hold: 'late' };
  test.each<[change: string, body: object | undefined, before?: [call: string, body?: object]]>([
    ['PATCH assumptions', {}],
    [
      'PATCH assumptions',
      { 'unknown-pet': '400' },
      ['PATCH assumptions', { 'unknown-pet': '400' }],
    ],
    ['PUT scenario', { scenarios: [] }],
    ['PUT scenario', { scenarios: ['slow'] }, ['PUT scenario', { scenarios: ['slow'] }]],
    ['PUT clock', { real: true }],
    ['PUT clock', { frozen: false }],
    ['PUT clock', { frozen: true }, ['PUT clock', { frozen: true }]],
    ['POST clock/advance', { by: 'PT0S' }, ['PUT clock', { frozen: true }]],
    ['POST holds/release', { open: true }],
    ['POST holds/release', { open: true, name: 'other' }, ['POST holds', LATCH]],
    ['PATCH state', {}],
    [
      'PATCH state',
      { orders: { remove: [999] }, animals: { each: [{ name: 'A' }] } },
      ['PATCH state', { animals: { each: [{ name: 'A' }] } }],
    ],
    ['PATCH state', { orders: [{ id: 1, quantity: 7 }] }, ['PATCH orders/1', { quantity: 7 }]],
    [
      'PUT inventory/1',
      { quantity: 7, status: 'low' },
      ['PUT inventory/1', { quantity: 7, status: 'low' }],
    ],
    ['POST snapshots/now/restore', undefined, ['POST snapshots', { name: 'now' }]],
  ])('%s with %j is no change where it changes nothing', async (change, body, before) => {
    const client = await openMock();
    if (before !== undefined) await control(client, ...before);
    const { edits } = await control(client, 'GET requests?edits=true');
    await control(client, change, body);
    expect(await control(client, 'GET requests?edits=true')).toMatchObject({ edits });
  });

  test('asks again under each other option, in the same state and at the same instant', async () => {
    const client = await openMock({ clock: Date.parse('2030-12-04T00:00:00Z') });
    await client.send('DELETE', '/v1/store/orders/1');
    await client.send('DELETE', '/v1/store/orders/1');
    await client.send('GET', '/v1/pets/1');
    await control(client, 'POST clock/advance', { by: 'P30D' });
    await client.send('GET', '/v1/pets/1');
    await control(client, 'PUT state', {});
    await control(client, 'PUT clock', { real: true });
    const cancelled = await control(client, 'GET requests/2/alternatives');
    const [first] = cancelled;
    expect(first).toMatchObject({
      assumption: 'cancel-again',
      meaning: expect.any(String),
      basis: 'assumed',
      by: [`cancel-again=${first.option}`],
    });
    expect(await alternativesOf(client, 2)).toMatchObject({
      'cancel-again=404': 404,
      'cancel-again=204': 204,
    });
    const { status, reply: got } = await control(client, 'GET requests/2');
    expect(status).toBe(409);
    expect(await alternativesOf(client, 3)).not.toHaveProperty('after-sunset=410');
    expect(await alternativesOf(client, 4)).toMatchObject({ 'after-sunset=410': 410 });

    // Each of them is what the same call gets under that option, and no other reply.
    for (const { assumption, option, status: expected, body } of cancelled) {
      await control(client, 'POST requests/2/rewind');
      await control(client, 'PATCH assumptions', { [assumption]: option });
      const { number } = await control(client, 'POST requests/2/replay');
      const again = await control(client, `GET requests/${number}`);
      expect(again).toMatchObject({ replays: 2, status: expected, reply: body ? { body } : {} });
      expect(shown({ ...again.reply, status: again.status })).not.toEqual(
        shown({ ...got, status }),
      );
    }
  });

  test('asks again about a reply whose body was dropped', async () => {
    const client = await openMock();
    await control(client, 'PUT scenario', { scenario: { generate: { animals: 8_000 } } });
    await client.send('GET', '/v1/inventory');
    expect(await control(client, 'GET requests/1')).toMatchObject({ reply: { cut: true } });
    expect(await alternativesOf(client, 1)).toMatchObject({ 'json-charset=utf-8': 200 });
  });

  test('replays the exact bytes with the same key, and marks the new exchange', async () => {
    const client = await openMock({ keys: { valid: ['demo-key', 'second-key'] } });
    const body = Buffer.from('{ "name":\t"Zoë",\n"categoryId": 9007199254740993 }');
    await client.send('POST', '/v1/pets', { body, key: 'second-key' });
    await client.send('GET', '/v1/pets/65', { key: 'wrong-key' });
    expect(await control(client, 'POST requests/1/replay')).toEqual({ number: 3 });
    expect(await control(client, 'POST requests/2/replay')).toEqual({ number: 4 });
    const { exchanges } = await control(client, 'GET requests');
    expect(exchanges.map((it: { status: number }) => it.status)).toEqual([201, 401, 201, 401]);
    expect(exchanges[2]).toMatchObject({ replays: 1, key: 'seco…', reply: { body: { id: 66 } } });
    const { log } = await control(client, 'GET requests.har');
    expect(log.entries[2].request.postData.text).toBe(body.toString());
    expect(exchanges[2].request).toEqual(exchanges[0].request);
  });

  test('replays no call that was refused before it reached an operation', async () => {
    const client = await openMock({ sandboxRequired: true });
    expect(await statusOf(client, 'DELETE', '/store/orders/1')).toBe(400);
    const refused = await client.control('POST requests/1/replay');
    expect(refused).toMatchObject({ status: 409, json: { code: 'not_replayable' } });
    expect(await alternativesOf(client, 1)).toEqual({});
    expect(await control(client, 'GET orders/1')).toMatchObject({ status: 'pending' });
  });

  test('replays a call whose reply is held back, and holds nothing', async () => {
    const client = await openMock();
    await control(client, 'POST holds', { on: 'getPet', hold: 'late' });
    const held = client.send('GET', '/v1/pets/1');
    await control(client, 'POST requests/count', { atLeast: 1 });
    expect(await control(client, 'POST requests/1/replay')).toEqual({ number: 2 });
    expect(await control(client, 'GET requests/2')).toMatchObject({ hold: { ended: 'left' } });
    const { released, held: left } = await control(client, 'POST holds/release', {});
    expect([released.length, left, (await held).status]).toEqual([1, 0, 200]);
  });

  test('asks again with the preference of the request', async () => {
    const client = await openMock();
    const before = await control(client, 'GET state');
    await client.send('DELETE', '/v1/store/orders/1', { headers: { Prefer: 'code=409' } });
    const statuses = Object.values(await alternativesOf(client, 1));
    expect(statuses.filter((status) => status !== 409)).toEqual([]);
    await control(client, 'POST requests/1/replay');
    expect(await control(client, 'GET requests/2')).toMatchObject({ status: 409, replays: 1 });
    expect(await control(client, 'GET state')).toEqual(before);
  });

  test.each<[string, string, RequestParts?]>([
    ['DELETE', '/store/orders/2'],
    ['GET', '/pets/99'],
    ['GET', '/pets/abc', { key: 'wrong-key' }],
    ['HEAD', '/pets/1'],
    ['GET', '/pets?status=sold&limit=2'],
    ['GET', '/inventory', { headers: { Prefer: 'scenario=outage' } }],
    [
      'DELETE',
      '/store/orders/1',
      { headers: { Prefer: 'scenario=conflict-without-body, code=409' } },
    ],
    ['POST', '/pets', { body: { name: 1 } }],
    ['POST', '/pets', { body: { name: 'Rex', categoryId: 9007199254740993n } }],
  ])('writes a rule that gives %s %s the same reply', async (method, path, sent = {}) => {
    const client = await openMock({ ...FROZEN, assume: { 'conflict-body': 'empty' } });
    const first = await client.send(method, `/v1${path}`, sent);
    const { text } = await client.control('GET requests/1/rule');
    await control(client, 'POST requests/1/rewind');
    await control(client, 'PUT scenario', { text });
    const again = await client.send(method, `/v1${path}`, { ...sent, headers: {} });
    const { 'preference-applied': _, ...headers } = first.headers;
    const basis = 'forced;by="request#1"';
    expect(again).toEqual({ ...first, headers: { ...headers, 'mock-basis': basis } });
  });

  test('writes a rule with the headers of a reply that a rule made', async () => {
    const client = await openMock(FROZEN);
    const headers = { Location: '/v2', ETag: '"1"', 'X-Trace': 'a' };
    const rules = [{ on: 'listPets', reply: { status: 302, headers } }];
    await control(client, 'PUT scenario', { scenario: { rules } });
    await client.send('GET', '/v1/pets', { headers: { Origin: 'http://a' } });
    const { text } = await client.control('GET requests/1/rule');
    expect(text).toContain(`reply: ${JSON.stringify({ status: 302, headers })}`);
  });

  test.each([
    'reset',
    'truncate',
    'malformed-json',
    'html',
    { kind: 'slow-body', chunks: 3, over: 9 },
  ])('writes a rule with the fault %o', async (fault) => {
    const client = await openMock(FROZEN);
    const rule = { on: 'cancelOrder', where: { orderId: 2 }, fault };
    await control(client, 'PUT scenario', { scenario: { rules: [{ ...rule, delay: 1 }] } });
    await client.send('DELETE', '/v1/store/orders/2').catch(() => {});
    const { text } = await client.control('GET requests/1/rule');
    await control(client, 'PUT scenario', { text });
    await client.send('DELETE', '/v1/store/orders/2').catch(() => {});
    const [first, second] = (await control(client, 'GET requests')).exchanges;
    expect({ ...second, number: 1, by: first.by, why: first.why }).toEqual({
      ...first,
      duration: expect.any(Number),
      findings: expect.any(Array),
    });
  });

  test('keeps bodies of 256 KiB', async () => {
    const client = await openMock();
    const create = (length: number) =>
      client.send('POST', '/v1/pets', { body: '{"name":"Rex","categoryId":1}'.padEnd(length) });
    await create(256 * 1024 + 1);
    expect(await control(client, 'GET requests/1')).toMatchObject({
      status: 201,
      request: { cut: true, size: 256 * 1024 + 1 },
    });
    for (const call of ['POST requests/1/replay', 'GET requests/1/alternatives']) {
      const { status, json } = await client.control(call);
      expect([status, json]).toMatchObject([409, { code: 'body_dropped' }]);
    }
    // The states stay.
    expect((await client.control('POST requests/1/rewind')).status).toBe(204);
  });
});
