import { describe, expect, test } from 'vitest';
import { openMock } from '../../helpers/in-process.ts';
import type { RequestParts } from '../../helpers/wire.ts';

type Call = readonly [method: string, path: string, sent?: RequestParts];

/** Every operation, with valid input. */
const CALLS: readonly Call[] = [
  ['GET', '/v1/pets?limit=3&status=available'],
  ['POST', '/v1/pets', { body: { name: 'Rex', categoryId: 7 } }],
  ['GET', '/v1/pets/1'],
  ['GET', '/v1/inventory'],
  ['PATCH', '/v1/inventory/1', { body: { quantity: 9 } }],
  ['GET', '/v1/store/orders'],
  ['DELETE', '/v1/store/orders/1'],
];

const idsIn = (text: string) => [...text.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id));

describe('the service', () => {
  test('lists 20 animals by default, and those of a status', async () => {
    const client = await openMock();
    expect((await client.send('GET', '/v1/pets')).json).toHaveLength(20);
    for (const status of ['available', 'pending', 'sold']) {
      const { text } = await client.send('GET', `/v1/pets?limit=100&status=${status}`);
      const statuses = text.match(/"status":"[^"]*"/g);
      expect(new Set(statuses)).toEqual(new Set([`"status":"${status}"`]));
      expect(statuses).toHaveLength(idsIn(text).length);
    }
  });

  test.each(['id', 'newest', 'shuffled'] as const)(
    'continues after an animal that is gone, with the filter, in the order "%s"',
    async (order) => {
      const client = await openMock({ assume: { 'pets-paging': 'cursor', 'pets-order': order } });
      const all = await client.send('GET', '/v1/pets?limit=100&status=available');
      const ids = idsIn(all.text);
      const first = await client.send('GET', '/v1/pets?limit=5&status=available');
      await client.control(`DELETE animals/${ids[4]}`);
      const [, next = ''] = /^<([^>]*)>; rel="next"$/.exec(String(first.headers.link)) ?? [];
      expect(next).toContain('status=available');
      expect(idsIn((await client.send('GET', next)).text)).toEqual(ids.slice(5, 10));
    },
  );

  test.each([
    ['cursor', 'cursor=x'],
    ['offset', 'offset=-1'],
    ['offset', 'offset=x'],
    ['none', 'limit=1&limit=2'],
  ] as const)('with pets-paging=%s refuses %s', async (paging, query) => {
    const client = await openMock({ assume: { 'pets-paging': paging } });
    expect((await client.send('GET', `/v1/pets?${query}`)).status).toBe(400);
  });

  test('takes a listed key with a tilde as a whole, in any spelling of its header', async () => {
    const client = await openMock({ keys: { valid: ['team~1'], invalid: ['old~1'] } });
    const ask = async (authorization: string) =>
      (await client.send('GET', '/v1/pets/1', { key: null, headers: { authorization } })).text;
    for (const header of ['Bearer team~1', 'bearer team~1', 'BEARER  team~1 ']) {
      expect(await ask(header)).toContain('"id":1,');
    }
    expect(await ask('bearer old~1')).toContain('this key is listed as invalid');
  });

  test('announces the deprecation of getPet on every reply', async () => {
    const client = await openMock();
    for (const [status, path, sent] of [
      [200, '/v1/pets/1', {}],
      [400, '/v1/pets/one', {}],
      [401, '/v1/pets/1', { key: null }],
      [404, '/v1/pets/99', {}],
      [304, '/v1/pets/1', { headers: { Prefer: 'code=304' } }],
      [503, '/v1/pets/1', { headers: { Prefer: 'code=503' } }],
    ] as const) {
      const { headers, ...reply } = await client.send('GET', path, sent);
      expect([reply.status, headers.sunset]).toEqual([status, 'Thu, 05 Dec 2030 00:00:00 GMT']);
    }
  });

  test('answers a forced 409 with the body of a shipped order only where an order is cancelled', async () => {
    const client = await openMock({ assume: { 'conflict-body': 'empty' } });
    for (const [method, path, sent] of CALLS) {
      const headers = { Prefer: 'code=409' };
      const { status, text } = await client.send(method, path, { ...sent, headers });
      const error = '{"code":"other_error","message":"other error","status":409}';
      expect([path, status, text]).toEqual([path, 409, method === 'DELETE' ? '' : error]);
    }
  });

  test.each([
    ['a pending order', 1, 204, 'documented'],
    ['an order without a state', 9, 204, 'documented'],
    ['a shipped order', 2, 409, 'documented'],
    ['an order that does not exist', 15, 404, 'documented'],
    ['a cancelled order', 3, 409, 'assumed;by="cancel-again=409"'],
  ])('cancels %s, %i, or answers %i and changes nothing', async (_, id, status, basis) => {
    const client = await openMock({ assume: { 'order-status-field': 'shown' } });
    const before = await client.send('GET', '/v1/store/orders');
    const reply = await client.send('DELETE', `/v1/store/orders/${id}`);
    expect([reply.status, reply.headers['mock-basis']]).toEqual([status, basis]);
    const after = await client.send('GET', '/v1/store/orders');
    expect(after.text === before.text).toBe(status !== 204);
  });

  test('shows orders as shipped from their ship date on', async () => {
    const assume = { 'order-status-field': 'shown', 'order-shipping': 'at-ship-date' } as const;
    const client = await openMock({ clock: Date.UTC(2040, 0), frozen: true, assume });
    const { json } = await client.send('GET', '/v1/store/orders');
    expect(json).toContainEqual(expect.objectContaining({ id: 1, status: 'shipped' }));
    expect(json).toContainEqual({ id: 9, status: 'pending' });
  });

  test('takes any key if it is to, unless the key is listed as invalid', async () => {
    const client = await openMock({ keys: { any: true, invalid: ['old'] } });
    const statuses = ['anything', 'old', ''].map(
      async (key) => (await client.send('GET', '/v1/pets', { key })).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 401, 401]);
  });

  test('counts the requests of a key by window, and expires each key in its own time', async () => {
    const expiring = (milliseconds: number) => ({ kind: 'after', milliseconds }) as const;
    const expires = new Map([
      ['demo-key', expiring(2000)],
      ['all', expiring(3000)],
    ]);
    const keys = { valid: ['demo-key', 'other'], expires };
    const client = await openMock({ frozen: true, keys, assume: { 'rate-limit': '1/s' } });
    for (const [key, by, status] of [
      ['demo-key', 'PT0S', 200],
      ['demo-key', 'PT0.999S', 429],
      ['demo-key', 'PT0.001S', 200],
      ['demo-key', 'PT1S', 401],
      ['other', 'PT0S', 200],
      // A clock that is moved back opens a new window.
      ['other', '-PT0.5S', 200],
      ['other', 'PT0.5S', 429],
      ['other', 'PT1S', 401],
    ] as const) {
      await client.control('POST clock/advance', { by });
      const reply = await client.send('GET', '/v1/pets', { key });
      expect([key, by, reply.status]).toEqual([key, by, status]);
    }
  });

  test.each([
    ['no header', undefined, 'the Authorization header is missing', ''],
    ['another scheme', 'Basic dXNlcjpw', 'the Authorization scheme is not Bearer', ''],
    ['an empty token', 'Bearer ', 'the token after Bearer is empty', ''],
    ['an unknown key', 'Bearer no-key', 'the key is unknown', ', error="invalid_token"'],
    ['an invalid key', 'Bearer old', 'this key is listed as invalid', ', error="invalid_token"'],
    ['the key of staging', 'Bearer staging-key', 'for staging', ', error="invalid_token"'],
  ])('answers %s with 401 and the reason, and changes nothing', async (...row) => {
    const [, Authorization, reason, error] = row;
    const client = await openMock({ keys: { valid: ['demo-key', 'old'], invalid: ['old'] } });
    const before = await client.control('GET state');
    for (const [method, path, sent] of CALLS) {
      const { json, headers } = await client.send(method, path, {
        ...sent,
        headers: { Authorization },
      });
      const message = expect.stringContaining(reason);
      expect(json).toEqual({ code: 'unauthorized', message, status: 401 });
      expect(headers['www-authenticate']).toBe(`Bearer realm="petstore"${error}`);
      expect(headers['mock-basis']).toBe('documented');
    }
    expect((await client.control('GET state')).text).toBe(before.text);
  });

  test('offers all of it at /~staging, by a key that no other sandbox takes', async () => {
    const client = await openMock();
    for (const [method, path, sent] of CALLS) {
      const { status, headers } = await client.send(method, `/~staging${path}`, {
        ...sent,
        key: 'staging-key',
      });
      expect([status < 300, headers['mock-basis']]).toEqual([true, 'documented']);
    }
    for (const key of ['demo-key', 'demo-read-only-key']) {
      const { status, text } = await client.send('GET', '/~staging/v1/pets', { key });
      expect([status, text]).toEqual([401, expect.stringContaining('staging-key')]);
    }
  });

  test('has no sign of a mock in plain replies, which otherwise equal others', async () => {
    const frozen = { clock: Date.parse('2026-11-21T09:30:00Z'), frozen: true };
    const plain = await openMock({ ...frozen, plain: true });
    const marked = await openMock(frozen);
    const origin = { headers: { Origin: 'https://shop.example' } };
    const calls: readonly Call[] = [
      ...CALLS,
      ['GET', '/v1/pets', { key: null }],
      ['DELETE', '/v1/store/orders/2'],
      ['HEAD', '/v1/pets'],
      ['OPTIONS', '/v1/pets'],
      ['PUT', '/v1/pets'],
      ['GET', '/v1/nothing'],
      ['GET', '/~staging/v1/pets', { key: 'staging-key' }],
      ['POST', '/v1/pets', { body: 'no JSON' }],
    ];
    for (const call of calls) {
      const { headers, ...rest } = await marked.send(...call);
      const { 'mock-basis': _basis, ...others } = headers;
      const reply = await plain.send(...call);
      expect(reply).toEqual({ ...rest, headers: others });
      expect(JSON.stringify([reply.headers, reply.text])).not.toMatch(/mock/i);
    }
    const { headers } = await plain.send('GET', '/v1/pets', origin);
    expect(JSON.stringify(headers)).not.toMatch(/mock/i);
  });
});
