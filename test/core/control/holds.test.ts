import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { RecordedExchange } from '../../../src/core/control/journal/recorded-exchange.ts';
import { currentInstant, steadyNow } from '../../../src/core/service/clock.ts';
import type { ServerOptions } from '../../../src/index.ts';
import { callOf, requestOf } from '../../helpers/call.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { openMock } from '../../helpers/in-process.ts';
import { openRaw, rawRequest } from '../../helpers/raw.ts';
import { createSandboxes } from '../../helpers/sandboxes.ts';
import { type Answer, type Client, clientAt, openServer } from '../../helpers/wire.ts';

const folder = temporaryFolder();

/** What tests do to holds of a sandbox. */
function holdsOf({ send }: Client, base = '') {
  const call = async (method: string, path: string, body?: object) =>
    Object((await send(method, `${base}/__mock${path}`, { body })).json);
  return {
    use: (...rules: object[]) => call('PUT', '/scenario', { scenario: { rules } }),
    set: (rule: object) => call('POST', '/holds', rule),
    list: () => call('GET', '/holds'),
    release: (which: object = {}) => call('POST', '/holds/release', which),
    count: (filter: object) => call('POST', '/requests/count', filter),
    /** Waits until so many replies are held. */
    arrived: (atLeast: number) => call('POST', '/requests/count', { held: true, atLeast }),
    exchange: (number: number) => call('GET', `/requests/${number}`),
    reset: (keep: string[]) => call('POST', '/reset', { keep }),
  };
}

test('a reply that is released before its client waits goes out at once', () => {
  const sandbox = createSandboxes().default;
  const outcome = sandbox.answer(requestOf(callOf('listPets')), currentInstant());
  const exchange = { ...outcome.result, hold: { name: 'mine', since: steadyNow() } };
  const held = sandbox.take({ ...outcome, exchange, result: exchange });
  expect(sandbox.held()).toEqual([held]);
  expect(sandbox.holds.release({ name: 'mine' }, 'released')).toEqual({
    released: [held],
    held: 0,
  });
  const send = vi.fn();
  sandbox.holds.wait(held, { send, onDisconnect: () => () => {} });
  expect(send).toHaveBeenCalledOnce();
});

test('a call that is repeated while its refusal is held back is no retry', async () => {
  const { port } = await serverFor();
  const client = clientAt(port);
  const { use, arrived, release } = holdsOf(client);
  await use({ on: 'cancelOrder', hold: true });
  const connections = [await openRaw(port), await openRaw(port)];
  for (const [at, { send }] of connections.entries()) {
    send(rawRequest('DELETE', '/v1/store/orders/99'));
    await arrived(at + 1);
  }
  await release();
  for (const { reply } of connections) expect((await reply()).status).toBe(404);
  expect((await client.send('GET', '/__mock/findings')).json).toMatchObject({ total: 0 });
});

describe('a rule with hold', () => {
  test('runs the operation, and holds its reply back until it is released', async () => {
    const client = await openMock();
    const { use, arrived, release, list, exchange } = holdsOf(client);
    await use({ on: 'cancelOrder', hold: true });
    const cancelled = client.send('DELETE', '/v1/store/orders/1');
    await arrived(1);
    expect((await client.control('GET orders/1')).json).toMatchObject({ status: 'cancelled' });
    const [held] = await list();
    expect(held).toEqual({
      exchange: 1,
      name: 'default',
      operation: 'cancelOrder',
      method: 'DELETE',
      target: '/v1/store/orders/1',
      since: expect.stringMatching(/Z$/),
    });
    expect(await exchange(1)).toMatchObject({ status: 204, hold: { name: 'default' } });
    expect((await client.control('GET status')).json).toMatchObject({ held: 1 });
    expect(await release()).toEqual({ released: [held], held: 0 });
    const { status, headers } = await cancelled;
    expect([status, headers['mock-basis']]).toEqual([204, 'documented']);
    const after = await exchange(1);
    expect(after.hold).toEqual({ name: 'default', ended: 'released', lasted: expect.any(Number) });
    expect(after.duration).toBeGreaterThanOrEqual(after.hold.lasted);
  });

  test('lasts no time under a frozen clock, as no call does', async () => {
    const client = await openMock({ clock: Date.UTC(2030, 0), frozen: true, maxHold: 1 });
    const { use, exchange } = holdsOf(client);
    await use({ on: 'listPets', hold: true });
    await client.send('GET', '/v1/pets');
    const message = 'The hold "default" was not released; its reply was sent at its end.';
    expect(await exchange(1)).toMatchObject({
      duration: 0,
      hold: { ended: 'expired', lasted: 0 },
      findings: [{ code: 'unreleased-hold', message }],
    });
  });

  test('has its replies released by name, by number, some or all, the oldest first', async () => {
    const client = await openMock();
    const { use, arrived, release } = holdsOf(client);
    await use(
      { on: 'getPet', where: { petId: 2 }, hold: 'other' },
      { on: 'getPet', hold: 'one' },
      { on: 'cancelOrder', reply: { status: 409 }, hold: 'no' },
      { on: 'listPets', fault: 'html', hold: 'no' },
    );
    const calls: Promise<Answer>[] = [];
    for (const path of ['/pets/1', '/pets/2', '/pets/1', '/pets/1', '/store/orders/1', '/pets']) {
      const method = path === '/store/orders/1' ? 'DELETE' : 'GET';
      calls.push(client.send(method, `/v1${path}`));
      await arrived(calls.length);
    }
    for (const [which, exchange, held, status] of [
      [{ name: 'one', newestFirst: true, count: 1 }, 4, 5, 200],
      [{ exchanges: [3, 99] }, 3, 4, 200],
      [{ name: 'other' }, 2, 3, 200],
      [{ count: 1 }, 1, 2, 200],
      [{ name: 'no', count: 1 }, 5, 1, 409],
      [{}, 6, 0, 502],
    ] as const) {
      expect(await release(which)).toMatchObject({ released: [{ exchange }], held });
      expect((await calls[exchange - 1])?.status).toBe(status);
    }
    expect(await release()).toEqual({ released: [], held: 0 });
    for (const [search, count] of Object.entries({
      'hold:one': 3,
      'hold:ANY': 6,
      'hold:an': 0,
      '-hold:n': 6,
    }))
      expect((await client.control('POST requests/count', { search })).json).toMatchObject({
        count,
      });
    // What the rule replies itself runs no operation.
    expect((await client.control('GET orders/1')).json).toMatchObject({ status: 'pending' });
  });

  test('ends with a reset, which its journal says if it is kept', async () => {
    const client = await openMock();
    const { use, arrived, reset, exchange, count } = holdsOf(client);
    await use({ on: 'listPets', hold: true });
    const listed = client.send('GET', '/v1/pets');
    await arrived(1);
    await reset(['journal']);
    expect((await listed).status).toBe(200);
    expect((await exchange(1)).hold).toMatchObject({ ended: 'reset' });
    expect(await count({ held: true })).toEqual({ count: 0, complete: true });
  });

  test('outlasts a jump of the clock of the machine', async () => {
    const client = await openMock();
    const { use, arrived, list, release } = holdsOf(client);
    await use({ on: 'listPets', hold: true });
    const pets = client.send('GET', '/v1/pets');
    await arrived(1);
    onTestFinished(() => void vi.useRealTimers());
    for (const jump of [600_000, -1_200_000]) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + jump });
      expect(await list()).toHaveLength(1);
    }
    await release();
    expect((await pets).status).toBe(200);
  });

  test('ends when the client leaves', async () => {
    const client = await openServer();
    const { use, count } = holdsOf(client);
    await use({ on: 'listPets', hold: 'left' });
    const { service } = Object((await client.send('GET', '/')).json);
    const { socket } = await openRaw(Number(new URL(service).port));
    socket.write(rawRequest('GET', '/v1/pets'));
    await count({ hold: 'left', atLeast: 1 });
    socket.destroy();
    const ended = { hold: 'left', held: false, atLeast: 1, within: 'PT5S' };
    expect(await count(ended)).toEqual({ count: 1, complete: true });
  });
});

describe('a held reply', () => {
  async function start(options: ServerOptions = {}) {
    const holds: RecordedExchange['hold'][] = [];
    const findings: string[] = [];
    const server = await serverFor({
      ...options,
      port: 0,
      observe: (_, { hold }) => holds.push(hold),
      onFinding: ({ code, message }) => findings.push(`${code}: ${message}`),
    });
    return { server, client: clientAt(server.port), holds, findings };
  }

  test('goes out when nobody releases it in time, and a finding says so', async () => {
    const { client, holds, findings } = await start({ maxHold: 30 });
    const { use, exchange } = holdsOf(client);
    await use({ on: 'listPets', hold: 'lists' });
    expect((await client.send('GET', '/v1/pets')).status).toBe(200);
    const { hold, findings: noted } = await exchange(1);
    expect(hold).toMatchObject({ ended: 'expired' });
    expect(noted).toMatchObject([{ code: 'unreleased-hold' }]);
    const late = /^unreleased-hold: The hold "lists" was not released; .* sent after 0\.\d+ s\.$/;
    expect(findings).toEqual([expect.stringMatching(late)]);
    expect(holds.map((it) => it?.ended)).toEqual([undefined, 'expired']);
  });

  test.each(['deleted', 'stopped'])('goes out when it is %s with its sandbox', async (ended) => {
    const { server, client, holds } = await start();
    const { use, arrived } = holdsOf(client, '/~mine');
    await use({ on: 'listPets', hold: true });
    const listed = client.send('GET', '/~mine/v1/pets');
    await arrived(1);
    if (ended === 'stopped') await server.close();
    else await client.send('DELETE', '/__mock/sandboxes/mine');
    expect((await listed).status).toBe(200);
    expect(holds.map((it) => it?.ended)).toEqual([undefined, ended]);
  });

  test('is released with --db, where its change was kept before', async () => {
    const { client } = await start({ db: join(folder, 'store.json') });
    const { use, arrived, release, exchange } = holdsOf(client);
    await use({ on: 'createPet', hold: true });
    const created = client.send('POST', '/v1/pets', { body: { name: 'Rex', categoryId: 1 } });
    await arrived(1);
    expect((await client.send('GET', '/v1/pets/65')).json).toMatchObject({ name: 'Rex' });
    expect(await release()).toMatchObject({ released: [{ exchange: 1 }] });
    expect((await created).status).toBe(201);
    expect((await exchange(1)).hold).toMatchObject({ ended: 'released' });
  });
});

describe('a latch', () => {
  test('holds back what the scenarios reply, by calls of its own, until it is opened or reset', async () => {
    const client = await openMock();
    const { use, set, arrived, release, reset } = holdsOf(client);
    const list = () => client.send('GET', '/v1/pets?limit=1');
    await set({ on: 'listPets', where: { limit: 1 }, calls: 2, hold: 'lists' });
    expect((await list()).status).toBe(200);
    await use({ on: 'listPets', delay: 60_000, reply: { status: 503 } });
    const second = list();
    await arrived(1);
    await release({ name: 'lists', open: true });
    const { status, headers } = await second;
    expect([status, headers['mock-basis']]).toEqual([503, 'forced;by="request#1"']);
    await set({ on: 'listPets', hold: 'lists' });
    await reset([]);
    expect((await list()).status).toBe(200);
  });

  test.each([
    [{}, 'latch lists'],
    [{ calls: '1-2' }, 'latch lists, call 1 of 2'],
    [{ reply: { status: 503 } }, 'latch lists'],
  ])('is named as the reason of what it holds: %j', async (members, reason) => {
    const client = await openMock({ maxHold: 1 });
    const { set, exchange } = holdsOf(client);
    await set({ on: 'listPets', hold: 'lists', ...members });
    const { headers } = await client.send('GET', '/v1/pets');
    expect((await exchange(1)).why).toContain(reason);
    if ('reply' in members) expect(headers['mock-basis']).toBe('forced;by="latch#1"');
  });

  test('is named by --delay for a delay of every call', async () => {
    const client = await openMock({ delay: 1 });
    await client.send('GET', '/v1/pets');
    expect((await holdsOf(client).exchange(1)).why).toEqual(['--delay']);
  });
});

describe('a count that waits', () => {
  test('answers as soon as enough exchanges match, or when the time is over', async () => {
    const client = await openMock();
    const { count } = holdsOf(client);
    const missing = { operation: 'getPet', atLeast: 3, within: 'PT0.05S' };
    const counted = count({ operation: 'getPet', atLeast: 2, within: 'PT60S' });
    for (const id of [1, 2]) await client.send('GET', `/v1/pets/${id}`);
    await client.send('GET', '/v1/pets');
    expect(await counted).toEqual({ count: 2, complete: true });
    expect(await count(missing)).toEqual({ count: 2, complete: true });
    expect(await count({ atLeast: 0 })).toEqual({ count: 3, complete: true });
  });

  test('counts exchanges that the journal dropped meanwhile', async () => {
    const client = await openMock({ journal: 1 });
    // Loads the control API: the count must arrive first.
    await client.send('GET', '/__mock/clock');
    const counted = holdsOf(client).count({ atLeast: 3, within: 'PT60S' });
    for (const id of [1, 2, 3]) await client.send('GET', `/v1/pets/${id}`);
    expect(await counted).toMatchObject({ count: 3 });
  });
});
