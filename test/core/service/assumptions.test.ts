import { describe, expect, test } from 'vitest';
import {
  ASSUMPTION_IDS,
  ASSUMPTIONS,
  type AssumptionId,
} from '../../../src/core/contract/assumption-table.ts';
import { isObject } from '../../../src/core/json.ts';
import type { AppOptions } from '../../../src/index.ts';
import { openMock } from '../../helpers/in-process.ts';
import { type Answer, type Client, fixtureFile } from '../../helpers/wire.ts';

type OptionName<Id extends AssumptionId> = (typeof ASSUMPTIONS)[Id]['options'][number]['name'];

/** One assumption: what a client asks, and what each option shows it. */
interface Row<Option extends string> {
  /** Start options besides the option under test. */
  readonly given?: () => Omit<AppOptions, 'assume'>;
  /** Requests as `replyTo` takes them, or what sends them. */
  readonly ask: readonly string[] | ((client: Client) => Promise<readonly string[]>);
  /** What each request shows. `$` stands for the assumption and its option. */
  readonly shows: Readonly<Record<Option, readonly string[]>>;
}

/** A new assumption or option does not compile until it has its line here. */
type Table = { readonly [Id in AssumptionId]: Row<OptionName<Id>> };

const REQUEST_LINE = /^(\S+) (\S+)(?: (.+?))??(?: by (\S+))?(?: \| (.+))?$/;

/**
 * Sends `METHOD /path BODY by KEY | MEMBERS`. Returns the line of the reply, followed by these members
 * of it, such as `json.0.status`.
 */
async function replyTo({ send }: Client, request: string): Promise<string> {
  const [, method = '', path, body, key, members] = REQUEST_LINE.exec(request) ?? [];
  const reply = await send(method, `/v1${path}`, { body, key });
  return [line(reply), ...(members?.split(', ') ?? []).map((it) => read(reply, it))].join(' | ');
}

function read(reply: Answer, member: string): string {
  const records: readonly unknown[] = Array.isArray(reply.json) ? reply.json : [];
  const known = { ...reply, count: records.length, ids: records.map((it) => Object(it).id) };
  const value = member.split('.').reduce<unknown>((it, step) => Object(it)[step], known);
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'none');
}

/**
 * A reply in one line, `404 pet_not_found by unknown-pet=404`; `200` if it is documented. Leaves out
 * that another refusal rests on `invalid-input` too.
 */
function line({ status, headers, json }: Answer): string {
  const basis = headers['mock-basis'];
  const [, decidedBy] = /^assumed;by="(.*?)(?:, invalid-input=400)?"$/.exec(`${basis}`) ?? [];
  const by = basis === 'documented' ? '' : ` by ${decidedBy}`;
  if (status < 400) return `${status}${by}`;
  const { code = 'no code' } = isObject(json) ? json : {};
  if (`${headers['content-type']}`.startsWith('application/json')) {
    expect(json).toEqual({ code, message: expect.any(String), status });
  }
  return `${status} ${code}${by}`;
}

const times = (count: number, shown: string): string[] => Array(count).fill(shown);
const counted = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

const REX = { name: 'Rex', categoryId: 7 };
const create = (members: object) => `POST /pets ${JSON.stringify({ ...REX, ...members })}`;

const frozenAt = (instant: string) => () => ({ clock: Date.parse(instant), frozen: true });

const ALL_PETS = '/v1/pets?limit=100';
const KIB = 1024;
const MIB = 1024 * KIB;
const TOO_LARGE = '413 body_too_large by $';
const NO_INTEGER = '400 invalid_input by invalid-input=400 | 0';
const NOT_SEEN = '400 invalid_input by status-filter=reject, $';
const UNKNOWN = '404 pet_not_found by unknown-pet=404';
const MISSING = '404 inventory_entry_not_found by inventory-missing-entry=404';

// biome-ignore format: a line for what is asked, and for what each option shows
const TABLE: Table = {
  'invalid-input': {
    ask: ['GET /pets/abc', 'GET /pets?limit=abc', 'POST /pets {"name":"Rex"}', 'POST /pets no JSON'],
    shows: { 400: times(4, '400 invalid_input by $'), 422: times(4, '422 invalid_input by $') },
  },
  'limit-out-of-range': {
    ask: ['0', '-5', '101', '99999999999999999999', '1.5'].map((it) => `GET /pets?limit=${it} | count`),
    shows: {
      reject: [...times(4, '400 invalid_input by $ | 0'), NO_INTEGER],
      clamp: [...[1, 1, 64, 64].map((count) => `200 by $ | ${count}`), NO_INTEGER],
      default: [...times(4, '200 by $ | 20'), NO_INTEGER],
    },
  },
  'status-filter': {
    ask: ['GET /pets?status=reserved&limit=100 | count'],
    shows: {
      reject: ['400 invalid_input by $, animal-status-values=seen | 0'],
      empty: ['200 by $ | 0'],
      ignore: ['200 by $ | 64'],
    },
  },
  'animal-status-values': {
    ask: [create({ status: 'reserved' }), create({ status: 'pending' }), 'GET /pets?status=reserved | ids'],
    shows: { seen: ['400 invalid_input by $', '201', `${NOT_SEEN} | []`], any: ['201 by $', '201', '200 by $ | [65]'] },
  },
  'name-limits': {
    ask: ['', 'x'.repeat(256), '🐈'.repeat(256), '🐈'.repeat(255)].map((name) => create({ name })),
    shows: {
      none: [...times(3, '201 by $'), '201'],
      'non-empty': ['400 invalid_input by $', '201 by $', '201 by $', '201'],
      255: [...times(3, '400 invalid_input by $'), '201'],
    },
  },
  'id-on-create': {
    ask: [create({ id: 500 }), 'GET /pets/65'],
    shows: { reject: ['400 invalid_input by $', UNKNOWN], ignore: ['201 by $', '200'] },
  },
  'unknown-body-fields': {
    ask: [`${create({ colour: 'red' })} | json.colour`, 'PATCH /inventory/1 {"quantity":3,"reason":"returned"}', 'GET /inventory | json.0'],
    shows: {
      ignore: ['201 by $ | none', '200 by $', '200 | {"petId":1,"quantity":3,"status":"available"}'],
      reject: ['400 invalid_input by $ | none', '400 invalid_input by $', '200 | {"petId":1,"quantity":1,"status":"available"}'],
    },
  },
  'unknown-query': {
    ask: ['/store/orders?limit=1', '/pets?page=2', '/pets/1?full=1'].map((it) => `GET ${it} | count`),
    shows: { ignore: ['200 | 14', '200 by $ | 20', '200 by $ | 0'], reject: times(3, '400 invalid_input by $ | 0') },
  },
  'negative-quantity': {
    ask: ['PATCH /inventory/1 {"quantity":-1}', 'GET /inventory | json.0.quantity'],
    shows: { reject: ['400 invalid_input by $', '200 | 1'], accept: ['200 by $', '200 | -1'] },
  },
  'media-type': {
    async ask({ send }) {
      const sent = ['text/plain', undefined].map((type) => send('POST', '/v1/pets', { body: REX, headers: { 'Content-Type': type } }));
      return (await Promise.all(sent)).map(line);
    },
    shows: { reject: times(2, '415 unsupported_media_type by $'), lenient: times(2, '201 by $') },
  },
  'body-limit': {
    async ask({ send }) {
      const sizes = [10 * KIB, 10 * KIB + 1, MIB, MIB + 1];
      const bodies = sizes.map((size) => ({ body: JSON.stringify(REX).padEnd(size, ' ') }));
      // The client waits to be asked for the last body, so none of it is sent.
      const headers = { 'Content-Length': String(64 * MIB + 1), Expect: '100-continue' };
      const sent = [...bodies, { headers }].map((parts) => send('POST', '/v1/pets', parts));
      return (await Promise.all(sent)).map(line);
    },
    shows: {
      '1mb': ['201', '201 by $', '201 by $', TOO_LARGE, TOO_LARGE],
      '10kb': ['201', ...times(4, TOO_LARGE)],
      none: ['201', ...times(3, '201 by $'), TOO_LARGE],
    },
  },
  'check-order': {
    ask: ['GET /pets?limit=abc by wrong', 'GET /pets by wrong'],
    shows: {
      'auth-first': ['401 unauthorized', '401 unauthorized'],
      'input-first': ['400 invalid_input by $', '401 unauthorized'],
    },
  },
  'unknown-pet': {
    // Refusing the parameter would have led to the same 400.
    ask: ['GET /pets/999', 'PATCH /inventory/999 {"quantity":1}', 'GET /pets/999?page=2'],
    shows: {
      404: [...times(2, '404 pet_not_found by $'), '404 pet_not_found by $, unknown-query=ignore'],
      400: times(3, '400 pet_not_found by $'),
    },
  },
  'pets-order': {
    async ask({ send }) {
      const [listed, again] = [await send('GET', ALL_PETS), await send('GET', ALL_PETS)];
      expect(again.text).toBe(listed.text);
      const ids: number[] = JSON.parse(read(listed, 'ids'));
      const sorted = ids.toSorted((a, b) => a - b);
      expect(sorted).toEqual(counted(1, 64));
      return [`${[`${ids}` === `${sorted}`, `${ids}` === `${sorted.reverse()}`]}`];
    },
    shows: { id: ['true,false'], newest: ['false,true'], shuffled: ['false,false'] },
  },
  'pets-paging': {
    async ask(client) {
      const pages: string[] = [];
      for (let path: string | undefined = '/pets?limit=32'; path !== undefined; ) {
        const reply: Answer = await client.send('GET', `/v1${path}`);
        pages.push(`${line(reply)} | ${read(reply, 'ids.0')} | ${read(reply, 'count')}`);
        path = /^<\/v1([^>]*)>; rel="next"$/.exec(`${reply.headers.link}`)?.[1];
      }
      const offset = 'GET /pets?limit=30&offset=60 | ids.0, headers.x-total-count';
      return [...pages, await replyTo(client, offset)];
    },
    shows: {
      none: ['200 | 1 | 32', '200 by unknown-query=ignore | 1 | none'],
      cursor: ['200 | 1 | 32', '200 | 33 | 32', '200 by unknown-query=ignore | 1 | none'],
      offset: ['200 | 1 | 32', '200 | 61 | 64'],
    },
  },
  'created-status': {
    ask: [`${create({})} | json`],
    shows: {
      absent: ['201 | {"id":65,"name":"Rex","categoryId":7}'],
      available: ['201 | {"id":65,"name":"Rex","categoryId":7,"status":"available"}'],
    },
  },
  'assigned-ids': {
    async ask({ send }) {
      const assigned: string[] = [];
      for (const _ of [1, 2]) {
        const { text } = await send('POST', '/v1/pets', { body: REX });
        const id = /^\{"id":(\d+),/.exec(text)?.[1] ?? '0';
        expect(assigned).not.toContain(id);
        expect((await send('GET', `/v1/pets/${id}`)).text).toBe(text);
        assigned.push(id);
      }
      return assigned.map((id) => (BigInt(id) > 2n ** 53n ? 'above 2^53' : id));
    },
    shows: { next: ['65', '66'], int64: times(2, 'above 2^53') },
  },
  'deprecation-headers': {
    ask: ['GET /pets/1 | headers.deprecation, headers.sunset, headers.link'],
    shows: {
      sent: ['200 | @1764892800 | Thu, 05 Dec 2030 00:00:00 GMT | <https://petstore.example/docs/pets>; rel="successor-version"'],
      absent: ['200 | none | none | none'],
    },
  },
  'after-sunset': {
    given: frozenAt('2030-12-06T00:00:00Z'),
    ask: ['GET /pets/1'],
    shows: { unchanged: ['200 by $'], 410: ['410 gone by $'], 404: ['404 gone by $'] },
  },
  'inventory-on-create': {
    ask: [create({}), 'GET /inventory | json.64', 'PATCH /inventory/65 {"quantity":1}'],
    shows: {
      entry: ['201', '200 | {"petId":65,"quantity":0,"status":"sold"}', '200'],
      none: ['201', '200 | none', MISSING],
    },
  },
  'inventory-missing-entry': {
    given: () => ({ fixture: fixtureFile({ animals: [{ id: 1, ...REX }] }) }),
    ask: ['PATCH /inventory/1 {"quantity":3}', 'GET /inventory | json'],
    shows: {
      404: ['404 inventory_entry_not_found by $', '200 | []'],
      create: ['200 by $', '200 | [{"petId":1,"quantity":3,"status":"available"}]'],
    },
  },
  'inventory-status': {
    ask: ['4 {"quantity":5}', '4 {"quantity":0}', '1 {"quantity":0}'].map((update) => `PATCH /inventory/${update} | json.status`),
    shows: {
      unchanged: ['200 | sold', '200 | sold', '200 | available'],
      'follows-quantity': ['200 | available', '200 | sold', '200 | sold'],
    },
  },
  'animal-follows-stock': {
    // Animal 3 is pending, and was in stock before.
    ask: ['1 {"quantity":0}', '1 {"quantity":2}', '3 {"quantity":7}'].flatMap((update) => [
      `PATCH /inventory/${update}`,
      `GET /pets/${update[0]} | json.status`,
    ]),
    shows: {
      no: ['200', '200 | available', '200', '200 | available', '200', '200 | pending'],
      yes: ['200', '200 | sold', '200', '200 | available', '200', '200 | pending'],
    },
  },
  'order-status-field': {
    ask: ['GET /store/orders | json.0.status, json.1.status, json.2.status, json.8'],
    shows: {
      hidden: ['200 | none | none | none | {"id":9}'],
      shown: ['200 | pending | shipped | cancelled | {"id":9,"status":"pending"}'],
    },
  },
  'cancelled-orders': {
    ask: ['DELETE /store/orders/1', 'GET /store/orders | ids'],
    shows: { listed: ['204', `200 | [${counted(1, 14)}]`], removed: ['204', '200 | [2,4,5,6,7,8,9,10,12,13,14]'] },
  },
  'cancel-again': {
    ask: ['DELETE /store/orders/3'],
    shows: { 409: ['409 order_already_cancelled by $'], 404: ['404 order_already_cancelled by $'], 204: ['204 by $'] },
  },
  'conflict-body': {
    ask: ['DELETE /store/orders/2 | headers.content-type, json.title'],
    shows: {
      error: ['409 order_already_shipped | application/json | none'],
      empty: ['409 no code | none | none'],
      problem: ['409 order_already_shipped | application/problem+json | Conflict'],
    },
  },
  // At this instant the pending order 1 has reached its ship date, and no other has.
  'order-shipping': {
    given: frozenAt('2031-03-15T09:00:00Z'),
    ask: ['DELETE /store/orders/1', 'DELETE /store/orders/4'],
    shows: { manual: ['204 by $', '204'], 'at-ship-date': ['409 order_already_shipped by $', '204'] },
  },
  'cancel-restocks': {
    ask: ['DELETE /store/orders/4', 'GET /inventory | json.8.petId, json.8.quantity'],
    shows: { no: ['204', '200 | 9 | 2'], yes: ['204', '200 | 9 | 4'] },
  },
  'read-only-keys': {
    ask: [create({}), 'PATCH /inventory/1 {"quantity":1}', 'DELETE /store/orders/1', 'GET /pets'].map(
      (request) => `${request} by demo-read-only-key`,
    ),
    shows: { ignored: ['201 by $', '200 by $', '204 by $', '200'], 403: [...times(3, '403 forbidden by $'), '200'] },
  },
  'auth-challenge': {
    ask: ['GET /pets by wrong | headers.www-authenticate'],
    shows: {
      sent: ['401 unauthorized | Bearer realm="petstore", error="invalid_token"'],
      absent: ['401 unauthorized | none'],
    },
  },
  'error-codes': {
    ask: ['DELETE /store/orders/999'],
    shows: {
      snake_case: ['404 order_not_found'],
      UPPER_CASE: ['404 ORDER_NOT_FOUND'],
      'kebab-case': ['404 order-not-found'],
      numeric: ['404 40401'],
    },
  },
  'rate-limit': {
    given: frozenAt('2026-11-21T09:30:00Z'),
    ask: [...times(10, 'GET /pets'), 'GET /pets | headers.retry-after', 'GET /pets by demo-read-only-key'],
    shows: {
      none: [...times(10, '200'), '200 | none', '200'],
      '10/s': [...times(10, '200'), '429 too_many_requests by $ | 1', '200'],
    },
  },
  'unknown-method': {
    ask: ['PUT /pets | headers.allow'],
    shows: { 405: ['405 method_not_allowed by $ | GET, HEAD, POST, OPTIONS'], 404: ['404 route_not_found by $ | none'] },
  },
  'absent-optionals': {
    ask: ['GET /pets/13 | json.status', 'GET /store/orders | json.8'],
    shows: {
      omitted: ['200 | none', '200 | {"id":9}'],
      null: ['200 | null', '200 | {"id":9,"petId":null,"quantity":null,"shipDate":null,"complete":null}'],
    },
  },
  'date-format': {
    ask: ['GET /store/orders | json.3.shipDate'],
    shows: {
      'utc-seconds': ['200 | 2032-11-20T15:45:00Z'],
      'utc-millis': ['200 | 2032-11-20T15:45:00.000Z'],
      offset: ['200 | 2032-11-20T17:45:00+02:00'],
    },
  },
  'json-charset': {
    ask: ['GET /pets | headers.content-type', 'GET /pets/0 | headers.content-type'],
    shows: {
      bare: ['200 | application/json', `${UNKNOWN} | application/json`],
      'utf-8': ['200 | application/json; charset=utf-8', `${UNKNOWN} | application/json; charset=utf-8`],
    },
  },
  cors: {
    async ask({ send }) {
      const headers = {
        Origin: 'https://shop.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization, content-type',
      };
      const replies = [await send('GET', '/v1/pets', { headers }), await send('OPTIONS', '/v1/pets', { key: null, headers })];
      return replies.flatMap((reply) => ['origin', 'methods', 'headers'].map((it) => read(reply, `headers.access-control-allow-${it}`)));
    },
    shows: {
      allowed: ['https://shop.example', 'none', 'none', 'https://shop.example', 'POST', 'authorization, content-type'],
      absent: times(6, 'none'),
    },
  },
};

const OPTIONS = ASSUMPTION_IDS.flatMap((id) =>
  ASSUMPTIONS[id].options.map(({ name: option }, index) => ({
    id,
    option,
    isDefault: index === 0,
  })),
);

describe('an option', () => {
  test.each(OPTIONS)('$id=$option shows on the wire', async ({ id, option, isDefault }) => {
    const { given, ask, shows }: Row<string> = TABLE[id];
    // TypeScript cannot relate a computed name to its options; the table's type does.
    const assume = (isDefault ? {} : { [id]: option }) as NonNullable<AppOptions['assume']>;
    const client = await openMock({ ...given?.(), assume });
    const shown = typeof ask === 'function' ? [...(await ask(client))] : [];
    if (typeof ask !== 'function') for (const it of ask) shown.push(await replyTo(client, it));
    expect(shown.map((it) => it.replaceAll(`${id}=${option}`, '$'))).toEqual(shows[option]);
  });

  test('can be any rate for rate-limit', async () => {
    const given = frozenAt('2026-11-21T09:30:00Z')();
    const client = await openMock({ ...given, assume: { 'rate-limit': '1/m' } });
    expect(await replyTo(client, 'GET /pets')).toBe('200');
    const refused = '429 too_many_requests by rate-limit=1/m | 60';
    expect(await replyTo(client, 'GET /pets | headers.retry-after')).toBe(refused);
  });
});

test('every option of an assumption has a distinct effect', () => {
  for (const id of ASSUMPTION_IDS) {
    const shown = Object.values(TABLE[id].shows).map((it) => it.join());
    expect(new Set(shown).size, id).toBe(ASSUMPTIONS[id].options.length);
  }
});
