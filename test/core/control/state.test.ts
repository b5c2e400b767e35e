import { describe, expect, test } from 'vitest';
import { openMock } from '../../helpers/in-process.ts';

describe('the state in the control API', () => {
  test('the status names what differs from a fresh mock', async () => {
    const { send, control } = await openMock({ upstream: 'http://127.0.0.1:9/v1' });
    const fresh = {
      sandbox: 'default',
      scenarios: [],
      assumptions: [],
      held: 0,
      latches: [],
      latestExchange: 0,
      keptExchanges: 0,
      upstream: 'http://127.0.0.1:9/v1',
      changed: { animals: 0, inventory: 0, orders: 0 },
      changedIds: { animals: [], inventory: [], orders: [] },
      server: { id: expect.any(String), startedAt: expect.any(String) },
      keys: ['demo-key', 'demo-read-only-key'],
    };
    const clock = { now: expect.any(String), real: true, frozen: false };
    expect((await control('GET status')).json).toEqual({ ...fresh, clock });
    await control('POST holds', { on: 'getPet', hold: 'pets' });
    await control('PUT scenario', { scenarios: ['flaky', 'invalid-keys', 'slow'] });
    await control('DELETE animals/1');
    await control('PATCH assumptions', { 'unknown-pet': '400' });
    await control('PUT clock', { now: '2031-01-01T00:00:00Z', frozen: true });
    await send('GET', '/v1/nowhere');
    expect((await control('GET status')).json).toEqual({
      ...fresh,
      scenarios: ['flaky', 'invalid-keys', 'slow'],
      assumptions: ['unknown-pet=400'],
      clock: { now: '2031-01-01T00:00:00.000Z', real: false, frozen: true },
      latches: ['pets'],
      latestExchange: 1,
      keptExchanges: 1,
      changed: { animals: 1, inventory: 1, orders: 1 },
      changedIds: { animals: ['1'], inventory: ['1'], orders: ['1'] },
      keys: [],
    });
  });

  test('records are merged by id, in both forms, and those of a removed animal go', async () => {
    const { control } = await openMock();
    const [rex, max] = [1, 2].map((id) => ({ id, name: `n${id}`, categoryId: 1 }));
    await control('PUT state', { animals: [rex] });
    const sold = { ...rex, status: 'sold' };
    const orders = [{ id: 3, petId: 1, status: 'pending' }];
    const others = [{ id: 4, petId: 2, status: 'pending' }];
    for (const [changes, expected] of [
      [
        { animals: [{ id: 1, status: 'sold' }], orders: { set: orders } },
        { animals: [sold], orders },
      ],
      [
        { animals: [{ id: 1, status: null }], orders: [{ id: 3, status: null }] },
        { animals: [rex], orders },
      ],
      [
        { animals: { remove: [1], set: [max] }, orders: others },
        { animals: [max], orders: others },
      ],
      [{ animals: { remove: 'all' } }, { animals: [], orders: [] }],
    ] as const) {
      const { json } = await control('PATCH state', changes);
      expect(json).toEqual({ ...expected, inventory: [] });
    }
  });

  test('an order without a status is pending wherever it is shown, filtered and changed', async () => {
    const { send, control } = await openMock({ assume: { 'order-status-field': 'shown' } });
    const pending = { id: 1, status: 'pending' };
    const put = await control('PUT state', { orders: [{ id: 1 }, { id: 2, status: 'shipped' }] });
    expect(Object(put.json).orders).toEqual([pending, { id: 2, status: 'shipped' }]);
    const merged = await control('PATCH state', { orders: { set: [{ id: 3 }] } });
    expect(Object(merged.json).orders[2]).toEqual({ id: 3, status: 'pending' });
    expect((await control('PATCH orders/2', { status: null })).json).toEqual({
      id: 2,
      status: 'pending',
    });
    const found = await control('GET orders?status=pending');
    expect([found.json, found.headers['x-total-count']]).toMatchObject([[pending, {}, {}], '3']);
    const each = { where: { status: 'pending', id: 1 }, quantity: 7 };
    const { json } = await control('PATCH state', { orders: { each } });
    expect(Object(json).orders[0]).toEqual({ ...pending, quantity: 7 });
    expect(Object((await send('GET', '/v1/store/orders')).json)[0]).toEqual({
      ...pending,
      quantity: 7,
    });
  });

  test('`each` changes existing records, after `remove` and before `set`', async () => {
    const { control } = await openMock();
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
  });

  test('a reset puts back everything, or all but what it is told to keep', async () => {
    const { send, control } = await openMock({ assume: { 'cancel-again': '204' } });
    /** The parts of a sandbox that a reset can keep, where they are as `resetKeeping` changes them. */
    const changed = async () => {
      const { json } = await control('GET status');
      const { scenarios, assumptions, clock, changed } = Object(json);
      const parts = {
        store: changed.animals > 0,
        scenario: scenarios.length > 0,
        assumptions: assumptions[0] === 'cancel-again=404',
        clock: clock.frozen,
        journal: Object((await control('GET requests')).json).total > 0,
      };
      return Object.entries(parts).flatMap(([part, isChanged]) => (isChanged ? [part] : []));
    };
    const resetKeeping = async (body?: object) => {
      await control('PUT scenario', { scenarios: ['outage'] });
      await control('PUT state', {});
      await control('PATCH assumptions', { 'cancel-again': '404' });
      await control('PUT clock', { now: '2040-01-01T00:00:00Z', frozen: true });
      await send('GET', '/v1/nothing');
      expect(await changed()).toHaveLength(5);
      await control('POST reset', body);
      return changed();
    };
    expect(await resetKeeping()).toEqual([]);
    for (const part of ['store', 'scenario', 'assumptions', 'clock', 'journal']) {
      expect(await resetKeeping({ keep: [part] })).toEqual([part]);
    }
  });

  test('a reset returns to the state that was made the start', async () => {
    const { control } = await openMock();
    const sent = { assume: { 'cancel-again': '204' } };
    await control('PUT scenario', { scenarios: ['outage'], scenario: sent });
    await control('DELETE orders/1');
    await control('PATCH assumptions', { 'cancel-again': '404' });
    await control('PUT clock', { now: '2040-01-01T00:00:00Z', frozen: true });
    const arranged = await control('GET status');
    expect(await control('POST start')).toMatchObject({ status: 204 });
    await control('PUT scenario', { scenarios: [] });
    await control('PUT state', {});
    await control('PATCH assumptions', { 'cancel-again': '204' });
    await control('PUT clock', { real: true });
    await control('POST reset', { keep: [] });
    const { scenarios, assumptions, clock } = Object(arranged.json);
    expect((await control('GET status')).json).toMatchObject({ scenarios, assumptions, clock });
    expect((await control('GET orders/1')).status).toBe(404);
    expect((await control('GET orders/2')).status).toBe(200);
  });

  test('a snapshot comes last when it is replaced, and outlasts a reset', async () => {
    const { control } = await openMock();
    for (const name of ['first', 'second', 'first']) await control('POST snapshots', { name });
    await control('POST reset', { keep: [] });
    const names = [{ name: 'second' }, { name: 'first' }];
    expect((await control('GET snapshots')).json).toMatchObject(names);
  });

  test.each<[kind: string, call: (name: string) => [call: string, body: object]]>([
    ['snapshots', (name) => ['POST snapshots', { name }]],
    ['latches', (hold) => ['POST holds', { on: 'listPets', hold }]],
    ['scenarios', (name) => [`PUT scenarios/${name}`, { rules: [] }]],
  ])('a sandbox has at most 100 %s, each of which can be replaced', async (kind, call) => {
    const { control } = await openMock();
    for (let count = 1; count <= 100; count += 1) await control(...call(`s${count}`));
    const refused = { status: 409, json: { code: `too_many_${kind}` } };
    expect(await control(...call('more'))).toMatchObject(refused);
    expect((await control(...call('s1'))).status).toBeLessThan(300);
  });
});

describe('assumptions in the control API', () => {
  test('what a check of a deployment found out stands beside them, in every sandbox', async () => {
    const found = { deployment: 'https://staging.example/v1', at: '2026-11-22T09:00:00.000Z' };
    const verdict = { verdict: 'settled', option: '404', why: 'DELETE' } as const;
    const checked = { ...found, assumptions: [{ id: 'cancel-again', ...verdict } as const] };
    const { send } = await openMock({ checked });
    const { json } = await send('GET', '/~a/__mock/assumptions');
    const told = Object(json).filter((it: object) => 'checked' in it);
    expect(told).toMatchObject([{ id: 'cancel-again', checked: { ...found, ...verdict } }]);
  });
});

describe('the clock in the control API', () => {
  test('stands still at the end of the year 9999, and can be moved back', async () => {
    const { send, control } = await openMock({ clock: Date.UTC(9999, 11, 31, 23, 59, 59, 990) });
    const clock = async () => Object((await control('GET clock')).json).now;
    await expect.poll(clock).toBe('9999-12-31T23:59:59.999Z');
    expect(await clock()).toBe('9999-12-31T23:59:59.999Z');
    expect((await send('GET', '/v1/pets/1')).headers.date).toMatch(/ 9999 /);
    await control('POST clock/advance', { by: '-P1DT1H' });
    expect(await clock()).toMatch(/^9999-12-30T/);
  });
});
