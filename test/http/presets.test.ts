import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { shippedScenarios } from '../../src/scenario/load-scenario.ts';
import { loadStore } from '../../src/scenario/sandbox-start.ts';
import type { ServerOptions } from '../../src/server.ts';
import type { Store } from '../../src/store/store.ts';
import { serverFor } from '../helpers/deployment.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { openRaw, rawRequest } from '../helpers/raw.ts';
import { type Answer, type Ask, asker } from '../helpers/wire.ts';

const folder = temporaryFolder();

function fixture(name: string, text: string): string {
  const path = join(folder, `${name}.json`);
  writeFileSync(path, text);
  return path;
}

/** Ids that no preset can know, and statuses that the document does not list. */
const OTHER_IDS = `{
  "animals": [
    { "id": 41, "name": "Ada", "categoryId": 3, "status": "pending" },
    { "id": 42, "name": "Bo", "categoryId": 3, "status": "lost" },
    { "id": 9007199254740993, "name": "Cy", "categoryId": 3, "status": "sold" }
  ],
  "inventory": [
    { "petId": 42, "quantity": 4, "status": "reserved" },
    { "petId": 9007199254740993, "quantity": 0, "status": "sold" }
  ],
  "orders": [
    { "id": 77, "petId": 42, "quantity": 1, "complete": false },
    { "id": 78, "petId": 41, "quantity": 2, "shipDate": "2031-03-15T09:00:00Z", "complete": true, "status": "shipped" },
    { "id": 9007199254740993, "petId": 42, "quantity": 3, "shipDate": "2031-03-15T09:00:00Z", "complete": false, "status": "cancelled" }
  ]
}`;

interface Access {
  readonly options: ServerOptions;
  readonly base: string;
  /** Every key that works. Requests carry the first. */
  readonly keys: readonly [string, ...string[]];
}

const DEFAULT_KEYS: Access = {
  options: {},
  base: '/v1',
  keys: ['demo-key', 'demo-read-only-key'],
};
const OTHER_KEYS: Access = {
  options: { keys: { valid: ['alpha'], readOnly: ['beta'] } },
  base: '/v1',
  keys: ['alpha', 'beta'],
};
const ANY_KEY: Access = { options: { keys: { any: true } }, base: '/v1', keys: ['one', 'another'] };
const STAGING: Access = { options: {}, base: '/~staging/v1', keys: ['staging-key'] };

const SETUPS: Readonly<Record<string, readonly [ServerOptions, Access]>> = {
  'the default fixture with the default keys': [{}, DEFAULT_KEYS],
  'other ids with other keys': [{ fixture: fixture('other-ids', OTHER_IDS) }, OTHER_KEYS],
  'a generated store with any key': [{ animals: 150, orders: 120, seed: 7 }, ANY_KEY],
  'an empty store with the key of staging': [{ fixture: fixture('empty', '{}') }, STAGING],
};

/** A server with a preset, and the store that it would have without. */
class Started {
  readonly ask: Ask;
  readonly keys: readonly string[];
  readonly port: number;
  readonly before: Store;
  readonly #base: string;
  readonly #control: Ask;

  constructor(port: number, { base, keys }: Access, before: Store) {
    const ask = asker(port, base);
    this.ask = (method, path, asked) => ask(method, path, { key: keys[0], ...asked });
    this.keys = keys;
    this.port = port;
    this.before = before;
    this.#base = base;
    this.#control = asker(port, base.replace('/v1', '/__mock'));
  }

  get animals() {
    return [...this.before.animals.ascending()];
  }

  get orders() {
    return [...this.before.orders.ascending()];
  }

  /** The id of an existing animal, if there is any. */
  get petId(): bigint {
    return this.animals[0]?.id ?? 1n;
  }

  get orderId(): bigint {
    return this.orders[0]?.id ?? 1n;
  }

  /** The status of a reply about an animal, if there are animals at all. */
  get known(): number {
    return this.animals.length > 0 ? 200 : 404;
  }

  get reads(): readonly string[] {
    return ['/pets', `/pets/${this.petId}`, '/inventory', '/store/orders'];
  }

  /** Every operation, called as a client would that expects a success. */
  get calls(): readonly (readonly [method: string, path: string, body?: object])[] {
    return [
      ['GET', '/pets'],
      ['POST', '/pets', { name: 'Rex', categoryId: 1 }],
      ['GET', `/pets/${this.petId}`],
      ['GET', '/inventory'],
      ['PATCH', `/inventory/${this.petId}`, { quantity: 3 }],
      ['GET', '/store/orders'],
      ['DELETE', `/store/orders/${this.orderId}`],
    ];
  }

  async askAll(key = this.keys[0] ?? null): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (const [method, path, body] of this.calls) {
      answers.push(await this.ask(method, path, { key, ...(body !== undefined && { body }) }));
    }
    return answers;
  }

  async control(method: string, path: string, body: object): Promise<Answer> {
    const answer = await this.#control(method, path, { key: null, body });
    expect(answer.status).toBeLessThan(300);
    return answer;
  }

  /** A GET on its own connection. */
  async raw(path: string): Promise<string> {
    const connection = await openRaw(this.port);
    const Authorization = `Bearer ${this.keys[0]}`;
    connection.send(rawRequest('GET', this.#base + path, { Authorization }));
    return connection.rest();
  }

  async listed(path: string, member = 'id'): Promise<unknown[]> {
    const { json } = await this.ask('GET', path);
    return Array.isArray(json) ? json.map((it) => Object(it)[member]) : [];
  }
}

const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status);

/** Ids as in a reply: bigints only beyond 2^53. */
const written = (ids: readonly bigint[]): (number | bigint)[] =>
  ids.map((id) => (Number.isSafeInteger(Number(id)) ? Number(id) : id));

const SEEN = ['available', 'pending', 'sold', undefined];

/** Every order is listed, and none can be cancelled. */
async function cannotCancel(started: Started, basis: string): Promise<void> {
  const ids = started.orders.map(({ id }) => id);
  expect(await started.listed('/store/orders')).toEqual(written(ids));
  for (const id of ids) {
    const { status, headers } = await started.ask('DELETE', `/store/orders/${id}`);
    expect([status, headers['mock-basis']]).toEqual([409, basis]);
  }
}

/** What shows on the wire that each preset does what its description says. */
const SHOWS: Readonly<Record<string, (started: Started) => Promise<void>>> = {
  'after-sunset': async ({ ask, petId }) => {
    const answer = await ask('GET', `/pets/${petId}`);
    expect(answer).toMatchObject({ status: 410, json: { code: 'gone' } });
    expect(answer.headers.date).toMatch(/^Fri, 06 Dec 2030 00:00:/);
    expect((await ask('GET', '/pets')).status).toBe(200);
  },
  'cancelled-orders': (started) => cannotCancel(started, 'assumed;by="cancel-again=409"'),
  'conflict-without-body': async (started) => {
    const order = { id: 1234, status: 'shipped' };
    await started.control('POST', '/orders', order);
    const { status, text } = await started.ask('DELETE', '/store/orders/1234');
    expect([status, text]).toEqual([409, '']);
    const ids = [...started.orders.map(({ id }) => id), 1234n];
    expect(new Set(await started.listed('/store/orders'))).toEqual(new Set(written(ids)));
  },
  'connection-reset': async ({ ask, calls }) => {
    for (const [method, path, body] of calls) {
      const asked = ask(method, path, body === undefined ? {} : { body });
      await expect(asked).rejects.toMatchObject({ code: 'ECONNRESET' });
    }
  },
  'empty-inventory': async ({ ask, petId, known }) => {
    expect((await ask('GET', '/inventory')).json).toEqual([]);
    expect((await ask('PATCH', `/inventory/${petId}`, { body: { quantity: 1 } })).status).toBe(404);
    expect((await ask('GET', `/pets/${petId}`)).status).toBe(known);
  },
  'empty-store': async ({ ask, petId, orderId }) => {
    for (const path of ['/pets', '/inventory', '/store/orders']) {
      expect((await ask('GET', path)).json).toEqual([]);
    }
    expect((await ask('GET', `/pets/${petId}`)).status).toBe(404);
    expect((await ask('DELETE', `/store/orders/${orderId}`)).status).toBe(404);
  },
  'expiring-key': async (started) => {
    for (const [seconds, status] of [
      [0, 200],
      [59, 200],
      [1, 401],
    ]) {
      await started.control('POST', '/clock/advance', { by: `PT${seconds}S` });
      for (const key of started.keys) {
        expect((await started.ask('GET', '/pets', { key })).status).toBe(status);
      }
    }
    expect(statuses(await started.askAll())).toEqual(started.calls.map(() => 401));
  },
  flaky: async ({ ask }) => {
    const answers: Answer[] = [];
    for (let count = 0; count < 200; count += 1) answers.push(await ask('GET', '/pets?limit=1'));
    const failed = answers.filter(({ status }) => status === 503);
    expect(failed.length).toBeGreaterThan(20);
    expect(failed.length).toBeLessThan(60);
    expect(failed.every(({ headers }) => headers['retry-after'] !== undefined)).toBe(true);
    expect(failed[0]?.headers['mock-basis']).toBe('forced;by="flaky#1"');
  },
  'int64-ids': async (started) => {
    const { ask } = started;
    for (const [path, member] of [
      ['/pets', 'id'],
      ['/inventory', 'petId'],
      ['/store/orders', 'id'],
    ] as const) {
      const ids = await started.listed(path, member);
      expect(ids.length).toBeGreaterThan(1);
      expect(ids.every((id) => typeof id === 'bigint')).toBe(true);
    }
    const reply = await ask('GET', '/pets/9007199254740993');
    expect(reply.text).toContain('"id":9007199254740993,"name":"Whiskers"');
    expect((await ask('GET', '/pets/9007199254740992')).text).toContain('"name":"Rex"');
    expect((await ask('DELETE', '/store/orders/9223372036854775807')).status).toBe(409);
    const created = await ask('POST', '/pets', { body: { name: 'Bo', categoryId: 1 } });
    expect(created.text).toMatch(/"id":\d{16,19},/);
  },
  'invalid-keys': async (started) => {
    for (const key of [...started.keys, 'unknown-key']) {
      const answers = await started.askAll(key);
      expect(statuses(answers)).toEqual(started.calls.map(() => 401));
      expect(answers[0]?.json).toMatchObject({ message: 'all keys are listed as invalid' });
    }
  },
  'large-store': async ({ ask }) => {
    expect((await ask('GET', '/pets/100000')).status).toBe(200);
    expect((await ask('GET', '/pets/100001')).status).toBe(404);
    const update = { body: { quantity: 1 } };
    expect((await ask('PATCH', '/inventory/100000', update)).status).toBe(200);
    expect((await ask('DELETE', '/store/orders/10000')).status).not.toBe(404);
    expect((await ask('DELETE', '/store/orders/10001')).status).toBe(404);
  },
  'lost-reply': async (started) => {
    const { ask, orders, animals, before } = started;
    const reset = { code: 'ECONNRESET' };
    const pending = orders.find(({ status = 'pending' }) => status === 'pending');
    const order = `/store/orders/${pending?.id ?? 1n}`;
    await expect(ask('DELETE', order)).rejects.toMatchObject(reset);
    expect((await ask('DELETE', order)).status).toBe(pending === undefined ? 404 : 409);
    const petId = [...before.inventory.ascending()][0]?.petId ?? 1n;
    const update = { body: { quantity: 77 } };
    await expect(ask('PATCH', `/inventory/${petId}`, update)).rejects.toMatchObject(reset);
    const entry = expect.objectContaining({ petId: written([petId])[0], quantity: 77 });
    expect((await ask('GET', '/inventory')).json).toEqual(
      animals.length > 0 ? expect.arrayContaining([entry]) : [],
    );
    const create = { body: { name: 'Rex', categoryId: 1 } };
    await expect(ask('POST', '/pets', create)).rejects.toMatchObject(reset);
    const { json } = await ask('POST', '/pets', create);
    const id = (before.animals.highestId ?? 0n) + 2n;
    expect(json).toMatchObject({ id: written([id])[0] });
  },
  'malformed-json': async (started) => {
    for (const path of started.reads) {
      const { status, headers, text } = await started.ask('GET', path);
      expect(status).toBe(path.startsWith('/pets/') ? started.known : 200);
      expect(headers['content-type']).toMatch(/^application\/json/);
      expect(Buffer.byteLength(text)).toBe(Number(headers['content-length']));
      expect(() => JSON.parse(text)).toThrow(SyntaxError);
    }
  },
  'no-orders': async ({ ask, petId, orderId, known }) => {
    expect((await ask('GET', '/store/orders')).json).toEqual([]);
    expect((await ask('DELETE', `/store/orders/${orderId}`)).status).toBe(404);
    expect((await ask('GET', `/pets/${petId}`)).status).toBe(known);
  },
  outage: async (started) => {
    for (const answer of await started.askAll()) {
      expect(answer).toMatchObject({ status: 503, json: { code: 'service_unavailable' } });
      expect(answer.headers['retry-after']).toBe('30');
    }
  },
  'proxy-error-page': async (started) => {
    for (const { status, headers, text } of await started.askAll()) {
      expect(status).toBe(502);
      expect(headers['content-type']).toMatch(/^text\/html/);
      expect(headers['mock-basis']).toBeUndefined();
      expect(text).toMatch(/^<html>|^<!DOCTYPE html>/i);
    }
  },
  'rate-limited': async ({ ask, keys }) => {
    for (const key of keys) {
      const answers = [];
      for (let count = 0; count < 3; count += 1) answers.push(await ask('GET', '/pets', { key }));
      expect(statuses(answers)).toEqual([200, 200, 429]);
      expect(answers[2]?.headers['retry-after']).toBe('1');
    }
  },
  'read-only-key': async (started) => {
    for (const key of started.keys) {
      const expected = [200, 403, started.known, 200, 403, 200, 403];
      expect(statuses(await started.askAll(key))).toEqual(expected);
    }
  },
  'shipped-orders': (started) => cannotCancel(started, 'documented'),
  slow: async ({ ask }) => {
    const started = performance.now();
    expect((await ask('GET', '/pets')).status).toBe(200);
    expect(performance.now() - started).toBeGreaterThan(490);
  },
  'sold-out': async (started) => {
    const ids = started.animals.slice(0, 100).map(({ id }) => id);
    expect(await started.listed('/pets?limit=100&status=sold')).toEqual(written(ids));
    const entries = [...started.before.inventory.ascending()].map(({ petId }) => petId);
    expect((await started.ask('GET', '/inventory')).json).toEqual(
      written(entries).map((petId) => ({ petId, quantity: 0, status: 'sold' })),
    );
  },
  'sparse-orders': async (started) => {
    const { json } = await started.ask('GET', '/store/orders');
    expect(json).toHaveLength(started.orders.length);
    const documented = ['id', 'petId', 'quantity', 'shipDate', 'complete'];
    for (const [index, order] of [...Object(json)].entries()) {
      expect(documented.every((name) => Object.hasOwn(order, name))).toBe(false);
      const { status = 'pending', id = 0n } = started.orders[index] ?? {};
      if (status === 'pending') expect(order).toEqual({ id: written([id])[0] });
    }
  },
  'truncated-bodies': async (started) => {
    for (const path of started.reads) {
      const [head = '', body = ''] = (await started.raw(path)).split('\r\n\r\n');
      const promised = Number(/Content-Length: (\d+)/i.exec(head)?.[1]);
      expect(body.length).toBeGreaterThan(0);
      expect(body.length).toBeLessThan(promised);
    }
  },
  'unseen-statuses': async (started) => {
    const { animals } = started;
    const found = await started.listed('/pets?limit=100', 'status');
    expect(found).toHaveLength(Math.min(animals.length, 100));
    const stock = await started.listed('/inventory', 'status');
    expect(stock).toHaveLength(started.before.inventory.size);
    for (const status of [...found, ...stock]) expect(SEEN).not.toContain(status);
    const pending = animals.filter(({ status }) => status === 'pending').map(({ id }) => id);
    expect(await started.listed('/pets?limit=100&status=reserved')).toEqual(written(pending));
    const body = { name: 'Rex', categoryId: 1, status: 'brand-new' };
    expect((await started.ask('POST', '/pets', { body })).status).toBe(201);
  },
};

/** Starts a server that closes after the test. */
async function startWith(
  scenarios: string[],
  store: ServerOptions,
  access: Access,
): Promise<Started> {
  const before = await loadStore(store, store.seed);
  // Only the test moves the clock, however long its requests take.
  const { port } = await serverFor({ ...store, ...access.options, scenarios, frozen: true });
  return new Started(port, access, before);
}

describe.each(Object.entries(SETUPS))('over %s', (_setup, [store, access]) => {
  test.each(Object.entries(SHOWS))('%s does what its description says', async (name, show) => {
    await show(await startWith([name], store, access));
  });
});

describe('a preset', () => {
  test('has a test here, for each that ships', () => {
    expect(Object.keys(SHOWS).sort()).toEqual(shippedScenarios().map(({ name }) => name));
  });

  test('can be combined with another, and the later one wins', async () => {
    const presets = ['shipped-orders', 'conflict-without-body'];
    const { ask } = await startWith(presets, {}, DEFAULT_KEYS);
    const { status, text } = await ask('DELETE', '/store/orders/1');
    expect([status, text]).toEqual([409, '']);
  });
});
