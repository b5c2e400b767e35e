import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseOptions } from '../../../src/core/contract/assumption-table.ts';
import { INT64, STORED_RECORDS, TEXT } from '../../../src/core/contract/records.ts';
import { InputReader } from '../../../src/core/service/input.ts';
import { updateInventory, withQuantity } from '../../../src/core/service/inventory.ts';
import { cancelOrder } from '../../../src/core/service/orders.ts';
import { AssumptionTrace, representationFor } from '../../../src/core/service/reply.ts';
import { FLAG, readAs, type Shape } from '../../../src/core/shape/shapes.ts';
import { createStore } from '../../../src/core/store/store.ts';
import { callOf } from '../../helpers/call.ts';
import { openMock } from '../../helpers/in-process.ts';
import { serviceStateWith } from '../../helpers/service-state.ts';
import { fixtureFile } from '../../helpers/wire.ts';

/** 2^53+1, which a double rounds, and both ends of an int64. */
const EXACT = ['9007199254740993', '9223372036854775807', '-9223372036854775808'];

/** Anything but an int64, as JSON text. */
const REFUSED = ['9223372036854775808', '-9223372036854775809', '1.5', '"1"'];

const fixtureOf = (id: string) => `{
  "animals": [{ "id": ${id}, "name": "Rex", "categoryId": ${id}, "status": "available" }],
  "inventory": [{ "petId": ${id}, "quantity": 4, "status": "available" }],
  "orders": [{ "id": ${id}, "petId": ${id}, "quantity": 1 }]
}`;

describe('an int64', () => {
  test.each(EXACT)('%s is exact in a fixture, a path, a body and every reply', async (id) => {
    const client = await openMock({ fixture: fixtureFile(fixtureOf(id)) });
    const created = await client.send('POST', '/v1/pets', {
      body: `{"name":"Bo","categoryId":${id}}`,
    });
    // The highest one leaves none.
    const known = id === EXACT[1] ? '"ids_exhausted"' : `"name":"Bo","categoryId":${id}}`;
    expect(created.text).toContain(known);
    const animal = `{"id":${id},"name":"Rex","categoryId":${id},"status":"available"}`;
    for (const [call, status, text, body] of [
      ['GET /v1/pets?limit=1', 200, `[${animal}]`],
      [`GET /v1/pets/${id}`, 200, animal],
      ['GET /v1/inventory', 200, `[{"petId":${id},"quantity":4,"status":"available"}`],
      [`PATCH /v1/inventory/${id}`, 200, `{"petId":${id},"quantity":7,`, { quantity: 7 }],
      ['GET /v1/store/orders', 200, `[{"id":${id},"petId":${id},"quantity":1}]`],
      [`DELETE /v1/store/orders/${id}`, 204, ''],
    ] as const) {
      const [method = '', path = ''] = call.split(' ');
      const reply = await client.send(method, path, { body });
      expect([call, reply.status, reply.text.slice(0, text.length)]).toEqual([call, status, text]);
    }
  });

  test.each(REFUSED)('is not %s, in a path or a body', async (text) => {
    const client = await openMock();
    const segment = encodeURIComponent(text);
    for (const [method, path, body] of [
      ['GET', `/v1/pets/${segment}`],
      ['PATCH', `/v1/inventory/${segment}`, { quantity: 1 }],
      ['DELETE', `/v1/store/orders/${segment}`],
      ['POST', '/v1/pets', `{"name":"Rex","categoryId":${text}}`],
    ] as const) {
      const { json } = await client.send(method, path, { body });
      const message = expect.stringMatching(/^(?:petId|orderId|body\.categoryId): expected an int/);
      expect(json).toEqual({ code: 'invalid_input', message, status: 400 });
    }
  });

  test.each([
    ['next', 507],
    ['int64', 201],
  ] as const)('above the highest one, assigned-ids=%s decides the %i', async (option, status) => {
    const fixture = fixtureFile(fixtureOf('9223372036854775807'));
    const client = await openMock({ fixture, assume: { 'assigned-ids': option } });
    const created = await client.send('POST', '/v1/pets', { body: { name: 'Rex', categoryId: 1 } });
    expect(created.status).toBe(status);
    expect(created.headers['mock-basis']).toBe(`assumed;by="assigned-ids=${option}"`);
  });
});

test('a change of a quantity keeps all other fields of the entry', () => {
  const before = { petId: 1n, quantity: 2, status: 'available', shelf: 'A3' };
  const store = createStore({ inventory: [before] });
  const { entry } = withQuantity(serviceStateWith(store), before, 5);
  expect(entry).toEqual({ ...before, quantity: 5 });
});

test.each<[string, Shape<unknown>, unknown]>([
  ['1200', INT64, 1200n],
  ['-9223372036854775808', INT64, -(2n ** 63n)],
  ['abc', INT64, undefined],
  ['', INT64, undefined],
  ['01200', INT64, undefined],
  ['1200.0', INT64, undefined],
  ['12e2', INT64, undefined],
  [' 1200', INT64, undefined],
  ['99999999999999999999', INT64, undefined],
  ['1200', TEXT, '1200'],
  ['', TEXT, ''],
  ['"quoted"', TEXT, '"quoted"'],
  ['true', FLAG, true],
  ['yes', FLAG, undefined],
])('the text %j of a parameter is read by its shape', (text, shape, value) => {
  const reader = new InputReader(callOf('listPets'), new AssumptionTrace(chooseOptions()));
  expect(reader.value('filter', shape, text)).toBe(value);
  const expected = `filter: expected ${shape.expected}, found ${JSON.stringify(text)}`;
  expect(reader.refusal?.reason).toBe(value === undefined ? expected : undefined);
});

test('whatever a call does with a quantity, a reader accepts the entry', () => {
  const quantities = fc.oneof(
    fc.maxSafeInteger(),
    fc.constantFrom(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 0, -1, 1),
  );
  const property = fc.property(quantities, quantities, (quantity, ordered) => {
    const store = createStore({
      animals: [{ id: 1n, name: 'Rex', categoryId: 1n }],
      inventory: [{ petId: 1n, quantity, status: 'sold' }],
      orders: [{ id: 1n, petId: 1n, quantity: ordered }],
    });
    const state = serviceStateWith(store, 0, {
      'cancel-restocks': 'yes',
      'inventory-status': 'follows-quantity',
      'negative-quantity': 'accept',
    });
    const known = {
      authorization: 'Bearer demo-key',
      pathId: '1',
      contentType: 'application/json',
    };
    const update = callOf('updateInventory', Buffer.from(`{"quantity":${ordered}}`));
    for (const { reply, store: after } of [
      cancelOrder(state, { ...callOf('cancelOrder'), ...known }),
      updateInventory(state, { ...update, ...known }),
    ]) {
      expect([200, 204]).toContain(reply.status);
      expect(readAs(STORED_RECORDS.inventory, after.inventory.get(1n)).ok).toBe(true);
    }
  });
  fc.assert(property);
});

test.each([
  ['utc-seconds', '2032-12-31T22:30:00Z', '2032-12-31T22:30:00Z'],
  ['offset', '2032-12-31T22:30:00Z', '2033-01-01T00:30:00+02:00'],
  ['utc-seconds', '2032-12-31T23:30:00.5+01:00', '2032-12-31T22:30:00Z'],
  ['utc-millis', '2032-12-31T23:30:00.5+01:00', '2032-12-31T22:30:00.500Z'],
  ['utc-millis', '2032-12-31T22:30:00.12345678901Z', '2032-12-31T22:30:00.123Z'],
  ['utc-seconds', '9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
  ['offset', '9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
  ['utc-seconds', '9999-12-31T23:59:59-05:00', '9999-12-31T23:59:59-05:00'],
  ['offset', '0000-01-01T00:00:00Z', '0000-01-01T02:00:00+02:00'],
  ['utc-millis', '0000-01-01T00:30:00+01:00', '0000-01-01T00:30:00+01:00'],
  ['utc-seconds', '2016-12-31T23:59:60Z', '2016-12-31T23:59:60Z'],
  ['utc-millis', '2017-01-01T00:59:60.25+01:00', '2016-12-31T23:59:60.250Z'],
  ['offset', '2016-12-31T23:59:60Z', '2017-01-01T01:59:60+02:00'],
] as const)('as %s, %s is written as %s', (format, shipDate, written) => {
  const { order: write } = representationFor({ ...chooseOptions(), 'date-format': format });
  expect(readAs(STORED_RECORDS.orders, { id: 1, shipDate }).ok).toBe(true);
  expect(write({ id: 1n, shipDate })).toBe(`{"id":1,"shipDate":"${written}"}`);
});

test('the text of an animal is its JSON, whatever its name', () => {
  const { animal: write } = representationFor(chooseOptions());
  const unit = fc.oneof(fc.string(), fc.constantFrom('"', '\\', '\n', '\ud800'));
  fc.assert(
    fc.property(fc.string({ unit }), (name) => {
      expect(write({ id: 1n, name, categoryId: 3n })).toBe(
        JSON.stringify({ id: 1, name, categoryId: 3 }),
      );
    }),
  );
});
