import { expect, test } from 'vitest';
import { type Client, describeServer } from '../helpers/wire.ts';

const ONE = { animals: [{ id: 1, name: 'Rex', categoryId: 1 }], inventory: [], orders: [] };

describeServer('the state in the control API', (open) => {
  test('a whole store can be read and put back', async () => {
    const { send } = await open();
    const { text } = await send('GET', '/__mock/state');
    expect(await send('PUT', '/__mock/state', { body: ONE })).toMatchObject({ json: ONE });
    expect((await send('GET', '/v1/pets')).json).toHaveLength(1);
    await send('PUT', '/__mock/state', { body: text });
    expect((await send('GET', '/__mock/state')).text).toBe(text);
  });

  test('the status names what differs from a fresh mock', async () => {
    const { send } = await open();
    expect((await send('GET', '/__mock/status')).json).toMatchObject({
      sandbox: 'default',
      scenarios: [],
      assumptions: [],
      clock: { real: true, frozen: false },
      latches: [],
      latestExchange: 0,
    });
    await send('POST', '/__mock/holds', { body: { on: 'getPet', hold: 'pets' } });
    await send('PUT', '/__mock/scenario', { body: { scenarios: ['flaky', 'slow'] } });
    await send('PATCH', '/__mock/assumptions', { body: { 'unknown-pet': '400' } });
    await send('PUT', '/__mock/clock', { body: { now: '2031-01-01T00:00:00Z', frozen: true } });
    await send('PUT', '/__mock/upstream', { body: { url: 'http://127.0.0.1:9/v1' } });
    await send('GET', '/v1/nowhere');
    expect((await send('GET', '/__mock/status')).json).toEqual({
      sandbox: 'default',
      scenarios: ['flaky', 'slow'],
      assumptions: ['unknown-pet=400'],
      clock: { now: '2031-01-01T00:00:00.000Z', real: false, frozen: true },
      upstream: 'http://127.0.0.1:9/v1',
      held: 0,
      latches: ['pets'],
      latestExchange: 1,
    });
  });

  test('records are merged by id, in both forms', async () => {
    const { send } = await open();
    await send('PUT', '/__mock/state', { body: ONE });
    const body = { animals: [{ id: 1, status: 'sold' }], orders: { set: [{ id: 3, petId: 1 }] } };
    const merged = await send('PATCH', '/__mock/state', { body });
    expect(merged.json).toEqual({
      animals: [{ id: 1, name: 'Rex', categoryId: 1, status: 'sold' }],
      inventory: [],
      orders: [{ id: 3, petId: 1 }],
    });
    const emptied = await send('PATCH', '/__mock/state', { body: { animals: { remove: 'all' } } });
    expect(emptied.json).toEqual({ animals: [], inventory: [], orders: [] });
  });

  test('`each` changes existing records, after `remove` and before `set`', async () => {
    const { send } = await open();
    const orders = {
      remove: [2],
      each: [{ status: 'shipped' }, { where: { petId: [null, 33] }, quantity: 9 }],
      set: [{ id: 1, status: 'cancelled' }],
    };
    const { json } = await send('PATCH', '/__mock/state', { body: { orders } });
    const { orders: changed } = Object(json);
    expect(changed).toHaveLength(13);
    expect(changed.slice(0, 2)).toMatchObject([
      { id: 1, status: 'cancelled' },
      { id: 3, status: 'shipped', quantity: 6 },
    ]);
    expect(changed).toContainEqual({ id: 9, quantity: 9, status: 'shipped' });
    expect((await send('DELETE', '/v1/store/orders/4')).status).toBe(409);
    await send('POST', '/__mock/orders', { body: { id: 50 } });
    expect((await send('DELETE', '/v1/store/orders/50')).status).toBe(204);
  });

  /** Changes everything that a reset puts back. */
  async function changeAll(send: Client['send']): Promise<void> {
    await send('PUT', '/__mock/scenario', { body: { scenarios: ['outage'] } });
    await send('PUT', '/__mock/state', { body: ONE });
    await send('PATCH', '/__mock/assumptions', { body: { 'cancel-again': '404' } });
    await send('PUT', '/__mock/clock', { body: { now: '2040-01-01T00:00:00Z', frozen: true } });
    await send('GET', '/v1/nothing');
  }

  /** The parts of a sandbox that a reset can keep, and whether each is as it was changed. */
  async function changed(send: Client['send']): Promise<string[]> {
    const text = async (path: string) => (await send('GET', `/__mock/${path}`)).text;
    const parts: [string, boolean][] = [
      ['store', !(await text('animals')).includes('"id":2')],
      ['scenario', (await text('scenario')).includes('outage')],
      ['assumptions', (await text('assumptions')).includes('"chosen":"404","default":"409"')],
      ['clock', (await text('clock')).includes('2040')],
      ['journal', (await text('requests')).includes('/v1/nothing')],
    ];
    return parts.flatMap(([part, is]) => (is ? [part] : []));
  }

  test('a reset puts back everything, or all but what it is told to keep', async () => {
    const { send } = await open();
    const kept = async (body?: object) => {
      await changeAll(send);
      expect(await changed(send)).toHaveLength(5);
      expect((await send('POST', '/__mock/reset', body && { body })).status).toBe(204);
      return changed(send);
    };
    expect(await kept()).toEqual([]);
    expect((await send('GET', '/v1/pets/2')).status).toBe(200);
    for (const part of ['store', 'scenario', 'assumptions', 'clock', 'journal']) {
      expect(await kept({ keep: [part] })).toEqual([part]);
    }
  });

  test('the clock stands still at the end of the year 9999, and can be moved back', async () => {
    const { send } = await open({ clock: Date.UTC(9999, 11, 31, 23, 59, 59, 990) });
    const clock = async () => Object((await send('GET', '/__mock/clock')).json).now;
    await expect.poll(clock).toMatch(/\.999Z$|^\+/);
    for (let times = 0; times < 3; times += 1) {
      expect(await clock()).toBe('9999-12-31T23:59:59.999Z');
    }
    const reply = await send('GET', '/v1/pets/1');
    expect(reply.headers.date).toMatch(/ 9999 /);
    await send('POST', '/__mock/clock/advance', { body: { by: '-P1DT1H' } });
    expect(await clock()).toMatch(/^9999-12-30T/);
  });

  test('a snapshot can be restored many times, and comes last when it is replaced', async () => {
    const { send } = await open();
    const before = (await send('GET', '/__mock/state')).text;
    const kept = await send('POST', '/__mock/snapshots', { body: { name: 'first' } });
    expect(kept).toMatchObject({ status: 201, json: { name: 'first' } });
    for (const _round of [1, 2]) {
      await send('DELETE', '/__mock/animals/1');
      const restored = await send('POST', '/__mock/snapshots/first/restore');
      expect(restored).toMatchObject({ status: 204 });
      expect((await send('GET', '/__mock/state')).text).toBe(before);
    }
    const again = await send('POST', '/__mock/snapshots', { body: { name: 'first' } });
    expect(again.status).toBe(200);
    expect((await send('GET', '/__mock/snapshots')).json).toHaveLength(1);
    for (const name of ['second', 'first']) {
      await send('POST', '/__mock/snapshots', { body: { name } });
    }
    expect((await send('GET', '/__mock/snapshots')).json).toMatchObject([
      { name: 'second' },
      { name: 'first' },
    ]);
    expect(await send('DELETE', '/__mock/snapshots/first')).toMatchObject({ status: 204 });
  });

  test('a sandbox has at most 100 snapshots', async () => {
    const { send } = await open();
    const keep = (name: string) => send('POST', '/__mock/snapshots', { body: { name } });
    for (let count = 0; count < 100; count += 1) expect((await keep(`s${count}`)).status).toBe(201);
    expect(await keep('more')).toMatchObject({ status: 409, json: { code: 'too_many_snapshots' } });
    expect((await keep('s1')).status).toBe(200);
  });
});
