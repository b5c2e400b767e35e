import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ControlError,
  connectPetstoreMock,
  type PetstoreMock,
  startPetstoreMock,
  startServer,
} from '../../src/index.ts';

let server: PetstoreMock;
beforeAll(async () => {
  server = await startPetstoreMock();
});
afterAll(() => server.stop());

const BIG = 9007199254740993n;

function call({ url, key }: { url: string; key: string }, path: string, init: RequestInit = {}) {
  return fetch(url + path, { ...init, headers: { Authorization: `Bearer ${key}` } });
}

describe('a sandbox', () => {
  test('has an address and a key that work as they are', async () => {
    expect((await call(server, '/pets')).status).toBe(200);
    expect((await call(server.sandbox(), '/pets')).status).toBe(200);
    expect((await call(server.sandbox('staging'), '/pets')).status).toBe(200);
  });

  test('is apart from every other', async () => {
    const [one, other] = [server.sandbox(), server.sandbox()];
    await one.orders.delete(1);
    expect(await one.orders.count()).toBe(13);
    expect(await other.orders.count()).toBe(14);
    expect(server.sandbox(one.name).url).toBe(one.url);
  });

  test('is listed and forgotten by its name', async () => {
    const { name, animals } = server.sandbox('listed');
    await animals.delete(1);
    const listed = (await server.sandboxes.list()).find((it) => it.name === name);
    expect(listed).toMatchObject({ animals: 63, service: '/~listed/v1' });
    await server.sandboxes.delete(name);
    expect(await animals.count()).toBe(64);
  });

  test.each(['', 'a b', 'a/b', 'x'.repeat(65)])('cannot be called %j', (name) => {
    expect(() => server.sandbox(name)).toThrow(TypeError);
  });
});

describe('the store', () => {
  test('is read, merged into, replaced and reset', async () => {
    const { state, reset } = server.sandbox();
    const { animals } = await state.patch({
      animals: [{ id: 1, name: 'Max' }],
      orders: { remove: 'all' },
    });
    expect(animals[0]).toEqual({ id: 1, name: 'Max', categoryId: 1, status: 'available' });
    const animal = { id: BIG, name: 'Whiskers', categoryId: 2 };
    expect(await state.put({ animals: [animal] })).toEqual({
      animals: [animal],
      inventory: [],
      orders: [],
    });
    await reset();
    expect((await state.get()).orders).toHaveLength(14);
  });

  test('has integers that a double cannot hold as bigints, and others as numbers', async () => {
    const { animals, inventory } = server.sandbox();
    const created = await animals.create({ name: 'Rex', categoryId: BIG });
    expect(created).toEqual({ id: 65, name: 'Rex', categoryId: BIG });
    await animals.put(BIG, { name: 'Rex', categoryId: 1 });
    await inventory.create({ petId: BIG, quantity: 3, status: 'available' });
    expect(await inventory.get(BIG)).toEqual({ petId: BIG, quantity: 3, status: 'available' });
    expect(await animals.list({ id: BIG })).toHaveLength(1);
    await animals.delete(BIG);
    await expect(inventory.get(BIG)).rejects.toThrow(ControlError);
  });

  test('is queried as json-server is', async () => {
    const { animals } = server.sandbox();
    const [last, ...others] = await animals.list({
      status: 'sold',
      _sort: 'name',
      _order: 'desc',
      _limit: 1,
    });
    expect(others).toEqual([]);
    expect(last?.status).toBe('sold');
    expect(await animals.count({ id_gte: 64 })).toBe(1);
  });

  test('takes null for a member that is to go', async () => {
    const { animals } = server.sandbox();
    expect(await animals.patch(1, { status: null })).not.toHaveProperty('status');
  });

  test('is kept as a snapshot', async () => {
    const { snapshots, orders } = server.sandbox();
    expect(await snapshots.create('before')).toMatchObject({ name: 'before', orders: 14 });
    await orders.delete(1);
    await snapshots.restore('before');
    expect(await orders.count()).toBe(14);
    await snapshots.delete('before');
    expect(await snapshots.list()).toEqual([]);
  });
});

describe('scenarios', () => {
  test('are named, written out, or both', async () => {
    const sandbox = server.sandbox();
    const { scenario } = sandbox;
    expect((await scenario.list()).map(({ name }) => name)).toContain('slow');
    const active = await scenario.use('shipped-orders', {
      rules: [{ on: 'listPets', calls: 1, reply: { status: 503 } }],
    });
    expect(active.map(({ name }) => name)).toEqual(['shipped-orders', 'request']);
    expect((await call(sandbox, '/pets')).status).toBe(503);
    expect((await call(sandbox, '/pets')).status).toBe(200);
    expect((await call(sandbox, '/store/orders/1', { method: 'DELETE' })).status).toBe(409);
    expect(await scenario.use()).toEqual([]);
    expect(await scenario.get()).toEqual([]);
  });

  test('are written out one at a time', async () => {
    await expect(server.sandbox().scenario.use({}, {})).rejects.toThrow(TypeError);
  });
});

test('assumptions are chosen', async () => {
  const sandbox = server.sandbox();
  const chosen = await sandbox.assume({ 'cancel-again': '204' });
  expect(chosen.find(({ id }) => id === 'cancel-again')?.chosen).toBe('204');
  expect(await sandbox.assumptions()).toEqual(chosen);
});

test('the clock is frozen, moved and set', async () => {
  const { clock } = server.sandbox();
  expect(await clock.freeze(new Date('2030-12-01T00:00:00Z'))).toEqual({
    now: '2030-12-01T00:00:00.000Z',
    frozen: true,
    real: false,
  });
  expect((await clock.advance('P5D')).now).toBe('2030-12-06T00:00:00.000Z');
  expect((await clock.advance('-P1D')).now).toBe('2030-12-05T00:00:00.000Z');
  expect((await clock.freeze()).now).toBe('2030-12-05T00:00:00.000Z');
  expect((await clock.set({ now: '2030-01-01T00:00:00Z' })).frozen).toBe(true);
  expect((await clock.set({ real: true })).real).toBe(true);
  expect((await clock.get()).frozen).toBe(false);
});

test('the journal is listed, counted and emptied', async () => {
  const sandbox = server.sandbox();
  await call(sandbox, '/pets/1');
  await call(sandbox, '/store/orders/2', { method: 'DELETE' });
  const { requests } = sandbox;
  const [exchange, ...others] = await requests.list({ operation: 'cancelOrder', limit: 5 });
  expect(others).toEqual([]);
  expect(exchange).toMatchObject({
    number: 2,
    method: 'DELETE',
    status: 409,
    basis: 'documented',
    why: ['the order 2 has shipped'],
    key: 'demo…',
  });
  expect(await requests.count({ status: 409 })).toEqual({ count: 1, complete: true });
  await requests.clear();
  expect(await requests.count()).toMatchObject({ count: 0 });
});

test('an Error of the control API is thrown with its status and code', async () => {
  const error: unknown = await server
    .sandbox()
    .orders.get(99)
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ControlError);
  expect(error).toMatchObject({
    name: 'ControlError',
    status: 404,
    code: 'order_not_found',
    message: 'there is no order with the id 99',
  });
});

describe('a server', () => {
  test('that runs elsewhere is controlled with its token', async () => {
    const { port, close } = await startServer({
      host: '0.0.0.0',
      port: 0,
      controlToken: 'secret',
      keys: { valid: ['other-key'] },
    });
    try {
      const url = `http://127.0.0.1:${port}/~own/v1/`;
      await expect(connectPetstoreMock({ url })).rejects.toMatchObject({ status: 401 });
      const remote = await connectPetstoreMock({ url, token: 'secret', key: 'other-key' });
      expect(remote.name).toBe('own');
      expect((await call(remote, '/pets')).status).toBe(200);
      expect(await remote.sandbox().animals.count()).toBe(64);
      await remote.stop();
      expect((await call(remote, '/pets')).status).toBe(200);
    } finally {
      await close();
    }
  });

  test('that is not there, or is no mock, is told of', async () => {
    const stopped = await startPetstoreMock({ keys: { valid: ['my-key'] } });
    const { url, key } = stopped;
    expect(key).toBe('my-key');
    await Promise.all([stopped.stop(), stopped[Symbol.asyncDispose]()]);
    await expect(connectPetstoreMock({ url })).rejects.toThrow(/^No petstore-mock answers at http/);
    await expect(connectPetstoreMock({ url: 'localhost' })).rejects.toThrow(TypeError);
    await expect(startPetstoreMock({ noControl: true })).rejects.toThrow(TypeError);
  });

  test('answers to the service and the control API, whatever stands in the place of fetch', async () => {
    const { fetch } = globalThis;
    globalThis.fetch = () => Promise.reject(new Error('no network'));
    try {
      expect(await server.sandbox().animals.count()).toBe(64);
    } finally {
      globalThis.fetch = fetch;
    }
  });
});
