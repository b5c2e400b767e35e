import { expect, test } from 'vitest';
import {
  ASSUMPTION_IDS,
  ASSUMPTIONS,
  type AssumptionId,
} from '../../src/contract/assumption-table.ts';
import { isObject } from '../../src/contract/records.ts';
import type { AppOptions } from '../../src/index.ts';
import {
  type Client,
  describeBothWays,
  fixtureFile,
  type Received,
  type Sent,
} from '../helpers/wire.ts';

/** What shows one option on the wire. */
interface Row {
  /** What the mock is started with besides the option. */
  readonly given?: () => Omit<AppOptions, 'assume'>;
  /** Passes under this option, and fails under any other of the same assumption. */
  readonly probe: (client: Client) => Promise<void>;
}

type Table = Readonly<Record<AssumptionId, Readonly<Record<string, Row>>>>;

const READ_ONLY = 'demo-read-only-key';
const UNKNOWN = '/v1/pets/999999';
const REX = { name: 'Rex', categoryId: 7 };

/** Of the same size for every option, since the store has 64 animals. */
const STORE_SIZE = 64;

const KIB = 1024;
const MIB = 1024 * KIB;

const frozenAt = (instant: string) => () => ({ clock: Date.parse(instant), frozen: true });
const AFTER_SUNSET = frozenAt('2030-12-06T00:00:00Z');
/** Past the ship date of the pending order 1, and of no other. */
const SHIP_DATE_REACHED = frozenAt('2031-03-15T09:00:00Z');
const STOPPED = frozenAt('2026-11-21T09:30:00Z');

/** An animal that has no inventory entry. */
const withoutEntry = () => ({
  fixture: fixtureFile({ animals: [{ id: 1, ...REX }], inventory: [], orders: [] }),
});

function post(client: Client, body: Sent['body'], sent: Sent = {}): Promise<Received> {
  return client.send('POST', '/v1/pets', { ...sent, ...(body === undefined ? {} : { body }) });
}

function stock(client: Client, petId: number, quantity: number): Promise<Received> {
  return client.send('PATCH', `/v1/inventory/${petId}`, { body: { quantity } });
}

/** Checks a reply's status and what it rests on: nothing assumed, or just these assumptions. */
function expectReply(reply: Received, status: number, ...by: readonly string[]): void {
  const basis = by.length === 0 ? 'documented' : `assumed;by="${by.join(', ')}"`;
  expect({ status: reply.status, basis: reply.headers['mock-basis'] }).toEqual({ status, basis });
}

/** The same for an Error. */
function expectError(
  reply: Received,
  status: number,
  code: string,
  ...by: readonly string[]
): void {
  expectReply(reply, status, ...by);
  expect(reply.json).toEqual({ code, message: expect.any(String), status });
}

function records(reply: Received): Readonly<Record<string, unknown>>[] {
  const items: readonly unknown[] = Array.isArray(reply.json) ? reply.json : [];
  return items.filter(isObject);
}

async function find(client: Client, path: string, id: number) {
  const found = records(await client.send('GET', path));
  return found.find((record) => record.id === id || (!('id' in record) && record.petId === id));
}

function ids(reply: Received): number[] {
  return records(reply).map(({ id }) => Number(id));
}

/** A valid new animal, padded with blanks to `size` bytes. */
function paddedTo(size: number): string {
  return JSON.stringify(REX).padEnd(size, ' ');
}

const everyId = Array.from({ length: STORE_SIZE }, (_, index) => index + 1);

function invalidInput(status: 400 | 422): Row {
  return {
    async probe(client) {
      for (const reply of [
        await client.send('GET', '/v1/pets/abc'),
        await client.send('GET', '/v1/pets?limit=abc'),
        await post(client, { name: 'Rex' }),
        await post(client, 'no JSON'),
      ]) {
        expectError(reply, status, 'invalid_input', `invalid-input=${status}`);
      }
    },
  };
}

function limitMoved(option: string, below: number, above: number): Row {
  return {
    async probe(client) {
      for (const [limit, length] of [
        ['0', below],
        ['-5', below],
        ['101', above],
        ['99999999999999999999', above],
      ] as const) {
        const reply = await client.send('GET', `/v1/pets?limit=${limit}`);
        expectReply(reply, 200, `limit-out-of-range=${option}`);
        expect(reply.json).toHaveLength(length);
      }
      const noInteger = await client.send('GET', '/v1/pets?limit=1.5');
      expectError(noInteger, 400, 'invalid_input', 'invalid-input=400');
    },
  };
}

function unknownPet(status: 400 | 404): Row {
  return {
    async probe(client) {
      for (const reply of [await client.send('GET', UNKNOWN), await stock(client, 999999, 1)]) {
        expectError(reply, status, 'pet_not_found', `unknown-pet=${status}`);
      }
    },
  };
}

function gone(status: 404 | 410): Row {
  return {
    given: AFTER_SUNSET,
    async probe(client) {
      const reply = await client.send('GET', '/v1/pets/1');
      expectError(reply, status, 'gone', `after-sunset=${status}`);
    },
  };
}

function errorCode(code: string): Row {
  return {
    async probe(client) {
      expectError(await client.send('DELETE', '/v1/store/orders/999'), 404, code);
    },
  };
}

function dateFormat(shipDate: string): Row {
  return {
    async probe(client) {
      expect(await find(client, '/v1/store/orders', 4)).toMatchObject({ shipDate });
    },
  };
}

function rateLimited(rate: string, most: number, wait: string): Row {
  return {
    given: STOPPED,
    async probe(client) {
      for (let count = 1; count <= most; count += 1) {
        expectReply(await client.send('GET', '/v1/pets'), 200);
      }
      const refused = await client.send('GET', '/v1/pets');
      expectError(refused, 429, 'too_many_requests', `rate-limit=${rate}`);
      expect(refused.headers['retry-after']).toBe(wait);
      expectReply(await client.send('GET', '/v1/pets', { key: READ_ONLY }), 200);
    },
  };
}

function jsonType(contentType: string): Row {
  return {
    async probe(client) {
      for (const path of ['/v1/pets', '/v1/inventory', UNKNOWN]) {
        expect((await client.send('GET', path)).headers['content-type']).toBe(contentType);
      }
    },
  };
}

/** Every option of every assumption. */
const TABLE: Table = {
  'invalid-input': { 400: invalidInput(400), 422: invalidInput(422) },

  'limit-out-of-range': {
    reject: {
      async probe(client) {
        for (const limit of ['0', '101', '-1']) {
          const reply = await client.send('GET', `/v1/pets?limit=${limit}`);
          const by = ['limit-out-of-range=reject', 'invalid-input=400'];
          expectError(reply, 400, 'invalid_input', ...by);
        }
      },
    },
    clamp: limitMoved('clamp', 1, STORE_SIZE),
    default: limitMoved('default', 20, 20),
  },

  'status-filter': {
    reject: {
      async probe(client) {
        const reply = await client.send('GET', '/v1/pets?status=reserved');
        const by = ['status-filter=reject', 'animal-status-values=seen', 'invalid-input=400'];
        expectError(reply, 400, 'invalid_input', ...by);
      },
    },
    empty: {
      async probe(client) {
        const reply = await client.send('GET', '/v1/pets?status=reserved');
        expectReply(reply, 200, 'status-filter=empty');
        expect(reply.json).toEqual([]);
      },
    },
    ignore: {
      async probe(client) {
        const reply = await client.send('GET', '/v1/pets?status=reserved&limit=100');
        expectReply(reply, 200, 'status-filter=ignore');
        expect(reply.json).toHaveLength(STORE_SIZE);
      },
    },
  },

  'animal-status-values': {
    seen: {
      async probe(client) {
        const reply = await post(client, { ...REX, status: 'reserved' });
        const by = ['animal-status-values=seen', 'invalid-input=400'];
        expectError(reply, 400, 'invalid_input', ...by);
        expectReply(await post(client, { ...REX, status: 'pending' }), 201);
      },
    },
    any: {
      async probe(client) {
        const created = await post(client, { ...REX, status: 'reserved' });
        expectReply(created, 201, 'animal-status-values=any');
        const listed = await client.send('GET', '/v1/pets?status=reserved');
        expectReply(listed, 200, 'animal-status-values=any');
        expect(listed.json).toEqual([created.json]);
      },
    },
  },

  'name-limits': {
    none: {
      async probe(client) {
        expectReply(await post(client, { ...REX, name: '' }), 201, 'name-limits=none');
        expectReply(await post(client, { ...REX, name: 'x'.repeat(256) }), 201, 'name-limits=none');
      },
    },
    'non-empty': {
      async probe(client) {
        const by = ['name-limits=non-empty', 'invalid-input=400'];
        expectError(await post(client, { ...REX, name: '' }), 400, 'invalid_input', ...by);
        const long = await post(client, { ...REX, name: 'x'.repeat(256) });
        expectReply(long, 201, 'name-limits=non-empty');
      },
    },
    255: {
      async probe(client) {
        const by = ['name-limits=255', 'invalid-input=400'];
        for (const name of ['', 'x'.repeat(256), '🐈'.repeat(256)]) {
          expectError(await post(client, { ...REX, name }), 400, 'invalid_input', ...by);
        }
        expectReply(await post(client, { ...REX, name: '🐈'.repeat(255) }), 201);
      },
    },
  },

  'id-on-create': {
    reject: {
      async probe(client) {
        const by = ['id-on-create=reject', 'invalid-input=400'];
        expectError(await post(client, { ...REX, id: 500 }), 400, 'invalid_input', ...by);
      },
    },
    ignore: {
      async probe(client) {
        const reply = await post(client, { ...REX, id: 500 });
        expectReply(reply, 201, 'id-on-create=ignore');
        expect(reply.json).toMatchObject({ id: 65 });
      },
    },
  },

  'unknown-body-fields': {
    ignore: {
      async probe(client) {
        const created = await post(client, { ...REX, colour: 'red' });
        expectReply(created, 201, 'unknown-body-fields=ignore');
        expect(created.json).toEqual({ id: 65, ...REX });
        const body = { quantity: 3, reason: 'returned' };
        const updated = await client.send('PATCH', '/v1/inventory/1', { body });
        expectReply(updated, 200, 'unknown-body-fields=ignore');
        expect(updated.json).toEqual({ petId: 1, quantity: 3, status: 'available' });
      },
    },
    reject: {
      async probe(client) {
        const by = ['unknown-body-fields=reject', 'invalid-input=400'];
        expectError(await post(client, { ...REX, colour: 'red' }), 400, 'invalid_input', ...by);
        const body = { quantity: 3, reason: 'returned' };
        const updated = await client.send('PATCH', '/v1/inventory/1', { body });
        expectError(updated, 400, 'invalid_input', ...by);
      },
    },
  },

  'unknown-query': {
    ignore: {
      async probe(client) {
        const reply = await client.send('GET', '/v1/store/orders?limit=1');
        expectReply(reply, 200, 'unknown-query=ignore');
        expect(reply.json).toHaveLength(14);
        expectReply(await client.send('GET', '/v1/pets?page=2'), 200, 'unknown-query=ignore');
      },
    },
    reject: {
      async probe(client) {
        for (const path of ['/v1/store/orders?limit=1', '/v1/pets?page=2', '/v1/pets/1?full=1']) {
          const by = ['unknown-query=reject', 'invalid-input=400'];
          expectError(await client.send('GET', path), 400, 'invalid_input', ...by);
        }
      },
    },
  },

  'negative-quantity': {
    reject: {
      async probe(client) {
        const by = ['negative-quantity=reject', 'invalid-input=400'];
        expectError(await stock(client, 1, -1), 400, 'invalid_input', ...by);
      },
    },
    accept: {
      async probe(client) {
        const reply = await stock(client, 1, -1);
        expectReply(reply, 200, 'negative-quantity=accept');
        expect(reply.json).toMatchObject({ petId: 1, quantity: -1 });
      },
    },
  },

  'media-type': {
    reject: {
      async probe(client) {
        for (const contentType of ['text/plain', undefined]) {
          const reply = await post(client, REX, { headers: { 'Content-Type': contentType } });
          expectError(reply, 415, 'unsupported_media_type', 'media-type=reject');
        }
      },
    },
    lenient: {
      async probe(client) {
        for (const contentType of ['text/plain', undefined]) {
          const reply = await post(client, REX, { headers: { 'Content-Type': contentType } });
          expectReply(reply, 201, 'media-type=lenient');
        }
      },
    },
  },

  'body-limit': {
    '1mb': {
      async probe(client) {
        expectReply(await post(client, paddedTo(10 * KIB)), 201);
        expectReply(await post(client, paddedTo(10 * KIB + 1)), 201, 'body-limit=1mb');
        expectReply(await post(client, paddedTo(MIB)), 201, 'body-limit=1mb');
        const larger = await post(client, paddedTo(MIB + 1));
        expectError(larger, 413, 'body_too_large', 'body-limit=1mb');
      },
    },
    '10kb': {
      async probe(client) {
        expectReply(await post(client, paddedTo(10 * KIB)), 201);
        const larger = await post(client, paddedTo(10 * KIB + 1));
        expectError(larger, 413, 'body_too_large', 'body-limit=10kb');
      },
    },
    none: {
      async probe(client) {
        expectReply(await post(client, paddedTo(MIB + 1)), 201, 'body-limit=none');
        // The client waits to be asked for the body, so none of it need be sent.
        const headers = { 'Content-Length': String(64 * MIB + 1), Expect: '100-continue' };
        const larger = await post(client, undefined, { headers });
        expectError(larger, 413, 'body_too_large', 'body-limit=none');
      },
    },
  },

  'check-order': {
    'auth-first': {
      async probe(client) {
        const reply = await client.send('GET', '/v1/pets?limit=abc', { key: 'wrong' });
        expectError(reply, 401, 'unauthorized');
      },
    },
    'input-first': {
      async probe(client) {
        const reply = await client.send('GET', '/v1/pets?limit=abc', { key: 'wrong' });
        const by = ['check-order=input-first', 'invalid-input=400'];
        expectError(reply, 400, 'invalid_input', ...by);
        expectError(await client.send('GET', '/v1/pets', { key: 'wrong' }), 401, 'unauthorized');
      },
    },
  },

  'unknown-pet': { 404: unknownPet(404), 400: unknownPet(400) },

  'pets-order': {
    id: {
      async probe(client) {
        expect(ids(await client.send('GET', '/v1/pets?limit=100'))).toEqual(everyId);
      },
    },
    newest: {
      async probe(client) {
        expect(ids(await client.send('GET', '/v1/pets?limit=100'))).toEqual(everyId.toReversed());
      },
    },
    shuffled: {
      async probe(client) {
        const shuffled = ids(await client.send('GET', '/v1/pets?limit=100'));
        expect(shuffled).not.toEqual(everyId);
        expect(shuffled).not.toEqual(everyId.toReversed());
        expect(shuffled.toSorted((a, b) => a - b)).toEqual(everyId);
        expect(ids(await client.send('GET', '/v1/pets?limit=100'))).toEqual(shuffled);
      },
    },
  },

  'pets-paging': {
    none: {
      async probe(client) {
        const reply = await client.send('GET', '/v1/pets?limit=30');
        expect(reply.headers).not.toHaveProperty('link');
        expect(reply.headers).not.toHaveProperty('x-total-count');
        const further = await client.send('GET', '/v1/pets?limit=30&offset=30');
        expectReply(further, 200, 'unknown-query=ignore');
        expect(further.json).toEqual(reply.json);
      },
    },
    cursor: {
      async probe(client) {
        const pages: number[][] = [];
        for (let path: string | undefined = '/v1/pets?limit=30'; path !== undefined; ) {
          const reply: Received = await client.send('GET', path);
          expectReply(reply, 200);
          pages.push(ids(reply));
          path = /^<([^>]*)>; rel="next"$/.exec(String(reply.headers.link))?.[1];
        }
        expect(pages.map(({ length }) => length)).toEqual([30, 30, 4]);
        expect(pages.flat()).toEqual(everyId);
      },
    },
    offset: {
      async probe(client) {
        const reply = await client.send('GET', '/v1/pets?limit=30&offset=60');
        expectReply(reply, 200);
        expect(ids(reply)).toEqual([61, 62, 63, 64]);
        expect(reply.headers['x-total-count']).toBe('64');
      },
    },
  },

  'created-status': {
    absent: {
      async probe(client) {
        expect((await post(client, REX)).json).toEqual({ id: 65, ...REX });
      },
    },
    available: {
      async probe(client) {
        expect((await post(client, REX)).json).toEqual({ id: 65, ...REX, status: 'available' });
      },
    },
  },

  'assigned-ids': {
    next: {
      async probe(client) {
        expect((await post(client, REX)).json).toMatchObject({ id: 65 });
        expect((await post(client, REX)).json).toMatchObject({ id: 66 });
      },
    },
    int64: {
      async probe(client) {
        const texts = [(await post(client, REX)).text, (await post(client, REX)).text];
        const assigned = texts.map((text) => /^\{"id":(\d+),/.exec(text)?.[1] ?? '0');
        expect(new Set(assigned).size).toBe(2);
        for (const id of assigned) {
          expect(BigInt(id)).toBeGreaterThan(2n ** 53n);
          expect((await client.send('GET', `/v1/pets/${id}`)).text).toContain(`"id":${id},`);
        }
      },
    },
  },

  'deprecation-headers': {
    sent: {
      async probe(client) {
        const { headers } = await client.send('GET', '/v1/pets/1');
        expect(headers.deprecation).toMatch(/^@\d+$/);
        expect(headers.sunset).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
        expect(headers.link).toMatch(/^<[^>]+>; rel="successor-version"$/);
      },
    },
    absent: {
      async probe(client) {
        const { headers } = await client.send('GET', '/v1/pets/1');
        for (const name of ['deprecation', 'sunset', 'link']) {
          expect(headers).not.toHaveProperty(name);
        }
      },
    },
  },

  'after-sunset': {
    unchanged: {
      given: AFTER_SUNSET,
      async probe(client) {
        const reply = await client.send('GET', '/v1/pets/1');
        expectReply(reply, 200, 'after-sunset=unchanged');
      },
    },
    410: gone(410),
    404: gone(404),
  },

  'inventory-on-create': {
    entry: {
      async probe(client) {
        await post(client, REX);
        const entry = { petId: 65, quantity: 0, status: 'sold' };
        expect(await find(client, '/v1/inventory', 65)).toEqual(entry);
      },
    },
    none: {
      async probe(client) {
        await post(client, REX);
        expect(await find(client, '/v1/inventory', 65)).toBeUndefined();
        const by = 'inventory-missing-entry=404';
        expectError(await stock(client, 65, 1), 404, 'inventory_entry_not_found', by);
      },
    },
  },

  'inventory-missing-entry': {
    404: {
      given: withoutEntry,
      async probe(client) {
        const by = 'inventory-missing-entry=404';
        expectError(await stock(client, 1, 3), 404, 'inventory_entry_not_found', by);
        expect((await client.send('GET', '/v1/inventory')).json).toEqual([]);
      },
    },
    create: {
      given: withoutEntry,
      async probe(client) {
        const reply = await stock(client, 1, 3);
        expectReply(reply, 200, 'inventory-missing-entry=create');
        expect(reply.json).toEqual({ petId: 1, quantity: 3, status: 'available' });
        expect((await client.send('GET', '/v1/inventory')).json).toEqual([reply.json]);
      },
    },
  },

  'inventory-status': {
    unchanged: {
      async probe(client) {
        expect((await stock(client, 4, 5)).json).toMatchObject({ quantity: 5, status: 'sold' });
        expect((await stock(client, 1, 0)).json).toMatchObject({ status: 'available' });
      },
    },
    'follows-quantity': {
      async probe(client) {
        expect((await stock(client, 4, 5)).json).toMatchObject({ status: 'available' });
        expect((await stock(client, 4, 0)).json).toMatchObject({ quantity: 0, status: 'sold' });
      },
    },
  },

  'animal-follows-stock': {
    no: {
      async probe(client) {
        await stock(client, 1, 0);
        expect((await client.send('GET', '/v1/pets/1')).json).toMatchObject({
          status: 'available',
        });
      },
    },
    yes: {
      async probe(client) {
        await stock(client, 1, 0);
        expect((await client.send('GET', '/v1/pets/1')).json).toMatchObject({ status: 'sold' });
        await stock(client, 1, 2);
        expect((await client.send('GET', '/v1/pets/1')).json).toMatchObject({
          status: 'available',
        });
        await stock(client, 3, 7);
        expect((await client.send('GET', '/v1/pets/3')).json).toMatchObject({ status: 'pending' });
      },
    },
  },

  'order-status-field': {
    hidden: {
      async probe(client) {
        for (const order of records(await client.send('GET', '/v1/store/orders'))) {
          expect(order).not.toHaveProperty('status');
        }
      },
    },
    shown: {
      async probe(client) {
        const orders = records(await client.send('GET', '/v1/store/orders'));
        expect(orders.slice(0, 3).map(({ status }) => status)).toEqual([
          'pending',
          'shipped',
          'cancelled',
        ]);
        expect(orders.find(({ id }) => id === 9)).toEqual({ id: 9, status: 'pending' });
      },
    },
  },

  'cancelled-orders': {
    listed: {
      async probe(client) {
        await client.send('DELETE', '/v1/store/orders/1');
        expect(ids(await client.send('GET', '/v1/store/orders'))).toEqual(everyId.slice(0, 14));
      },
    },
    removed: {
      async probe(client) {
        await client.send('DELETE', '/v1/store/orders/1');
        const left = everyId.slice(0, 14).filter((id) => id !== 1 && id !== 3 && id !== 11);
        expect(ids(await client.send('GET', '/v1/store/orders'))).toEqual(left);
      },
    },
  },

  'cancel-again': {
    409: {
      async probe(client) {
        const reply = await client.send('DELETE', '/v1/store/orders/3');
        expectError(reply, 409, 'order_already_cancelled', 'cancel-again=409');
      },
    },
    404: {
      async probe(client) {
        const reply = await client.send('DELETE', '/v1/store/orders/3');
        expectError(reply, 404, 'order_already_cancelled', 'cancel-again=404');
      },
    },
    204: {
      async probe(client) {
        const reply = await client.send('DELETE', '/v1/store/orders/3');
        expectReply(reply, 204, 'cancel-again=204');
        expect(reply.text).toBe('');
      },
    },
  },

  'conflict-body': {
    error: {
      async probe(client) {
        const reply = await client.send('DELETE', '/v1/store/orders/2');
        expectError(reply, 409, 'order_already_shipped');
      },
    },
    empty: {
      async probe(client) {
        const reply = await client.send('DELETE', '/v1/store/orders/2');
        expectReply(reply, 409);
        expect(reply.text).toBe('');
        expect(reply.headers).not.toHaveProperty('content-type');
      },
    },
    problem: {
      async probe(client) {
        const reply = await client.send('DELETE', '/v1/store/orders/2');
        expectReply(reply, 409);
        expect(reply.headers['content-type']).toBe('application/problem+json');
        expect(reply.json).toMatchObject({ title: 'Conflict', status: 409 });
      },
    },
  },

  'order-shipping': {
    manual: {
      given: SHIP_DATE_REACHED,
      async probe(client) {
        const reply = await client.send('DELETE', '/v1/store/orders/1');
        expectReply(reply, 204, 'order-shipping=manual');
      },
    },
    'at-ship-date': {
      given: SHIP_DATE_REACHED,
      async probe(client) {
        const reply = await client.send('DELETE', '/v1/store/orders/1');
        expectError(reply, 409, 'order_already_shipped', 'order-shipping=at-ship-date');
        expectReply(await client.send('DELETE', '/v1/store/orders/4'), 204);
      },
    },
  },

  'cancel-restocks': {
    no: {
      async probe(client) {
        expectReply(await client.send('DELETE', '/v1/store/orders/4'), 204);
        expect(await find(client, '/v1/inventory', 9)).toMatchObject({ quantity: 2 });
      },
    },
    yes: {
      async probe(client) {
        expectReply(await client.send('DELETE', '/v1/store/orders/4'), 204);
        expect(await find(client, '/v1/inventory', 9)).toMatchObject({ quantity: 4 });
      },
    },
  },

  'read-only-keys': {
    ignored: {
      async probe(client) {
        expectReply(await post(client, REX, { key: READ_ONLY }), 201, 'read-only-keys=ignored');
        expectReply(await client.send('GET', '/v1/pets', { key: READ_ONLY }), 200);
      },
    },
    403: {
      async probe(client) {
        for (const [method, path, sent] of [
          ['POST', '/v1/pets', { body: REX }],
          ['PATCH', '/v1/inventory/1', { body: { quantity: 1 } }],
          ['DELETE', '/v1/store/orders/1', {}],
        ] as const) {
          const reply = await client.send(method, path, { key: READ_ONLY, ...sent });
          expectError(reply, 403, 'forbidden', 'read-only-keys=403');
        }
        expectReply(await client.send('GET', '/v1/pets', { key: READ_ONLY }), 200);
      },
    },
  },

  'auth-challenge': {
    sent: {
      async probe(client) {
        const reply = await client.send('GET', '/v1/pets', { key: null });
        expect(reply.headers['www-authenticate']).toBe('Bearer realm="petstore"');
      },
    },
    absent: {
      async probe(client) {
        const reply = await client.send('GET', '/v1/pets', { key: null });
        expectError(reply, 401, 'unauthorized');
        expect(reply.headers).not.toHaveProperty('www-authenticate');
      },
    },
  },

  'error-codes': {
    snake_case: errorCode('order_not_found'),
    UPPER_CASE: errorCode('ORDER_NOT_FOUND'),
    'kebab-case': errorCode('order-not-found'),
    numeric: errorCode('40401'),
  },

  'rate-limit': {
    none: {
      given: STOPPED,
      async probe(client) {
        for (let count = 1; count <= 15; count += 1) {
          expectReply(await client.send('GET', '/v1/pets'), 200);
        }
      },
    },
    '10/s': rateLimited('10/s', 10, '1'),
    '3/m': rateLimited('3/m', 3, '60'),
  },

  'unknown-method': {
    405: {
      async probe(client) {
        const reply = await client.send('PUT', '/v1/pets');
        expectError(reply, 405, 'method_not_allowed', 'unknown-method=405');
        expect(reply.headers.allow).toBe('GET, HEAD, POST, OPTIONS');
      },
    },
    404: {
      async probe(client) {
        const reply = await client.send('PUT', '/v1/pets');
        expectError(reply, 404, 'route_not_found', 'unknown-method=404');
        expect(reply.headers).not.toHaveProperty('allow');
      },
    },
  },

  'absent-optionals': {
    omitted: {
      async probe(client) {
        expect((await client.send('GET', '/v1/pets/13')).json).not.toHaveProperty('status');
        expect(await find(client, '/v1/store/orders', 9)).toEqual({ id: 9 });
      },
    },
    null: {
      async probe(client) {
        expect((await client.send('GET', '/v1/pets/13')).json).toHaveProperty('status', null);
        const nothing = { petId: null, quantity: null, shipDate: null, complete: null };
        expect(await find(client, '/v1/store/orders', 9)).toEqual({ id: 9, ...nothing });
      },
    },
  },

  'date-format': {
    'utc-seconds': dateFormat('2032-11-20T15:45:00Z'),
    'utc-millis': dateFormat('2032-11-20T15:45:00.000Z'),
    offset: dateFormat('2032-11-20T17:45:00+02:00'),
  },

  'json-charset': {
    bare: jsonType('application/json'),
    'utf-8': jsonType('application/json; charset=utf-8'),
  },

  cors: {
    allowed: {
      async probe(client) {
        const headers = { Origin: 'https://shop.example' };
        const reply = await client.send('GET', '/v1/pets', { headers });
        expect(reply.headers['access-control-allow-origin']).toBe('*');
        const preflight = await client.send('OPTIONS', '/v1/pets', {
          key: null,
          headers: {
            ...headers,
            'Access-Control-Request-Method': 'POST',
            'Access-Control-Request-Headers': 'authorization, content-type',
          },
        });
        expect(preflight.status).toBe(204);
        expect(preflight.headers).toMatchObject({
          'access-control-allow-origin': '*',
          'access-control-allow-methods': expect.stringContaining('POST'),
          'access-control-allow-headers': 'authorization, content-type',
        });
      },
    },
    absent: {
      async probe(client) {
        const headers = { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'POST' };
        for (const method of ['GET', 'OPTIONS']) {
          const reply = await client.send(method, '/v1/pets', { headers });
          const names = Object.keys(reply.headers);
          expect(names.filter((name) => name.startsWith('access-control-'))).toEqual([]);
        }
      },
    },
  },
};

const rows = ASSUMPTION_IDS.flatMap((id) =>
  Object.entries(TABLE[id] ?? {}).map(([option, row]) => ({ id, option, row })),
);

/** Every listed option with another one of the same assumption. */
const pairs = rows.flatMap(({ id, option, row }) =>
  ASSUMPTIONS[id].options
    .filter(({ name }) => name !== option)
    .map(({ name }) => ({ id, option, other: name, row })),
);

test('every option of every assumption has a row in the table', () => {
  for (const id of ASSUMPTION_IDS) {
    const listed = ASSUMPTIONS[id].options.map(({ name }): string => name);
    expect(Object.keys(TABLE[id] ?? {}), id).toEqual(expect.arrayContaining(listed));
  }
});

test('every row of the table names an option, or a rate of its own', () => {
  const OTHER_RATE = { id: 'rate-limit', option: '3/m' };
  const named = ASSUMPTION_IDS.flatMap((id) =>
    ASSUMPTIONS[id].options.map(({ name }) => ({ id, option: name })),
  );
  const given = Object.entries(TABLE).flatMap(([id, options]) =>
    Object.keys(options).map((option) => ({ id, option })),
  );
  expect([...named, OTHER_RATE]).toEqual(expect.arrayContaining(given));
});

describeBothWays('an option', (open) => {
  const start = ({ given }: Row, assume: Readonly<Record<string, string>>): Promise<Client> =>
    // Each option comes from the table, which the tests above hold against the contract.
    open({ ...given?.(), assume: assume as NonNullable<AppOptions['assume']> });

  test.each(rows)('$id=$option shows on the wire', async ({ id, option, row }) => {
    await row.probe(await start(row, { [id]: option }));
  });

  test.each(ASSUMPTION_IDS)('the first one of %s is the default', async (id) => {
    const row = TABLE[id][ASSUMPTIONS[id].options[0].name];
    await row?.probe(await start(row, {}));
  });

  test.each(pairs)('$id=$other is told apart from $option', async ({ id, other, row }) => {
    const client = await start(row, { [id]: other });
    await expect(row.probe(client)).rejects.toThrow();
  });
});
