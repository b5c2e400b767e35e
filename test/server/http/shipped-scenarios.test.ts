import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writeJson } from '../../../src/core/json.ts';
import { shippedScenarios } from '../../../src/core/scenario/scenario-names.ts';
import type { ServerOptions } from '../../../src/index.ts';
import { loadStore } from '../../../src/server/fixtures.ts';
import { NODE_PLATFORM } from '../../../src/server/node-platform.ts';
import { openMock } from '../../helpers/in-process.ts';
import { type Client, fixtureFile, openServer, type RequestParts } from '../../helpers/wire.ts';

/** What a shipped scenario meets: a store, and every key that works there. */
interface Setup {
  readonly fixture?: string;
  readonly valid: readonly string[];
  readonly readOnly: readonly string[];
}

const DEFAULT: Setup = { valid: ['demo-key'], readOnly: ['demo-read-only-key'] };

/** Ids that no shipped scenario can know, and statuses that the document does not list. */
const SETUPS: fc.Arbitrary<Setup> = fc
  .record({
    ids: fc.uniqueArray(fc.bigInt({ min: 1n, max: 2n ** 62n }), { maxLength: 6 }),
    keys: fc.uniqueArray(fc.stringMatching(/^[a-z]{3,9}$/), { minLength: 2, maxLength: 3 }),
    animalStatus: fc.constantFrom('available', 'pending', 'sold', 'lost', undefined),
    stockStatus: fc.constantFrom('available', 'sold', 'reserved'),
    orderStatus: fc.constantFrom('pending', 'shipped', 'cancelled', undefined),
    quantity: fc.nat(9),
  })
  .map(({ ids, keys: [readOnly = '', ...valid], ...drawn }) => {
    const { animalStatus, stockStatus, orderStatus, quantity } = drawn;
    const shipDate = '2031-03-15T09:00:00Z';
    const fixture = writeJson({
      animals: ids.map((id) => ({ id, name: 'Ada', categoryId: 3, status: animalStatus })),
      inventory: ids.slice(1).map((petId) => ({ petId, quantity, status: stockStatus })),
      orders: ids.map((id) => ({ id, petId: ids[0], quantity, shipDate, status: orderStatus })),
    });
    return { fixture, valid, readOnly: [readOnly] };
  });

/** What requests send unless a test says otherwise. */
const BODIES: Readonly<Record<string, object>> = {
  POST: { name: 'Rex', categoryId: 1 },
  PATCH: { quantity: 77 },
};

type Open = (options: ServerOptions) => Promise<Client>;

/** Starts a mock with scenarios. Says what its store would be without them. */
async function start(open: Open, scenarios: string[], { fixture, valid, readOnly }: Setup) {
  const from = fixture === undefined ? {} : { fixture: fixtureFile(fixture) };
  const store = await loadStore(from);
  const keys = [...valid, ...readOnly];
  const [animals, inventory, orders] = [
    [...store.animals.ascending()],
    [...store.inventory.ascending()],
    [...store.orders.ascending()],
  ];
  // Only the test moves the clock, however long its requests take.
  const options = { ...from, keys: { valid, readOnly }, scenarios, frozen: true };
  const { send, control } = await open(options);
  const pet = `/pets/${animals[0]?.id ?? 1n}`;
  const stock = `/inventory/${inventory[0]?.petId ?? animals[0]?.id ?? 1n}`;
  const order = `/store/orders/${orders[0]?.id ?? 1n}`;
  /** Sends a request such as `GET /pets`. */
  const ask = (request: string, parts: RequestParts = {}) => {
    const [method = '', path = ''] = request.split(' ');
    const body = BODIES[method];
    return send(method, `/v1${path}`, { key: keys[0], ...(body && { body }), ...parts });
  };
  /** The statuses of requests, which are sent one after the other. */
  const statuses = async (requests: readonly string[], parts: RequestParts = {}) => {
    const all: number[] = [];
    for (const request of requests) all.push((await ask(request, parts)).status);
    return all;
  };
  return {
    ...{ ask, statuses, keys, animals, inventory, orders, pet, stock, order },
    /** The status of a reply about an animal, if there are animals at all. */
    known: animals.length > 0 ? 200 : 404,
    /** Every operation, called as by a client that expects a success. */
    calls: [
      ...['GET /pets', 'POST /pets', `GET ${pet}`, 'GET /inventory', `PATCH ${stock}`],
      ...['GET /store/orders', `DELETE ${order}`],
    ],
    control: async (call: string, body: object) => {
      expect((await control(call, body)).status).toBeLessThan(300);
    },
    /** A member of each record of a list. */
    listed: async (path: string, member = 'id'): Promise<unknown[]> => {
      const { json } = await ask(`GET ${path}`);
      return Array.isArray(json) ? json.map((it) => Object(it)[member]) : [];
    },
  };
}

type Mock = Awaited<ReturnType<typeof start>>;

/** Ids as in a reply: bigints only beyond 2^53. */
const written = (ids: readonly bigint[]): (number | bigint)[] =>
  ids.map((id) => (Number.isSafeInteger(Number(id)) ? Number(id) : id));

const idsOf = (records: readonly { id: bigint }[]) => written(records.map(({ id }) => id));

/** Every order is listed, and none can be cancelled. */
async function expectKept({ ask, listed, orders }: Mock, basis: string): Promise<void> {
  expect(await listed('/store/orders')).toEqual(idsOf(orders));
  for (const { id } of orders) {
    const { status, headers } = await ask(`DELETE /store/orders/${id}`);
    expect([status, headers['mock-basis']]).toEqual([409, basis]);
  }
}

const RESET = { code: 'ECONNRESET' };

/** What shows on the wire that each shipped scenario does what its description says. */
const SHOWS: Readonly<Record<string, (mock: Mock) => Promise<void>>> = {
  'after-sunset': async ({ ask, statuses, pet }) => {
    const headers = { date: expect.stringMatching(/^Fri, 06 Dec 2030 00:00:/) };
    expect(await ask(`GET ${pet}`)).toMatchObject({ status: 410, json: { code: 'gone' }, headers });
    expect(await statuses(['GET /pets'])).toEqual([200]);
  },
  'cancelled-orders': (mock) => expectKept(mock, 'assumed;by="cancel-again=409"'),
  'conflict-without-body': async ({ ask, control, listed, orders }) => {
    await control('POST orders', { id: 1234, status: 'shipped' });
    expect(await ask('DELETE /store/orders/1234')).toMatchObject({ status: 409, text: '' });
    expect(new Set(await listed('/store/orders'))).toEqual(new Set([...idsOf(orders), 1234]));
  },
  'connection-reset': async ({ ask, calls }) => {
    for (const call of calls) await expect(ask(call)).rejects.toMatchObject(RESET);
  },
  'empty-inventory': async ({ statuses, listed, pet, stock, known }) => {
    expect(await listed('/inventory')).toEqual([]);
    expect(await statuses([`PATCH ${stock}`, `GET ${pet}`])).toEqual([404, known]);
  },
  'empty-store': async ({ ask, statuses, pet, order }) => {
    for (const path of ['/pets', '/inventory', '/store/orders']) {
      expect((await ask(`GET ${path}`)).json).toEqual([]);
    }
    expect(await statuses([`GET ${pet}`, `DELETE ${order}`])).toEqual([404, 404]);
  },
  'expiring-key': async ({ statuses, control, keys, calls }) => {
    for (const [by, status] of Object.entries({ PT0S: 200, PT59S: 200, PT1S: 401 })) {
      await control('POST clock/advance', { by });
      for (const key of keys) expect(await statuses(['GET /pets'], { key })).toEqual([status]);
    }
    expect(await statuses(calls)).toEqual(calls.map(() => 401));
  },
  flaky: async ({ ask }) => {
    const answers = [];
    for (let count = 0; count < 200; count += 1) answers.push(await ask('GET /pets?limit=1'));
    const failed = answers.filter(({ status }) => status === 503);
    expect(failed.length).toBeGreaterThan(20);
    expect(failed.length).toBeLessThan(60);
    const headers = { 'retry-after': expect.any(String), 'mock-basis': 'forced;by="flaky#1"' };
    for (const answer of failed) expect(answer).toMatchObject({ headers });
  },
  'int64-ids': async ({ ask, statuses, listed }) => {
    const members = { '/pets': 'id', '/inventory': 'petId', '/store/orders': 'id' };
    for (const [path, member] of Object.entries(members)) {
      const ids = await listed(path, member);
      expect(ids.length).toBeGreaterThan(1);
      expect(ids.every((id) => typeof id === 'bigint')).toBe(true);
    }
    const { text } = await ask('GET /pets/9007199254740993');
    expect(text).toContain('"id":9007199254740993,"name":"Whiskers"');
    expect((await ask('GET /pets/9007199254740992')).text).toContain('"name":"Rex"');
    expect(await statuses(['DELETE /store/orders/9223372036854775807'])).toEqual([409]);
    expect((await ask('POST /pets')).text).toMatch(/"id":\d{16,19},/);
  },
  'invalid-keys': async ({ ask, statuses, keys, calls }) => {
    for (const key of [...keys, 'unknown-key']) {
      expect(await statuses(calls, { key })).toEqual(calls.map(() => 401));
      const { json } = await ask('GET /pets', { key });
      expect(json).toMatchObject({ message: 'all keys are listed as invalid' });
    }
  },
  'large-store': async ({ statuses }) => {
    const there = ['GET /pets/100000', 'PATCH /inventory/100000'];
    expect(await statuses(there)).toEqual([200, 200]);
    expect(await statuses(['DELETE /store/orders/10000'])).not.toEqual([404]);
    expect(await statuses(['GET /pets/100001', 'DELETE /store/orders/10001'])).toEqual([404, 404]);
  },
  'lost-reply': async ({ ask, statuses, listed, orders, inventory, stock, animals }) => {
    const pending = orders.find(({ status = 'pending' }) => status === 'pending');
    const cancel = `DELETE /store/orders/${pending?.id ?? 1n}`;
    for (const call of [cancel, `PATCH ${stock}`, 'POST /pets']) {
      await expect(ask(call)).rejects.toMatchObject(RESET);
    }
    expect(await statuses([cancel])).toEqual([pending === undefined ? 404 : 409]);
    const [entry] = inventory;
    if (entry !== undefined) expect((await listed('/inventory', 'quantity'))[0]).toBe(77);
    const highest = animals.at(-1)?.id ?? 0n;
    expect((await ask('POST /pets')).json).toMatchObject({ id: written([highest + 2n])[0] });
  },
  'malformed-json': async ({ ask, pet, known }) => {
    for (const path of ['/pets', pet, '/inventory', '/store/orders']) {
      const { status, headers, text } = await ask(`GET ${path}`);
      expect(status).toBe(path === pet ? known : 200);
      expect(headers['content-type']).toMatch(/^application\/json/);
      expect(Buffer.byteLength(text)).toBe(Number(headers['content-length']));
      expect(() => JSON.parse(text)).toThrow(SyntaxError);
    }
  },
  'new-error': async ({ ask, order }) => {
    const { json } = await ask(`DELETE ${order}`, { key: 'unknown-key' });
    const details = [{ reason: 'see the message' }];
    expect(json).toMatchObject({ code: 'unauthorized', status: 401, details });
    expect((await ask('GET /pets')).text).not.toContain('details');
  },
  'new-fields': async ({ ask, listed, animals, orders, inventory }) => {
    const labels = { origin: 'import' };
    for (const [path, { length }] of Object.entries({
      '/pets?limit=100': animals,
      '/store/orders': orders,
      '/inventory': inventory,
    })) {
      expect(await listed(path, 'labels')).toEqual(Array(length).fill(labels));
    }
    expect(new Set(await listed('/pets', 'status')).size).toBeLessThan(2);
    const basis = 'forced;by="new-fields#2";off-contract';
    const { json, headers } = await ask('POST /pets');
    expect([json, headers['mock-basis']]).toEqual([
      expect.objectContaining({ status: 'archived', labels }),
      basis,
    ]);
    expect((await ask('GET /pets/x')).json).not.toHaveProperty('labels');
  },
  'no-orders': async ({ statuses, listed, pet, order, known }) => {
    expect(await listed('/store/orders')).toEqual([]);
    expect(await statuses([`DELETE ${order}`, `GET ${pet}`])).toEqual([404, known]);
  },
  outage: async ({ ask, calls }) => {
    const expected = { json: { code: 'service_unavailable' }, headers: { 'retry-after': '30' } };
    for (const call of calls) expect(await ask(call)).toMatchObject({ status: 503, ...expected });
  },
  'proxy-error-page': async ({ ask, calls }) => {
    for (const call of calls) {
      const { status, headers, text } = await ask(call);
      expect([status, headers['mock-basis']]).toEqual([502, undefined]);
      expect(headers['content-type']).toMatch(/^text\/html/);
      expect(text).toMatch(/^<html>/);
    }
  },
  'rate-limited': async ({ ask, statuses, keys }) => {
    for (const key of keys) {
      expect(await statuses(['GET /pets', 'GET /pets'], { key })).toEqual([200, 200]);
      const headers = { 'retry-after': '1' };
      expect(await ask('GET /pets', { key })).toMatchObject({ status: 429, headers });
    }
  },
  'read-only-key': async ({ statuses, keys, calls, known }) => {
    const expected = [200, 403, known, 200, 403, 200, 403];
    for (const key of keys) expect(await statuses(calls, { key })).toEqual(expected);
  },
  'renamed-code': async ({ ask, order, orders }) => {
    const denied = await ask('GET /pets', { key: 'unknown-key' });
    const expected = { code: 'access_denied', status: 401 };
    expect(denied).toMatchObject({ status: 401, json: expected });
    expect(denied.headers['mock-basis']).toBe('forced;by="renamed-code#1"');
    if (orders.length > 0) return;
    expect((await ask(`DELETE ${order}`)).json).toMatchObject({ code: 'resource_missing' });
  },
  'shipped-orders': (mock) => expectKept(mock, 'documented'),
  slow: async ({ statuses }) => {
    const started = performance.now();
    expect(await statuses(['GET /pets'])).toEqual([200]);
    expect(performance.now() - started).toBeGreaterThan(490);
  },
  'sold-out': async ({ ask, listed, animals, inventory }) => {
    expect(await listed('/pets?limit=100&status=sold')).toEqual(idsOf(animals).slice(0, 100));
    const petIds = written(inventory.map(({ petId }) => petId));
    expect((await ask('GET /inventory')).json).toEqual(
      petIds.map((petId) => ({ petId, quantity: 0, status: 'sold' })),
    );
  },
  'sparse-orders': async ({ ask, orders }) => {
    const { json } = await ask('GET /store/orders');
    expect(json).toHaveLength(orders.length);
    const documented = ['id', 'petId', 'quantity', 'shipDate', 'complete'];
    for (const [index, order] of [...Object(json)].entries()) {
      expect(documented.every((name) => Object.hasOwn(order, name))).toBe(false);
      const { status = 'pending', id = 0n } = orders[index] ?? {};
      if (status === 'pending') expect(order).toEqual({ id: written([id])[0] });
    }
  },
  'truncated-bodies': async ({ ask, pet }) => {
    for (const path of ['/pets', pet, '/inventory', '/store/orders']) {
      await expect(ask(`GET ${path}`)).rejects.toThrow('aborted');
    }
  },
  'unseen-statuses': async ({ statuses, listed, animals, inventory }) => {
    const found = await listed('/pets?limit=100', 'status');
    const stock = await listed('/inventory', 'status');
    expect(found).toHaveLength(Math.min(animals.length, 100));
    expect(stock).toHaveLength(inventory.length);
    const seen = ['available', 'pending', 'sold', undefined];
    for (const status of [...found, ...stock]) expect(seen).not.toContain(status);
    const pending = animals.filter(({ status }) => status === 'pending');
    expect(await listed('/pets?limit=100&status=reserved')).toEqual(idsOf(pending));
    const body = { ...BODIES.POST, status: 'brand-new' };
    expect(await statuses(['POST /pets'], { body })).toEqual([201]);
  },
};

/** What only a connection shows, or time, or a store of its own. */
const OF_SERVERS = [
  ...['connection-reset', 'lost-reply', 'malformed-json', 'truncated-bodies', 'slow'],
  ...['large-store', 'int64-ids'],
];

describe('over the default fixture with the default keys', () => {
  test.each(Object.entries(SHOWS))('%s does what its description says', async (name, show) => {
    const open = OF_SERVERS.includes(name) ? openServer : openMock;
    await show(await start(open, [name], DEFAULT));
  });
});

test('every other shipped scenario does so over any fixture with any keys', async () => {
  const others = Object.entries(SHOWS).filter(([name]) => !OF_SERVERS.includes(name));
  const property = fc.asyncProperty(SETUPS, async (setup) => {
    for (const [name, show] of others) await show(await start(openMock, [name], setup));
  });
  await fc.assert(property, { numRuns: 4 });
});

test('each scenario that ships has a test here', () => {
  expect(Object.keys(SHOWS).sort()).toEqual(
    shippedScenarios(NODE_PLATFORM).map(({ name }) => name),
  );
});

test('shipped scenarios can be combined, and the later one wins', async () => {
  const { ask } = await start(openMock, ['shipped-orders', 'conflict-without-body'], DEFAULT);
  expect(await ask('DELETE /store/orders/1')).toMatchObject({ status: 409, text: '' });
});
