import { expect, test } from 'vitest';
import { describeBothWays, type RequestParts } from '../helpers/wire.ts';

const REX = { name: 'Rex', categoryId: 7 };

type Call = readonly [method: string, path: string, sent?: RequestParts];

/** Every operation, with valid input. */
const CALLS: readonly Call[] = [
  ['GET', '/v1/pets?limit=3&status=available'],
  ['POST', '/v1/pets', { body: REX }],
  ['GET', '/v1/pets/1'],
  ['GET', '/v1/inventory'],
  ['PATCH', '/v1/inventory/1', { body: { quantity: 9 } }],
  ['GET', '/v1/store/orders'],
  ['DELETE', '/v1/store/orders/1'],
];

describeBothWays('the service', (open) => {
  test('shows what was created and updated', async () => {
    const client = await open();
    const created = await client.send('POST', '/v1/pets', { body: { ...REX, status: 'sold' } });
    expect(created.json).toEqual({ id: 65, ...REX, status: 'sold' });
    expect((await client.send('GET', '/v1/pets/65')).text).toBe(created.text);
    expect((await client.send('GET', '/v1/pets?limit=100')).json).toContainEqual(created.json);

    const updated = await client.send('PATCH', '/v1/inventory/1', { body: { quantity: 0 } });
    expect(updated.json).toMatchObject({ petId: 1, quantity: 0 });
    expect((await client.send('GET', '/v1/inventory')).json).toContainEqual(updated.json);
  });

  test('lists 20 animals by default, 1 to 100 on request, and those of a status', async () => {
    const client = await open();
    const listed = async (query: string): Promise<unknown[]> => {
      const { json } = await client.send('GET', `/v1/pets${query}`);
      return Array.isArray(json) ? json : [];
    };
    const lengths = await Promise.all(['', '?limit=1', '?limit=100'].map(listed));
    expect(lengths.map(({ length }) => length)).toEqual([20, 1, 64]);
    for (const status of ['available', 'pending', 'sold']) {
      const animals = await listed(`?limit=100&status=${status}`);
      expect(animals).not.toHaveLength(0);
      for (const animal of animals) expect(animal).toMatchObject({ status });
    }
  });

  test.each(['id', 'newest', 'shuffled'] as const)(
    'continues after an animal that is gone, with the filter, in the order "%s"',
    async (order) => {
      const client = await open({ assume: { 'pets-paging': 'cursor', 'pets-order': order } });
      const all = await client.send('GET', '/v1/pets?limit=100&status=available');
      const ids = Object(all.json).map(({ id }: { id: number }) => id);
      const first = await client.send('GET', '/v1/pets?limit=5&status=available');
      await client.control(`DELETE animals/${ids[4]}`);
      const [, next = ''] = /^<([^>]*)>; rel="next"$/.exec(String(first.headers.link)) ?? [];
      expect(next).toContain('status=available');
      const second = await client.send('GET', next);
      expect(Object(second.json).map(({ id }: { id: number }) => id)).toEqual(ids.slice(5, 10));
    },
  );

  test('takes a listed key with a tilde as a whole, in any spelling of its header', async () => {
    const client = await open({ keys: { valid: ['team~1'], invalid: ['old~1'] } });
    const ask = async (authorization: string) =>
      (await client.send('GET', '/v1/pets/1', { key: null, headers: { authorization } })).text;
    const right = await ask('Bearer team~1');
    expect(right).toContain('"id":1,');
    for (const header of ['bearer team~1', 'Bearer  team~1', 'BEARER team~1 ']) {
      expect(await ask(header)).toBe(right);
    }
    expect(await ask('bearer old~1')).toContain('this key is listed as invalid');
  });

  test('announces the deprecation of getPet on every reply', async () => {
    const client = await open();
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

  test.each([
    ['a pending order', 1, 204, 'documented'],
    ['an order without a state', 9, 204, 'documented'],
    ['a shipped order', 2, 409, 'documented'],
    ['an order that does not exist', 15, 404, 'documented'],
    ['a cancelled order', 3, 409, 'assumed;by="cancel-again=409"'],
  ])('cancels %s, %i, or answers %i and changes nothing', async (_, id, status, basis) => {
    const client = await open({ assume: { 'order-status-field': 'shown' } });
    const before = await client.send('GET', '/v1/store/orders');
    const reply = await client.send('DELETE', `/v1/store/orders/${id}`);
    expect([reply.status, reply.headers['mock-basis']]).toEqual([status, basis]);
    const after = await client.send('GET', '/v1/store/orders');
    expect(after.text === before.text).toBe(status !== 204);
  });

  test('pages shuffled animals by cursor, and refuses what is no cursor or offset', async () => {
    const shuffled = await open({ assume: { 'pets-paging': 'cursor', 'pets-order': 'shuffled' } });
    const first = await shuffled.send('GET', '/v1/pets?limit=60');
    const [, next = ''] = /^<(.*)>; rel="next"$/.exec(String(first.headers.link)) ?? [];
    const last = await shuffled.send('GET', next);
    const shown = [first, last].flatMap(({ text }) => text.match(/"id":\d+/g));
    expect([shown.length, new Set(shown).size, last.headers.link]).toEqual([64, 64, undefined]);
    const paged = await open({ assume: { 'pets-paging': 'offset' } });
    expect([
      (await shuffled.send('GET', '/v1/pets?cursor=x')).status,
      (await paged.send('GET', '/v1/pets?offset=-1')).status,
    ]).toEqual([400, 400]);
  });

  test('shows orders as shipped from their ship date on', async () => {
    const assume = { 'order-status-field': 'shown', 'order-shipping': 'at-ship-date' } as const;
    const client = await open({ clock: Date.UTC(2040, 0), frozen: true, assume });
    const { json } = await client.send('GET', '/v1/store/orders');
    expect(json).toContainEqual(expect.objectContaining({ id: 1, status: 'shipped' }));
    expect(json).toContainEqual({ id: 9, status: 'pending' });
  });
});

const BASIC = `Basic ${Buffer.from('user:password').toString('base64')}`;

describeBothWays('a key', (open) => {
  test.each([
    ['a missing header', undefined, 'the Authorization header is missing', ''],
    ['another scheme', BASIC, 'the Authorization scheme is not Bearer', ''],
    ['an empty token', 'Bearer ', 'the token after Bearer is empty', ''],
    ['an unknown key', 'Bearer no-key', 'the key is unknown', ', error="invalid_token"'],
    ['a key listed as invalid', 'Bearer old', 'listed as invalid', ', error="invalid_token"'],
  ])('%s is answered with 401 and the reason', async (_case, authorization, reason, error) => {
    const client = await open({ keys: { valid: ['demo-key', 'old'], invalid: ['old'] } });

    for (const [method, path, sent] of CALLS) {
      const headers = { Authorization: authorization };
      const reply = await client.send(method, path, { ...sent, headers });
      expect(reply).toMatchObject({ status: 401, json: { code: 'unauthorized', status: 401 } });
      expect(reply.json).toHaveProperty('message', expect.stringContaining(reason));
      expect(reply.headers['www-authenticate']).toBe(`Bearer realm="petstore"${error}`);
      expect(reply.headers['mock-basis']).toBe('documented');
    }
  });

  test('changes nothing if it is refused', async () => {
    const client = await open();
    const paths = ['/v1/pets?limit=100', '/v1/inventory', '/v1/store/orders'];
    const state = async () =>
      Promise.all(paths.map(async (path) => (await client.send('GET', path)).text));
    const before = await state();
    for (const [method, path, sent] of CALLS) {
      expect((await client.send(method, path, { ...sent, key: null })).status).toBe(401);
    }

    expect(await state()).toEqual(before);
  });

  test('is accepted with any spelling of the scheme', async () => {
    const client = await open();

    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const headers = { Authorization: `${scheme} demo-key` };
      expect((await client.send('GET', '/v1/pets', { headers })).status).toBe(200);
    }
  });

  test('of any kind works if every key is accepted, unless it is listed as invalid', async () => {
    const client = await open({ keys: { any: true, invalid: ['old'] } });

    expect((await client.send('GET', '/v1/pets', { key: 'anything' })).status).toBe(200);
    expect((await client.send('GET', '/v1/pets', { key: 'old' })).status).toBe(401);
    expect((await client.send('GET', '/v1/pets', { key: '' })).status).toBe(401);
  });
});

describeBothWays('staging', (open) => {
  const STAGING: RequestParts = { key: 'staging-key' };

  test('offers the whole service with its own key', async () => {
    const client = await open();
    for (const path of ['/pets', '/pets/1', '/inventory', '/store/orders']) {
      const reply = await client.send('GET', `/~staging/v1${path}`, STAGING);
      expect(reply.status).toBe(200);
      expect(reply.headers['mock-basis']).toBe('documented');
    }
  });

  test("and the default deployment refuse each other's keys", async () => {
    const client = await open();

    for (const reply of [
      await client.send('GET', '/v1/pets', STAGING),
      await client.send('GET', '/~staging/v1/pets'),
      await client.send('GET', '/~staging/v1/pets', { key: 'demo-read-only-key' }),
    ]) {
      expect(reply).toMatchObject({
        status: 401,
        json: { code: 'unauthorized', message: expect.stringContaining('staging') },
      });
      expect(reply.headers['mock-basis']).toBe('documented');
    }
  });
});

describeBothWays('plain replies', (open) => {
  test('lack Mock-Basis and any other sign of a mock, and otherwise equal other replies', async () => {
    const frozen = { clock: Date.parse('2026-11-21T09:30:00Z'), frozen: true };
    const plain = await open({ ...frozen, plain: true });
    const marked = await open(frozen);
    const calls: readonly Call[] = [
      ...CALLS,
      ['GET', '/v1/pets', { key: null }],
      ['DELETE', '/v1/store/orders/2'],
      ['DELETE', '/v1/store/orders/999'],
      ['GET', '/v1/pets/abc'],
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
    const crossOrigin = { headers: { Origin: 'https://shop.example' } };
    const { headers } = await plain.send('GET', '/v1/pets', crossOrigin);
    expect(JSON.stringify(headers)).not.toMatch(/mock/i);
  });
});
