import { expect, test } from 'vitest';
import {
  ASSUMPTION_IDS,
  ASSUMPTIONS,
  type AssumptionId,
} from '../../src/contract/assumption-table.ts';
import { isObject } from '../../src/contract/records.ts';
import type { AppOptions } from '../../src/index.ts';
import {
  type Answer,
  type Client,
  describeBothWays,
  fixtureFile,
  type OpenClient,
  type RequestParts,
} from '../helpers/wire.ts';

type OptionName<Id extends AssumptionId> = (typeof ASSUMPTIONS)[Id]['options'][number]['name'];

/** One assumption: what a client asks, and what each option shows it. */
interface Row<Option extends string> {
  /** Start options besides the option under test. */
  readonly given?: () => Omit<AppOptions, 'assume'>;
  readonly ask: (api: Api) => Promise<unknown>;
  /** `$` stands for the assumption and its option. */
  readonly shows: Readonly<Record<Option, unknown>>;
}

/** A new assumption or option does not compile until it has its line here. */
type Table = { readonly [Id in AssumptionId]: Row<OptionName<Id>> };

const REX = { name: 'Rex', categoryId: 7 };
const KIB = 1024;
const MIB = 1024 * KIB;

const frozenAt = (instant: string) => () => ({ clock: Date.parse(instant), frozen: true });

/** An animal that has no inventory entry. */
const withoutEntry = () => ({
  fixture: fixtureFile({ animals: [{ id: 1, ...REX }], inventory: [], orders: [] }),
});

const REQUEST_LINE = /^(\S+) (\S+)(?: ((?! ?by ).*?))?(?: by (\S+))?$/;

/** What a client can ask of the service. */
function apiOf({ send }: Client) {
  const get = (path: string, sent?: RequestParts) => send('GET', `/v1${path}`, sent);
  const find = async (path: string, name: string, id: number) =>
    records(await get(path)).find((record) => record[name] === id);
  return {
    send,
    get,
    post: (body: RequestParts['body'], sent?: RequestParts) =>
      send('POST', '/v1/pets', { ...sent, body }),
    stock: (petId: number, quantity: number, more = {}) =>
      send('PATCH', `/v1/inventory/${petId}`, { body: { quantity, ...more } }),
    cancel: (id: number) => send('DELETE', `/v1/store/orders/${id}`),
    order: (id: number) => find('/store/orders', 'id', id),
    entry: (petId: number) => find('/inventory', 'petId', petId),
  };
}

type Api = ReturnType<typeof apiOf>;

/**
 * A reply in one line, `404 pet_not_found by unknown-pet=404`; `200` if it is documented. Leaves out
 * that another refusal rests on `invalid-input` too.
 */
function line({ status, headers, json }: Answer): string {
  const basis = headers['mock-basis'];
  const [, decidedBy] = /^assumed;by="(.*?)(?:, invalid-input=400)?"$/.exec(`${basis}`) ?? [];
  const by = basis === 'documented' ? '' : ` by ${decidedBy}`;
  if (status < 400) return `${status}${by}`;
  expect(json).toEqual({ code: expect.any(String), message: expect.any(String), status });
  return `${status} ${isObject(json) ? json.code : ''}${by}`;
}

async function lines(replies: readonly Promise<Answer>[]): Promise<string[]> {
  return (await Promise.all(replies)).map(line);
}

/** The replies to requests, each `METHOD /path BODY by KEY`, in a line each. */
function repliesTo(...requests: readonly string[]) {
  return async ({ send }: Api) => {
    const replies: string[] = [];
    for (const request of requests) {
      const [, method = '', path, body, key] = REQUEST_LINE.exec(request) ?? [];
      replies.push(line(await send(method, `/v1${path}`, { body, key })));
    }
    return replies;
  };
}

function records(reply: Answer): Readonly<Record<string, unknown>>[] {
  const items: readonly unknown[] = Array.isArray(reply.json) ? reply.json : [];
  return items.filter(isObject);
}

function ids(reply: Answer): number[] {
  return records(reply).map(({ id }) => Number(id));
}

/** A valid new animal, padded with blanks to `size` bytes. */
function paddedTo(size: number): string {
  return JSON.stringify(REX).padEnd(size, ' ');
}

/** The ids of the 64 animals of the default fixture. */
const EVERY_ID = Array.from({ length: 64 }, (_, index) => index + 1);
const ORDER_IDS = EVERY_ID.slice(0, 14);

const ALWAYS_INVALID = ['400 invalid_input by invalid-input=400', 0];

const TABLE: Table = {
  'invalid-input': {
    ask: repliesTo(
      'GET /pets/abc',
      'GET /pets?limit=abc',
      'POST /pets {"name":"Rex"}',
      'POST /pets no JSON',
    ),
    shows: {
      400: Array(4).fill('400 invalid_input by $'),
      422: Array(4).fill('422 invalid_input by $'),
    },
  },

  'limit-out-of-range': {
    async ask(api) {
      const limits = ['0', '-5', '101', '99999999999999999999', '1.5'];
      const replies = await Promise.all(limits.map((it) => api.get(`/pets?limit=${it}`)));
      return replies.map((reply) => [line(reply), records(reply).length]);
    },
    shows: {
      reject: [...Array(4).fill(['400 invalid_input by $', 0]), ALWAYS_INVALID],
      clamp: [...[1, 1, 64, 64].map((count) => ['200 by $', count]), ALWAYS_INVALID],
      default: [...Array(4).fill(['200 by $', 20]), ALWAYS_INVALID],
    },
  },

  'status-filter': {
    async ask(api) {
      const reply = await api.get('/pets?status=reserved&limit=100');
      return [line(reply), ids(reply)];
    },
    shows: {
      reject: ['400 invalid_input by $, animal-status-values=seen', []],
      empty: ['200 by $', []],
      ignore: ['200 by $', EVERY_ID],
    },
  },

  'animal-status-values': {
    async ask(api) {
      const unseen = await api.post({ ...REX, status: 'reserved' });
      const seen = await api.post({ ...REX, status: 'pending' });
      const listed = await api.get('/pets?status=reserved');
      return [line(unseen), line(seen), line(listed), ids(listed)];
    },
    shows: {
      seen: ['400 invalid_input by $', '201', '400 invalid_input by status-filter=reject, $', []],
      any: ['201 by $', '201', '200 by $', [65]],
    },
  },

  'name-limits': {
    ask: (api) =>
      lines(
        ['', 'x'.repeat(256), '🐈'.repeat(256), '🐈'.repeat(255)].map((name) =>
          api.post({ ...REX, name }),
        ),
      ),
    shows: {
      none: [...Array(3).fill('201 by $'), '201'],
      'non-empty': ['400 invalid_input by $', '201 by $', '201 by $', '201'],
      255: [...Array(3).fill('400 invalid_input by $'), '201'],
    },
  },

  'id-on-create': {
    async ask(api) {
      const reply = await api.post({ ...REX, id: 500 });
      return [line(reply), (await api.get('/pets/65')).status];
    },
    shows: {
      reject: ['400 invalid_input by $', 404],
      ignore: ['201 by $', 200],
    },
  },

  'unknown-body-fields': {
    async ask(api) {
      const created = await api.post({ ...REX, colour: 'red' });
      const updated = await api.stock(1, 3, { reason: 'returned' });
      const found = await api.get('/pets/65');
      const animal = found.status === 200 ? found.json : 'none';
      return [line(created), animal, line(updated), await api.entry(1)];
    },
    shows: {
      ignore: [
        '201 by $',
        { id: 65, ...REX },
        '200 by $',
        { petId: 1, quantity: 3, status: 'available' },
      ],
      reject: [
        '400 invalid_input by $',
        'none',
        '400 invalid_input by $',
        { petId: 1, quantity: 1, status: 'available' },
      ],
    },
  },

  'unknown-query': {
    async ask(api) {
      const paths = ['/store/orders?limit=1', '/pets?page=2', '/pets/1?full=1'];
      const replies = await Promise.all(paths.map((path) => api.get(path)));
      return replies.map((reply) => `${line(reply)}, ${records(reply).length} records`);
    },
    shows: {
      ignore: ['200 by $, 14 records', '200 by $, 20 records', '200 by $, 0 records'],
      reject: Array(3).fill('400 invalid_input by $, 0 records'),
    },
  },

  'negative-quantity': {
    async ask(api) {
      const reply = await api.stock(1, -1);
      return [line(reply), (await api.entry(1))?.quantity === -1];
    },
    shows: {
      reject: ['400 invalid_input by $', false],
      accept: ['200 by $', true],
    },
  },

  'media-type': {
    ask: (api) =>
      lines(
        ['text/plain', undefined].map((contentType) =>
          api.post(REX, { headers: { 'Content-Type': contentType } }),
        ),
      ),
    shows: {
      reject: Array(2).fill('415 unsupported_media_type by $'),
      lenient: Array(2).fill('201 by $'),
    },
  },

  'body-limit': {
    async ask(api) {
      const sizes = [10 * KIB, 10 * KIB + 1, MIB, MIB + 1];
      // The client waits to be asked for the last body, so none of it is sent.
      const headers = { 'Content-Length': String(64 * MIB + 1), Expect: '100-continue' };
      return lines([
        ...sizes.map((size) => api.post(paddedTo(size))),
        api.post(undefined, { headers }),
      ]);
    },
    shows: {
      '1mb': ['201', '201 by $', '201 by $', '413 body_too_large by $', '413 body_too_large by $'],
      '10kb': ['201', ...Array(4).fill('413 body_too_large by $')],
      none: ['201', ...Array(3).fill('201 by $'), '413 body_too_large by $'],
    },
  },

  'check-order': {
    ask: repliesTo('GET /pets?limit=abc by wrong', 'GET /pets by wrong'),
    shows: {
      'auth-first': ['401 unauthorized', '401 unauthorized'],
      'input-first': ['400 invalid_input by $', '401 unauthorized'],
    },
  },

  'unknown-pet': {
    ask: repliesTo('GET /pets/999', 'PATCH /inventory/999 {"quantity":1}'),
    shows: {
      404: Array(2).fill('404 pet_not_found by $'),
      400: Array(2).fill('400 pet_not_found by $'),
    },
  },

  'pets-order': {
    async ask(api) {
      const first = await api.get('/pets?limit=100');
      const listed = ids(first);
      return {
        ascending: `${listed}` === `${EVERY_ID}`,
        descending: `${listed}` === `${EVERY_ID.toReversed()}`,
        all: `${listed.toSorted((a, b) => a - b)}` === `${EVERY_ID}`,
        again: first.text === (await api.get('/pets?limit=100')).text,
      };
    },
    shows: {
      id: { ascending: true, descending: false, all: true, again: true },
      newest: { ascending: false, descending: true, all: true, again: true },
      shuffled: { ascending: false, descending: false, all: true, again: true },
    },
  },

  'pets-paging': {
    async ask(api) {
      const linked: number[][] = [];
      for (let path: string | undefined = '/pets?limit=30'; path !== undefined; ) {
        const reply: Answer = await api.get(path);
        expect(line(reply)).toBe('200');
        linked.push(ids(reply));
        path = /^<\/v1([^>]*)>; rel="next"$/.exec(String(reply.headers.link))?.[1];
      }
      const offset = await api.get('/pets?limit=30&offset=60');
      return {
        linked,
        offset: line(offset),
        first: ids(offset)[0],
        total: offset.headers['x-total-count'] ?? 'none',
      };
    },
    shows: {
      none: {
        linked: [EVERY_ID.slice(0, 30)],
        offset: '200 by unknown-query=ignore',
        first: 1,
        total: 'none',
      },
      cursor: {
        linked: [EVERY_ID.slice(0, 30), EVERY_ID.slice(30, 60), EVERY_ID.slice(60)],
        offset: '200 by unknown-query=ignore',
        first: 1,
        total: 'none',
      },
      offset: { linked: [EVERY_ID.slice(0, 30)], offset: '200', first: 61, total: '64' },
    },
  },

  'created-status': {
    ask: async (api) => (await api.post(REX)).json,
    shows: {
      absent: { id: 65, ...REX },
      available: { id: 65, ...REX, status: 'available' },
    },
  },

  'assigned-ids': {
    async ask(api) {
      const created = [await api.post(REX), await api.post(REX)];
      const assigned = created.map(({ text }) => /^\{"id":(\d+),/.exec(text)?.[1] ?? '0');
      const found = await Promise.all(assigned.map((id) => api.get(`/pets/${id}`)));
      expect(found.map(({ text }) => text)).toEqual(created.map(({ text }) => text));
      expect(new Set(assigned).size).toBe(2);
      return assigned.map((id) => (BigInt(id) > 2n ** 53n ? 'above 2^53' : id));
    },
    shows: { next: ['65', '66'], int64: ['above 2^53', 'above 2^53'] },
  },

  'deprecation-headers': {
    async ask(api) {
      const { deprecation, sunset, link } = (await api.get('/pets/1')).headers;
      return [
        /^@\d+$/.test(`${deprecation}`),
        sunset ?? 'none',
        /^<[^>]+>; rel="successor-version"$/.test(`${link}`),
      ];
    },
    shows: {
      sent: [true, 'Thu, 05 Dec 2030 00:00:00 GMT', true],
      absent: [false, 'none', false],
    },
  },

  'after-sunset': {
    given: frozenAt('2030-12-06T00:00:00Z'),
    ask: repliesTo('GET /pets/1'),
    shows: {
      unchanged: ['200 by $'],
      410: ['410 gone by $'],
      404: ['404 gone by $'],
    },
  },

  'inventory-on-create': {
    async ask(api) {
      await api.post(REX);
      const before = await api.entry(65);
      return [before ?? 'none', line(await api.stock(65, 1))];
    },
    shows: {
      entry: [{ petId: 65, quantity: 0, status: 'sold' }, '200'],
      none: ['none', '404 inventory_entry_not_found by inventory-missing-entry=404'],
    },
  },

  'inventory-missing-entry': {
    given: withoutEntry,
    async ask(api) {
      const reply = line(await api.stock(1, 3));
      return [reply, (await api.get('/inventory')).json];
    },
    shows: {
      404: ['404 inventory_entry_not_found by $', []],
      create: ['200 by $', [{ petId: 1, quantity: 3, status: 'available' }]],
    },
  },

  'inventory-status': {
    async ask(api) {
      const replies = [await api.stock(4, 5), await api.stock(4, 0), await api.stock(1, 0)];
      return replies.map(({ json }) => (isObject(json) ? `${json.quantity} ${json.status}` : json));
    },
    shows: {
      unchanged: ['5 sold', '0 sold', '0 available'],
      'follows-quantity': ['5 available', '0 sold', '0 sold'],
    },
  },

  'animal-follows-stock': {
    async ask(api) {
      const statuses: unknown[] = [];
      for (const [petId, quantity] of [
        [1, 0],
        [1, 2],
        [3, 7], // pending, and in stock before
      ] as const) {
        await api.stock(petId, quantity);
        const { json } = await api.get(`/pets/${petId}`);
        statuses.push(isObject(json) ? json.status : json);
      }
      return statuses;
    },
    shows: {
      no: ['available', 'available', 'pending'],
      yes: ['sold', 'available', 'pending'],
    },
  },

  'order-status-field': {
    async ask(api) {
      const orders = records(await api.get('/store/orders'));
      return [
        orders.filter((it) => 'status' in it).length,
        orders.slice(0, 3).map(({ status }) => status ?? 'none'),
        await api.order(9),
      ];
    },
    shows: {
      hidden: [0, ['none', 'none', 'none'], { id: 9 }],
      shown: [14, ['pending', 'shipped', 'cancelled'], { id: 9, status: 'pending' }],
    },
  },

  'cancelled-orders': {
    async ask(api) {
      await api.cancel(1);
      return ids(await api.get('/store/orders'));
    },
    shows: {
      listed: ORDER_IDS,
      removed: ORDER_IDS.filter((id) => id !== 1 && id !== 3 && id !== 11),
    },
  },

  'cancel-again': {
    async ask(api) {
      const reply = await api.cancel(3);
      return [line(reply), reply.text === ''];
    },
    shows: {
      409: ['409 order_already_cancelled by $', false],
      404: ['404 order_already_cancelled by $', false],
      204: ['204 by $', true],
    },
  },

  'conflict-body': {
    async ask(api) {
      const { status, headers, json } = await api.cancel(2);
      expect([status, headers['mock-basis']]).toEqual([409, 'documented']);
      const { code, title, status: told } = isObject(json) ? json : {};
      return [headers['content-type'] ?? 'none', code ?? 'none', title ?? 'none', told ?? 'none'];
    },
    shows: {
      error: ['application/json', 'order_already_shipped', 'none', 409],
      empty: ['none', 'none', 'none', 'none'],
      problem: ['application/problem+json', 'order_already_shipped', 'Conflict', 409],
    },
  },

  // At this instant the pending order 1 has reached its ship date, and no other has.
  'order-shipping': {
    given: frozenAt('2031-03-15T09:00:00Z'),
    ask: repliesTo('DELETE /store/orders/1', 'DELETE /store/orders/4'),
    shows: {
      manual: ['204 by $', '204'],
      'at-ship-date': ['409 order_already_shipped by $', '204'],
    },
  },

  'cancel-restocks': {
    async ask(api) {
      expect(line(await api.cancel(4))).toBe('204');
      return (await api.entry(9))?.quantity;
    },
    shows: { no: 2, yes: 4 },
  },

  'read-only-keys': {
    ask: repliesTo(
      'POST /pets {"name":"Rex","categoryId":7} by demo-read-only-key',
      'PATCH /inventory/1 {"quantity":1} by demo-read-only-key',
      'DELETE /store/orders/1 by demo-read-only-key',
      'GET /pets by demo-read-only-key',
    ),
    shows: {
      ignored: ['201 by $', '200 by $', '204 by $', '200'],
      403: [...Array(3).fill('403 forbidden by $'), '200'],
    },
  },

  'auth-challenge': {
    async ask(api) {
      const reply = await api.get('/pets', { key: null });
      return [line(reply), reply.headers['www-authenticate'] ?? 'none'];
    },
    shows: {
      sent: ['401 unauthorized', 'Bearer realm="petstore"'],
      absent: ['401 unauthorized', 'none'],
    },
  },

  'error-codes': {
    ask: repliesTo('DELETE /store/orders/999'),
    shows: {
      snake_case: ['404 order_not_found'],
      UPPER_CASE: ['404 ORDER_NOT_FOUND'],
      'kebab-case': ['404 order-not-found'],
      numeric: ['404 40401'],
    },
  },

  'rate-limit': {
    given: frozenAt('2026-11-21T09:30:00Z'),
    ask: (api) => replyAfter(api, 10),
    shows: {
      none: ['200', 'none', '200'],
      '10/s': ['429 too_many_requests by $', '1', '200'],
    },
  },

  'unknown-method': {
    async ask(api) {
      const reply = await api.send('PUT', '/v1/pets');
      return [line(reply), reply.headers.allow ?? 'none'];
    },
    shows: {
      405: ['405 method_not_allowed by $', 'GET, HEAD, POST, OPTIONS'],
      404: ['404 route_not_found by $', 'none'],
    },
  },

  'absent-optionals': {
    async ask(api) {
      const { json } = await api.get('/pets/13');
      const { status = 'none' } = isObject(json) ? json : {};
      return [status, await api.order(9)];
    },
    shows: {
      omitted: ['none', { id: 9 }],
      null: [null, { id: 9, petId: null, quantity: null, shipDate: null, complete: null }],
    },
  },

  'date-format': {
    ask: async (api) => (await api.order(4))?.shipDate,
    shows: {
      'utc-seconds': '2032-11-20T15:45:00Z',
      'utc-millis': '2032-11-20T15:45:00.000Z',
      offset: '2032-11-20T17:45:00+02:00',
    },
  },

  'json-charset': {
    async ask(api) {
      const paths = ['/pets', '/inventory', '/pets/999'];
      const replies = await Promise.all(paths.map((path) => api.get(path)));
      return replies.map(({ headers }) => headers['content-type']);
    },
    shows: {
      bare: Array(3).fill('application/json'),
      'utf-8': Array(3).fill('application/json; charset=utf-8'),
    },
  },

  cors: {
    async ask(api) {
      const headers = {
        Origin: 'https://shop.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization, content-type',
      };
      const replies = await Promise.all([
        api.get('/pets', { headers }),
        api.send('OPTIONS', '/v1/pets', { key: null, headers }),
      ]);
      return replies.map(({ status, headers: got }) => {
        const named = (name: string) => got[`access-control-allow-${name}`] ?? 'none';
        return [status, named('origin'), named('methods'), named('headers')];
      });
    },
    shows: {
      allowed: [
        [200, '*', 'none', 'none'],
        [204, '*', 'GET, HEAD, POST, OPTIONS', 'authorization, content-type'],
      ],
      absent: [
        [200, 'none', 'none', 'none'],
        [204, 'none', 'none', 'none'],
      ],
    },
  },
};

/** The reply to the request after this many, its `Retry-After`, and what another key gets then. */
async function replyAfter(api: Api, most: number): Promise<string[]> {
  for (let count = 1; count <= most; count += 1) {
    expect(line(await api.get('/pets'))).toBe('200');
  }
  const reply = await api.get('/pets');
  const other = await api.get('/pets', { key: 'demo-read-only-key' });
  return [line(reply), String(reply.headers['retry-after'] ?? 'none'), line(other)];
}

const rows = ASSUMPTION_IDS.flatMap((id) => {
  const { given, ask, shows }: Row<string> = TABLE[id];
  return ASSUMPTIONS[id].options.map(({ name: option }) => ({
    id,
    option,
    shown: shows[option],
    async observe(open: OpenClient, chosen: Readonly<Record<string, string>>) {
      // TypeScript cannot relate a computed name to its options; the table's type does.
      const assume = chosen as NonNullable<AppOptions['assume']>;
      const observed = await ask(apiOf(await open({ ...given?.(), assume })));
      return JSON.parse(JSON.stringify(observed).replaceAll(`${id}=${option}`, '$'));
    },
  }));
});

describeBothWays('an option', (open) => {
  test.each(rows.map((row) => ({ name: `${row.id}=${row.option}`, ...row })))(
    '$name shows on the wire',
    async ({ id, option, shown, observe }) => {
      expect(await observe(open, { [id]: option })).toEqual(shown);
    },
  );

  test('is the first one of its assumption by default', async () => {
    const defaults = rows.filter(({ id, option }) => option === ASSUMPTIONS[id].options[0].name);
    for (const { id, shown, observe } of defaults) {
      expect(await observe(open, {}), id).toEqual(shown);
    }
  });

  test('can be any rate for rate-limit', async () => {
    const { given } = TABLE['rate-limit'];
    const client = await open({ ...given?.(), assume: { 'rate-limit': '3/m' } });
    const refused = '429 too_many_requests by rate-limit=3/m';
    expect(await replyAfter(apiOf(client), 3)).toEqual([refused, '60', '200']);
  });
});

test('every option of an assumption has a distinct effect', () => {
  for (const id of ASSUMPTION_IDS) {
    const shown = Object.values(TABLE[id].shows).map((it) => JSON.stringify(it));
    expect(new Set(shown).size, id).toBe(ASSUMPTIONS[id].options.length);
  }
});
