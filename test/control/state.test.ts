import { expect, test } from 'vitest';
import { type Client, describeServer } from '../helpers/wire.ts';

const ONE = { animals: [{ id: 1, name: 'Rex', categoryId: 1 }], inventory: [], orders: [] };

describeServer('the state in the control API', (open) => {
  test('the status names what differs from a fresh mock', async () => {
    const { send, control } = await open();
    expect((await control('GET status')).json).toMatchObject({
      sandbox: 'default',
      scenarios: [],
      assumptions: [],
      clock: { real: true, frozen: false },
      latches: [],
      latestExchange: 0,
      changed: { animals: 0, inventory: 0, orders: 0 },
      keys: ['demo-key', 'demo-read-only-key'],
    });
    await control('POST holds', { on: 'getPet', hold: 'pets' });
    await control('PUT scenario', { scenarios: ['flaky', 'invalid-keys', 'slow'] });
    await control('DELETE animals/1');
    await control('PATCH assumptions', { 'unknown-pet': '400' });
    await control('PUT clock', { now: '2031-01-01T00:00:00Z', frozen: true });
    await control('PUT upstream', { url: 'http://127.0.0.1:9/v1' });
    await send('GET', '/v1/nowhere');
    expect((await control('GET status')).json).toEqual({
      sandbox: 'default',
      scenarios: ['flaky', 'invalid-keys', 'slow'],
      assumptions: ['unknown-pet=400'],
      clock: { now: '2031-01-01T00:00:00.000Z', real: false, frozen: true },
      upstream: 'http://127.0.0.1:9/v1',
      held: 0,
      latches: ['pets'],
      latestExchange: 1,
      changed: { animals: 1, inventory: 1, orders: 1 },
      keys: [],
    });
  });

  test('records are merged by id, in both forms, and those of a removed animal go', async () => {
    const { control } = await open();
    await control('PUT state', ONE);
    const body = { animals: [{ id: 1, status: 'sold' }], orders: { set: [{ id: 3, petId: 1 }] } };
    expect((await control('PATCH state', body)).json).toEqual({
      animals: [{ id: 1, name: 'Rex', categoryId: 1, status: 'sold' }],
      inventory: [],
      orders: [{ id: 3, petId: 1 }],
    });
    const max = { id: 2, name: 'Max', categoryId: 1 };
    const orders = [{ id: 4, petId: 2 }];
    const replaced = await control('PATCH state', { animals: { remove: [1], set: [max] }, orders });
    expect(replaced.json).toEqual({ animals: [max], inventory: [], orders });
    const emptied = await control('PATCH state', { animals: { remove: 'all' } });
    expect(emptied.json).toEqual({ animals: [], inventory: [], orders: [] });
  });

  test('`each` changes existing records, after `remove` and before `set`', async () => {
    const { send, control } = await open();
    const { json } = await control('PATCH state', {
      orders: {
        remove: [2],
        each: [
          { status: 'shipped' },
          { where: { petId: [null, 33] }, quantity: 9 },
          { where: { quantity: 9 }, petId: null },
        ],
        set: [{ id: 1, status: 'cancelled' }],
      },
    });
    const { orders } = Object(json);
    expect(orders).toHaveLength(13);
    expect(orders.slice(0, 2)).toMatchObject([
      { id: 1, status: 'cancelled' },
      { id: 3, status: 'shipped', quantity: 6 },
    ]);
    expect(orders).toContainEqual({ id: 9, quantity: 9, status: 'shipped' });
    const seventh = { id: 7, quantity: 9, shipDate: '2033-01-10T07:30:00Z', status: 'shipped' };
    expect(orders).toContainEqual(seventh);
    expect((await send('DELETE', '/v1/store/orders/4')).status).toBe(409);
    await control('POST orders', { id: 50 });
    expect((await send('DELETE', '/v1/store/orders/50')).status).toBe(204);
  });

  test('a reset puts back everything, or all but what it is told to keep', async () => {
    const { send, control } = await open();
    const text = async (path: string) => (await control(`GET ${path}`)).text;
    /** The parts of a sandbox that a reset can keep, where they are as `kept` changes them. */
    const changed = async () => {
      const parts = {
        store: !(await text('animals')).includes('"id":2'),
        scenario: (await text('scenario')).includes('outage'),
        assumptions: (await text('assumptions')).includes('"chosen":"404","default":"409"'),
        clock: (await text('clock')).includes('2040'),
        journal: (await text('requests')).includes('/v1/nothing'),
      };
      return Object.entries(parts).flatMap(([part, isChanged]) => (isChanged ? [part] : []));
    };
    const kept = async (body?: object) => {
      await control('PUT scenario', { scenarios: ['outage'] });
      await control('PUT state', ONE);
      await control('PATCH assumptions', { 'cancel-again': '404' });
      await control('PUT clock', { now: '2040-01-01T00:00:00Z', frozen: true });
      await send('GET', '/v1/nothing');
      expect(await changed()).toHaveLength(5);
      expect((await control('POST reset', body)).status).toBe(204);
      return changed();
    };
    expect(await kept()).toEqual([]);
    for (const part of ['store', 'scenario', 'assumptions', 'clock', 'journal']) {
      expect(await kept({ keep: [part] })).toEqual([part]);
    }
  });

  test('a snapshot can be restored many times, and comes last when it is replaced', async () => {
    const { control } = await open();
    const before = (await control('GET state')).text;
    const kept = { status: 201, json: { name: 'first' } };
    expect(await control('POST snapshots', { name: 'first' })).toMatchObject(kept);
    for (const _round of [1, 2]) {
      await control('DELETE animals/1');
      expect((await control('POST snapshots/first/restore')).status).toBe(204);
      expect((await control('GET state')).text).toBe(before);
    }
    expect((await control('POST snapshots', { name: 'first' })).status).toBe(200);
    for (const name of ['second', 'first']) await control('POST snapshots', { name });
    const names = [{ name: 'second' }, { name: 'first' }];
    expect((await control('GET snapshots')).json).toMatchObject(names);
    expect((await control('DELETE snapshots/first')).status).toBe(204);
  });
});

const SAVE: Readonly<Record<string, (client: Client, name: string) => ReturnType<Client['send']>>> =
  {
    snapshots: ({ control }, name) => control('POST snapshots', { name }),
    latches: ({ control }, hold) => control('POST holds', { on: 'listPets', hold }),
    scenarios: ({ control }, name) => control(`PUT scenarios/${name}`, { rules: [] }),
  };

describeServer('a sandbox', (open) => {
  test.each(Object.entries(SAVE))(
    'has at most 100 %s, each of which can be replaced',
    async (kind, save) => {
      const client = await open();
      for (let count = 1; count <= 100; count += 1) {
        expect((await save(client, `s${count}`)).status).toBeLessThan(300);
      }
      const refused = { status: 409, json: { code: `too_many_${kind}` } };
      expect(await save(client, 'more')).toMatchObject(refused);
      expect((await save(client, 's1')).status).toBeLessThan(300);
    },
  );
});

describeServer('assumptions in the control API', (open) => {
  test('what a check of a deployment found out stands beside them, in every sandbox', async () => {
    const found = { deployment: 'https://staging.example/v1', at: '2026-11-22T09:00:00.000Z' };
    const verdict = { verdict: 'settled', option: '404', why: 'DELETE' } as const;
    const checked = { ...found, assumptions: [{ id: 'cancel-again', ...verdict } as const] };
    const { send } = await open({ checked });
    const { json } = await send('GET', '/~a/__mock/assumptions');
    const told = Object(json).filter((it: object) => 'checked' in it);
    expect(told).toMatchObject([{ id: 'cancel-again', checked: { ...found, ...verdict } }]);
  });
});

describeServer('the clock in the control API', (open) => {
  test('stands still at the end of the year 9999, and can be moved back', async () => {
    const { send, control } = await open({ clock: Date.UTC(9999, 11, 31, 23, 59, 59, 990) });
    const clock = async () => Object((await control('GET clock')).json).now;
    await expect.poll(clock).toBe('9999-12-31T23:59:59.999Z');
    expect(await clock()).toBe('9999-12-31T23:59:59.999Z');
    expect((await send('GET', '/v1/pets/1')).headers.date).toMatch(/ 9999 /);
    await control('POST clock/advance', { by: '-P1DT1H' });
    expect(await clock()).toMatch(/^9999-12-30T/);
  });
});
