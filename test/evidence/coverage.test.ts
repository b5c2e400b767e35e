import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chooseOptions } from '../../src/contract/assumption-table.ts';
import { ASSUMED_REPLIES, DOCUMENTED_CASES, DOCUMENTED_REPLIES } from '../../src/contract/cases.ts';
import { parseJson } from '../../src/contract/json.ts';
import type { OperationId } from '../../src/contract/operations.ts';
import type { Order } from '../../src/contract/records.ts';
import { coverageOf } from '../../src/evidence/coverage.ts';
import type { CoverageReport } from '../../src/evidence/report-shapes.ts';
import { listReplies, type RecipeStep, stepsOf } from '../../src/responses/reply-recipes.ts';
import { Sandboxes } from '../../src/sandbox/sandboxes.ts';
import { type State, withChoices } from '../../src/sandbox/state.ts';
import { startOf } from '../../src/scenario/sandbox-start.ts';
import { type RunningServer, startServer } from '../../src/server.ts';
import { storeOf } from '../../src/store/store.ts';
import { callOf, performIn } from '../helpers/call.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ port: 0 });
});
afterAll(() => server.close());

/** `METHOD /path BODY`, of the service or of `/__mock`; with headers beside the key. */
type Told = string | readonly [line: string, headers: Readonly<Record<string, string | null>>];
/** What a client does in a sandbox of its own; the last request is to show the case, or not. */
type Sequence = readonly Told[];

let sandboxes = 0;

/** Sends what is told to a new sandbox, and reads its coverage. */
async function coverageAfter(
  sequence: Sequence,
): Promise<CoverageReport & { readonly asked: number }> {
  sandboxes += 1;
  const origin = `http://127.0.0.1:${server.port}/~s${sandboxes}`;
  // A request without a valid key creates no sandbox.
  await coverageIn(`~s${sandboxes}`);
  let asked = 0;
  for (const told of sequence) {
    const [line, more] = typeof told === 'string' ? [told, {}] : told;
    const [, method = '', path = '', body] = /^(\S+) (\S+)(?: (.*))?$/s.exec(line) ?? [];
    const control = path.startsWith('/__mock');
    const headers = Object.entries({
      authorization: 'Bearer demo-key',
      'content-type': 'application/json',
      ...more,
    }).filter((header): header is [string, string] => header[1] !== null);
    const target = origin + (control ? path : `/v1${path}`);
    const reply = await fetch(target, { method, headers, ...(body === undefined ? {} : { body }) });
    await reply.text();
    if (control) expect(reply.status, line).toBeLessThan(300);
    else asked += 1;
  }
  return { ...(await coverageIn(`~s${sandboxes}`)), asked };
}

async function coverageIn(sandbox: string): Promise<CoverageReport> {
  const reply = await fetch(`http://127.0.0.1:${server.port}/${sandbox}/__mock/coverage`);
  return JSON.parse(await reply.text());
}

interface Row {
  readonly shown: readonly Sequence[];
  readonly near: readonly Sequence[];
}

const prefer = (code: number) => ({ prefer: `code=${code}` });
const assume = (choices: object): Told => `PATCH /__mock/assumptions ${JSON.stringify(choices)}`;
const rule = (on: OperationId, reply: object): Told =>
  `PUT /__mock/scenario ${JSON.stringify({ scenario: { rules: [{ on, reply }] } })}`;
const merge = (state: string): Told => `PATCH /__mock/state ${state}`;
const only = (state: string): Told => `PUT /__mock/state ${state}`;
const BIG = '9007199254740993';
const EXACT = '9007199254740991';

/** A name that reads like the members that are looked for. */
const HOSTILE = JSON.stringify(`"name":"x","status":"weird","id":${BIG},"categoryId":${BIG}}`);

const keyRows = (operation: OperationId, line: string): Readonly<Record<string, Row>> => {
  const missing: readonly Sequence[] = [
    [[line, { authorization: null }]],
    [[line, { authorization: 'Bearer' }]],
    [[line, { authorization: 'Basic ZGVtbzprZXk=' }]],
  ];
  const invalid: readonly Sequence[] = [
    [[line, { authorization: 'Bearer wrong' }]],
    [[line, prefer(401)]],
  ];
  return {
    [`${operation} 401 key-missing`]: { shown: missing, near: invalid },
    [`${operation} 401 key-invalid`]: { shown: invalid, near: missing },
  };
};

const entryRows = (operation: OperationId, line: string): Readonly<Record<string, Row>> => {
  const holding = (petId: string, status: string): Sequence => [
    only(
      `{"animals":[{"id":${petId},"name":"sold","categoryId":1}],"inventory":[{"petId":${petId},"quantity":1,"status":${JSON.stringify(status)}}]}`,
    ),
    line.replace('{}', petId),
  ];
  const available = holding('1', 'available');
  const sold = holding('1', 'sold');
  const unseen = [holding('1', 'pending'), holding('1', ''), holding('1', 'available"')];
  return {
    [`${operation} 200 entry-available`]: { shown: [available], near: [sold, ...unseen] },
    [`${operation} 200 entry-sold`]: { shown: [sold], near: [available, ...unseen] },
    [`${operation} 200 entry-unseen-status`]: { shown: unseen, near: [available, sold] },
    [`${operation} 200 inventory-large-id`]: {
      shown: [holding(BIG, 'sold'), holding(`-${BIG}`, 'sold')],
      near: [holding(EXACT, 'sold'), holding(`-${EXACT}`, 'sold'), holding('1', 'sold')],
    },
  };
};

const PET = 'GET /pets/1';
const pet = (members: string): Sequence => [
  only(`{"animals":[{"id":1,"name":${HOSTILE},"categoryId":1${members}}]}`),
  PET,
];
const page = (members: string): Sequence => [...pet(members).slice(0, -1), 'GET /pets'];
const animal = (id: string | number) => `{"id":${id},"name":"x","categoryId":1}`;
const orders = (list: string, ...more: Sequence): Sequence => [
  only(`{"animals":[${[1, BIG, `-${BIG}`, `-${EXACT}`].map(animal)}],"orders":${list}}`),
  ...more,
  'GET /store/orders',
];
const ALL_FIELDS =
  '{"id":1,"petId":1,"quantity":1,"shipDate":"2031-01-01T00:00:00Z","complete":true}';
const cancelled = (order: string) => order.replace('}', ',"status":"cancelled"}');
const REMOVED = assume({ 'cancelled-orders': 'removed' });
const create = (body: string, ...first: Sequence): Sequence => [...first, `POST /pets ${body}`];
const update = (body: string): Sequence => [`PATCH /inventory/1 ${body}`];

/** Every case: what shows it, and what comes near to it and does not. */
const ROWS: Readonly<Record<string, Row>> = {
  'listPets 200 limit-absent': {
    shown: [['GET /pets'], ['GET /pets?status=sold']],
    near: [['GET /pets?limits=1'], ['GET /pets?limit=20'], [['GET /pets?limit=', prefer(200)]]],
  },
  'listPets 200 limit-1': {
    shown: [['GET /pets?limit=1'], ['GET /pets?status=sold&%6Cimit=%31']],
    near: [
      ['GET /pets?limit=2'],
      ['GET /pets?limit=10'],
      [['GET /pets?limit=01', prefer(200)]],
      [['GET /pets?limit=1&limit=1', prefer(200)]],
      [assume({ 'limit-out-of-range': 'clamp' }), 'GET /pets?limit=0'],
    ],
  },
  'listPets 200 limit-between': {
    shown: [['GET /pets?limit=2'], ['GET /pets?limit=99'], ['GET /pets?limit=20']],
    near: [
      ['GET /pets'],
      ['GET /pets?limit=1'],
      ['GET /pets?limit=100'],
      [['GET /pets?limit=1.5', prefer(200)]],
      [['GET /pets?limit=2e1', prefer(200)]],
      [['GET /pets?limit=5&limit=6', prefer(200)]],
    ],
  },
  'listPets 200 limit-100': {
    shown: [['GET /pets?limit=100']],
    near: [
      ['GET /pets?limit=99'],
      [assume({ 'limit-out-of-range': 'clamp' }), 'GET /pets?limit=101'],
      [assume({ 'limit-out-of-range': 'default' }), 'GET /pets?limit=1000'],
    ],
  },
  'listPets 200 filter-unused': {
    shown: [['GET /pets'], ['GET /pets?limit=1']],
    near: [['GET /pets?Status=sold'], ['GET /pets?status=sold'], ['GET /pets?%73tatus=sold']],
  },
  'listPets 200 filter-used': {
    shown: [['GET /pets?status=sold'], ['GET /pets?%73tatus=%73old']],
    near: [['GET /pets'], ['GET /pets?Status=sold'], ['GET /pets?limit=1&x=status']],
  },
  'listPets 200 page-empty': {
    shown: [
      [only('{}'), 'GET /pets'],
      [rule('listPets', { status: 200, body: [] }), 'GET /pets'],
    ],
    near: [
      [assume({ 'status-filter': 'empty' }), 'GET /pets?status=lost'],
      ['GET /pets'],
      [rule('listPets', { status: 200, body: null }), 'GET /pets'],
    ],
  },
  'listPets 200 page-available': {
    shown: [page(',"status":"available"'), ['GET /pets?limit=1']],
    near: [page(''), page(',"status":"Available"'), ['GET /pets?status=sold']],
  },
  'listPets 200 page-pending': {
    shown: [page(',"status":"pending"'), ['GET /pets']],
    near: [page(',"status":"sold"'), ['GET /pets?limit=2']],
  },
  'listPets 200 page-sold': {
    shown: [page(',"status":"sold"'), ['GET /pets']],
    near: [page(',"status":"pending"'), ['GET /pets?limit=3']],
  },
  'listPets 200 page-without-status': {
    shown: [
      page(''),
      ['GET /pets'],
      [assume({ 'absent-optionals': 'null' }), 'GET /pets'],
      [rule('listPets', { status: 200, body: [{ status: null }] }), 'GET /pets'],
    ],
    near: [
      page(',"status":"sold"'),
      ['GET /pets?limit=12'],
      ['GET /pets?status=sold'],
      [assume({ 'absent-optionals': 'null' }), 'GET /pets?limit=12'],
      [rule('listPets', { status: 200, body: [] }), 'GET /pets'],
      [rule('listPets', { status: 200, body: 'text' }), 'GET /pets'],
    ],
  },
  'listPets 200 page-unseen-status': {
    shown: [page(',"status":"lost"'), page(',"status":""'), page(',"status":"sold\\""')],
    near: [page(''), page(',"status":"sold"'), page(',"status":"so\\u006cd"'), ['GET /pets']],
  },
  'listPets 200 page-large-id': {
    shown: [
      [merge(`{"animals":[{"id":-${BIG},"name":"x","categoryId":1}]}`), 'GET /pets?limit=1'],
      [merge(`{"animals":[{"id":1,"categoryId":${BIG}}]}`), 'GET /pets?limit=1'],
      [
        'PUT /__mock/scenario {"scenario":{"rules":[{"on":"listPets","reply":{"status":200,"body":[{"id":9007199254740992}]}}]}}',
        'GET /pets',
      ],
    ],
    near: [
      page(''),
      [
        merge(`{"animals":[{"id":${EXACT},"name":"x","categoryId":-${EXACT}}]}`),
        'GET /pets?limit=100',
      ],
      [merge(`{"animals":[{"id":${BIG},"name":"x","categoryId":1}]}`), 'GET /pets?limit=1'],
    ],
  },
  ...keyRows('listPets', 'GET /pets'),
  'createPet 201 created-with-status': {
    shown: [
      create('{"name":"x","categoryId":1,"status":"sold"}'),
      create('{"name":"x","categoryId":1,"st\\u0061tus":"sold"}'),
      create('{"name":"x","categoryId":1,"status":"x","status":"sold"}'),
      create('{\n"name":"x","categoryId":1 ,\n"status"\n:\n"sold"}'),
    ],
    near: [
      create('{"name":"x","categoryId":1}'),
      create(`{"name":${HOSTILE},"categoryId":1}`),
      create('{"name":"x","categoryId":1,"more":{"status":"sold"}}'),
      create('{"name":"x","categoryId":1}', assume({ 'created-status': 'available' })),
      [['POST /pets {"status":"sold"}', prefer(201)]],
    ],
  },
  'createPet 201 created-without-status': {
    shown: [
      create('{"name":"x","categoryId":1}'),
      create('{"name":"x","categoryId":1}', assume({ 'created-status': 'available' })),
    ],
    near: [
      create('{"name":"x","categoryId":1,"Status":"sold"}'),
      create('{"name":"x","categoryId":1,"more":{"status":"sold"}}'),
      create('{"name":"x","categoryId":1,"status":"sold"}'),
      create('{"name":"x","categoryId":1,"st\\u0061tus":"sold"}'),
      [['POST /pets', prefer(201)]],
      [['POST /pets [', prefer(201)]],
    ],
  },
  'createPet 201 created-large-id': {
    shown: [
      create(`{"name":"x","categoryId":${BIG}}`),
      create('{"name":"x","categoryId":1}', assume({ 'assigned-ids': 'int64' })),
    ],
    near: [
      create(`{"name":"x","categoryId":${EXACT}}`),
      create(`{"name":${HOSTILE},"categoryId":1,"other":${BIG}}`),
    ],
  },
  ...keyRows('createPet', 'POST /pets {"name":"x","categoryId":1}'),
  'getPet 200 pet-available': {
    shown: [
      pet(',"status":"available"'),
      [PET],
      [rule('getPet', { status: 200, body: { status: 'available', id: 1 } }), PET],
    ],
    near: [pet(''), pet(',"status":"sold"'), pet(',"status":"available "')],
  },
  'getPet 200 pet-pending': {
    shown: [pet(',"status":"pending"')],
    near: [pet(''), pet(',"status":"available"')],
  },
  'getPet 200 pet-sold': {
    shown: [pet(',"status":"sold"')],
    near: [pet(''), pet(',"status":"unsold"')],
  },
  'getPet 200 pet-without-status': {
    shown: [pet(''), ['GET /pets/13'], [assume({ 'absent-optionals': 'null' }), 'GET /pets/13']],
    near: [
      pet(',"status":"sold"'),
      pet(',"status":""'),
      [rule('getPet', { status: 200, body: null }), PET],
      [rule('getPet', { status: 200, body: 'available' }), PET],
    ],
  },
  'getPet 200 pet-unseen-status': {
    shown: [pet(',"status":"lost"'), pet(',"status":""'), pet(',"status":"sold\\\\"')],
    near: [
      pet(''),
      pet(',"status":"sold"'),
      [assume({ 'absent-optionals': 'null' }), 'GET /pets/13'],
    ],
  },
  'getPet 200 pet-sunset': {
    shown: [[PET], [rule('getPet', { status: 200, body: {}, headers: { sunset: 'Thu' } }), PET]],
    near: [
      [assume({ 'deprecation-headers': 'absent' }), PET],
      [rule('getPet', { status: 200, body: {}, headers: { 'X-Event': 'Sunset' } }), PET],
    ],
  },
  'getPet 200 pet-large-id': {
    shown: [
      [merge(`{"animals":[{"id":${BIG},"name":"x","categoryId":1}]}`), `GET /pets/${BIG}`],
      [merge(`{"animals":[{"id":1,"categoryId":-${BIG}}]}`), PET],
    ],
    near: [
      pet(''),
      [merge(`{"animals":[{"id":${EXACT},"name":"x","categoryId":1}]}`), `GET /pets/${EXACT}`],
    ],
  },
  ...keyRows('getPet', PET),
  'listInventory 200 inventory-empty': {
    shown: [
      [only('{}'), 'GET /inventory'],
      [rule('listInventory', { status: 200, body: [] }), 'GET /inventory'],
    ],
    near: [
      ['GET /inventory'],
      [only('{}'), rule('listInventory', { status: 200, body: [{ petId: 1 }] }), 'GET /inventory'],
    ],
  },
  ...entryRows('listInventory', 'GET /inventory'),
  ...keyRows('listInventory', 'GET /inventory'),
  'updateInventory 200 quantity-0': {
    shown: ['0', '0.0', '-0', '0e5', ' 0 ', '5,"quantity":0'].map((it) =>
      update(`{"quantity":${it}}`),
    ),
    near: [
      update('{"quantity":1}'),
      update('{"quantity":10}'),
      update('{"quantity":0,"quantity":5}'),
      update('{"quantity":5,"more":{"quantity":0}}'),
      update('{"quantity":5,"more":"\\"quantity\\":0,"}'),
      [['PATCH /inventory/1 {"quantity":0.5}', prefer(200)]],
      [['PATCH /inventory/1', prefer(200)]],
    ],
  },
  'updateInventory 200 quantity-above': {
    shown: ['1', '1e0', '0.1e1', '1.0', '20'].map((it) => update(`{"qu\\u0061ntity":${it}}`)),
    near: [
      update('{"quantity":0}'),
      update('{"quantity":0.0}'),
      [assume({ 'negative-quantity': 'accept' }), ...update('{"quantity":-5}')],
      [['PATCH /inventory/1 {"quantity":5.5}', prefer(200)]],
      [['PATCH /inventory/1 {"quantity":"5"}', prefer(200)]],
    ],
  },
  ...entryRows('updateInventory', 'PATCH /inventory/{} {"quantity":1}'),
  ...keyRows('updateInventory', 'PATCH /inventory/1 {"quantity":1}'),
  'listOrders 200 orders-empty': {
    shown: [
      orders('[]'),
      orders('[{"id":1,"status":"cancelled"}]', REMOVED),
      orders('[{"id":1}]', rule('listOrders', { status: 200, body: [] })),
    ],
    near: [
      orders('[{"id":1,"status":"cancelled"}]'),
      orders('[]', rule('listOrders', { status: 200, body: [{ id: 1 }] })),
    ],
  },
  'listOrders 200 order-all-fields': {
    shown: [
      orders(`[${ALL_FIELDS}]`),
      orders(`[${cancelled(ALL_FIELDS)}]`),
      orders('[]', rule('listOrders', { status: 200, body: [JSON.parse(ALL_FIELDS)] })),
    ],
    near: [
      orders('[{"id":1,"petId":1,"quantity":1,"complete":true,"status":"pending"}]'),
      orders(`[${cancelled(ALL_FIELDS)}]`, REMOVED),
      orders(`[${ALL_FIELDS}]`, rule('listOrders', { status: 200, body: [] })),
    ],
  },
  'listOrders 200 order-absent-fields': {
    shown: [
      orders('[{"id":1,"petId":1,"quantity":1,"complete":true,"status":"pending"}]'),
      orders('[{"id":1}]', assume({ 'absent-optionals': 'null' })),
      orders('[{"id":1}]', assume({ 'order-status-field': 'shown' })),
    ],
    near: [
      orders(`[${ALL_FIELDS}]`),
      orders(`[${ALL_FIELDS}]`, assume({ 'order-status-field': 'shown' })),
      orders(`[${ALL_FIELDS},{"id":2,"status":"cancelled"}]`, REMOVED),
    ],
  },
  'listOrders 200 order-complete': {
    shown: [orders('[{"id":1,"complete":true}]')],
    near: [
      orders('[{"id":1}]'),
      orders('[{"id":1,"complete":false,"status":"shipped"}]'),
      orders('[{"id":1,"complete":true,"status":"cancelled"}]', REMOVED),
      orders('[{"id":1,"complete":true}]', rule('listOrders', { status: 200, body: [] })),
    ],
  },
  'listOrders 200 order-incomplete': {
    shown: [orders('[{"id":1,"complete":false}]')],
    near: [
      orders('[{"id":1}]'),
      orders('[{"id":1,"complete":true}]'),
      orders('[{"id":1}]', assume({ 'absent-optionals': 'null' })),
    ],
  },
  'listOrders 200 order-large-id': {
    shown: [orders(`[{"id":${BIG}}]`), orders(`[{"id":1,"petId":-${BIG}}]`)],
    near: [
      orders(`[{"id":${EXACT},"petId":-${EXACT}}]`),
      orders(`[{"id":1},{"id":${BIG},"status":"cancelled"}]`, REMOVED),
    ],
  },
  ...keyRows('listOrders', 'GET /store/orders'),
  'cancelOrder 204 cancelled-large-id': {
    shown: [
      [merge(`{"orders":[{"id":${BIG}}]}`), `DELETE /store/orders/${BIG}`],
      [merge(`{"orders":[{"id":-${BIG}}]}`), `DELETE /store/orders/-${BIG}`],
    ],
    near: [
      ['DELETE /store/orders/1'],
      [merge(`{"orders":[{"id":${EXACT}}]}`), `DELETE /store/orders/${EXACT}`],
      [[`DELETE /store/orders/${BIG}0000000`, prefer(204)]],
      [['DELETE /store/orders/9007199254740993.0', prefer(204)]],
    ],
  },
  ...keyRows('cancelOrder', 'DELETE /store/orders/1'),
  'cancelOrder 409 order-shipped': {
    shown: [
      ['DELETE /store/orders/2'],
      [['DELETE /store/orders/1', prefer(409)]],
      [rule('cancelOrder', { status: 409 }), 'DELETE /store/orders/77'],
    ],
    near: [
      ['DELETE /store/orders/3'],
      ['DELETE /store/orders/1', 'DELETE /store/orders/1'],
      [['DELETE /store/orders/3', prefer(409)]],
    ],
  },
};

interface Named {
  readonly name: string;
  readonly operation: OperationId;
  readonly status: number;
  readonly id: string;
}

const CASES: readonly Named[] = DOCUMENTED_CASES.map(({ operation, status, id }) => ({
  name: `${operation} ${status} ${id}`,
  operation,
  status,
  id,
}));

const find = <It extends { operation: string; status: number }>(all: readonly It[], of: Named) =>
  all.filter(({ operation, status }) => operation === of.operation && status === of.status);

describe('the cases within documented replies', () => {
  test('all have a row here with a unique name', () => {
    expect(Object.keys(ROWS).sort()).toEqual(CASES.map(({ name }) => name).sort());
    expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
  });

  test.each(CASES)('$name is counted when shown, and not by a near miss', async (named) => {
    const { shown = [], near = [] } = ROWS[named.name] ?? {};
    expect([shown.length, near.length]).not.toContain(0);
    for (const sequence of shown) {
      const { cases, asked } = await coverageAfter(sequence);
      const [it] = find(cases, named).filter(({ id }) => id === named.id);
      expect(it, JSON.stringify(sequence)).toMatchObject({
        count: 1,
        first: { sandbox: `s${sandboxes}`, exchange: asked },
      });
    }
    for (const sequence of near) {
      const { cases, documented, assumed } = await coverageAfter(sequence);
      const [it] = find(cases, named).filter(({ id }) => id === named.id);
      expect(it, JSON.stringify(sequence)).toMatchObject({ count: 0 });
      const counts = find([...documented, ...assumed], named).map(({ count }) => count);
      expect(Math.max(...counts), JSON.stringify(sequence)).toBeGreaterThan(0);
    }
  });

  test.each<{ name: string; sequence: Sequence; shown: readonly string[] }>([
    {
      name: 'another list with neither query nor text',
      sequence: ['GET /store/orders', 'GET /inventory'],
      shown: ['listInventory entry-sold', 'listOrders order-complete'],
    },
    {
      name: 'the same Error from another operation',
      sequence: [
        ['GET /pets', { authorization: null }],
        ['GET /inventory', { authorization: null }],
        ['GET /store/orders', { authorization: null }],
      ],
      shown: ['listInventory key-missing', 'listOrders key-missing', 'listPets key-missing'],
    },
    {
      name: 'the same list under another assumption',
      sequence: [
        ...orders('[{"id":1,"complete":true,"status":"cancelled"}]', REMOVED),
        assume({ 'cancelled-orders': 'listed' }),
        'GET /store/orders',
      ],
      shown: ['listOrders order-complete'],
    },
    {
      name: 'the same list of a store that has changed elsewhere',
      sequence: [
        'GET /inventory',
        merge('{"inventory":[{"petId":1,"status":"lost"}]}'),
        'GET /inventory',
      ],
      shown: ['listInventory entry-unseen-status'],
    },
  ])('are counted in the replies after $name', async ({ sequence, shown }) => {
    const { cases } = await coverageAfter(sequence);
    const names = cases
      .filter(({ count }) => count > 0)
      .map(({ operation, id }) => `${operation} ${id}`);
    expect(names).toEqual(expect.arrayContaining([...shown]));
  });

  test('shown by one reply are all counted, each with its first exchange', async () => {
    const { cases } = await coverageAfter(['GET /pets?limit=1', 'GET /pets?limit=2', 'GET /pets']);
    const first = Object.fromEntries(
      cases.filter(({ count }) => count > 0).map(({ id, first }) => [id, first?.exchange]),
    );
    expect(first).toEqual({
      'limit-1': 1,
      'filter-unused': 1,
      'page-available': 1,
      'limit-between': 2,
      'limit-absent': 3,
      'page-pending': 3,
      'page-sold': 3,
      'page-without-status': 3,
    });
  });
});

describe('replies', () => {
  const known = [
    ...DOCUMENTED_REPLIES.map((it) => ({ ...it, kind: 'documented' as const })),
    ...ASSUMED_REPLIES.map((it) => ({ ...it, kind: 'assumed' as const })),
  ];
  const LISTED = listReplies();

  async function send({ method, path, headers, body }: RecipeStep): Promise<number> {
    const content = typeof body === 'string' ? { body } : {};
    const reply = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers,
      ...content,
    });
    await reply.text();
    return reply.status;
  }

  test.each(known)(
    'a forced $operation $status ($kind) counts only if it is documented',
    async (it) => {
      const { operation, status, kind } = it;
      const listed = LISTED.find((one) => one.operation === operation && one.status === status);
      if (listed === undefined) throw new Error('There is no way to it.');
      const sandbox = `forced-${operation}-${status}`;
      const [step] = stepsOf(listed, 'prefer', sandbox);
      if (step === undefined) throw new Error('There is no request.');
      expect(await send(step)).toBe(status);
      expect(await send(step)).toBe(status);
      const report = await coverageIn(`~${sandbox}`);
      const shown = [...report.documented, ...report.assumed].filter(({ count }) => count > 0);
      const counted = { operation, status, count: 2, first: { sandbox, exchange: 1 } };
      expect(shown).toEqual(kind === 'documented' ? [expect.objectContaining(counted)] : []);
      expect(report.totals.documented.shown).toBe(shown.length);
    },
  );

  test('that rest on an assumption count as assumed, even with a documented status', async () => {
    const { documented, assumed, cases, totals } = await coverageAfter([
      'DELETE /store/orders/3',
      'GET /pets?limits=1',
    ]);
    const shown = (all: readonly { count: number }[]) => all.filter(({ count }) => count > 0);
    expect(shown([...documented, ...cases])).toEqual([]);
    expect(shown(assumed)).toMatchObject([
      { operation: 'listPets', status: 200, count: 1, grounds: ['unknown-query=ignore'] },
      { operation: 'cancelOrder', status: 409, count: 1, grounds: ['cancel-again=409'] },
    ]);
    expect(totals.assumed).toMatchObject({ shown: 2, total: ASSUMED_REPLIES.length + 2 });
  });

  const inEarnest = LISTED.filter(({ ground }) => ground === 'documented');
  test.each(inEarnest)('$operation $status is counted without being forced', async (listed) => {
    const { operation, status } = listed;
    const sandbox = `real-${operation}-${status}`;
    await coverageIn(`~${sandbox}`);
    for (const step of stepsOf(listed, 'state', sandbox)) await send(step);
    const { documented } = await coverageIn(`~${sandbox}`);
    expect(documented.filter(({ count }) => count > 0)).toEqual([
      expect.objectContaining({ operation, status, count: 1 }),
    ]);
  });

  test('that are neither documented nor assumed, or belong to no operation, are not counted', async () => {
    const { totals } = await coverageAfter([
      ['GET /pets', prefer(503)],
      ['GET /pets', prefer(204)],
      'GET /nowhere',
      'PUT /pets',
    ]);
    expect(totals).toMatchObject({
      documented: { shown: 0, percent: 0 },
      cases: { shown: 0 },
      assumed: { shown: 0 },
    });
  });

  test('to HEAD are not counted: the document has no HEAD', async () => {
    const { totals } = await coverageAfter(['HEAD /pets', 'HEAD /store/orders']);
    expect(totals).toMatchObject({ documented: { shown: 0 }, cases: { shown: 0 } });
  });

  const SPOILT = ['reset', 'close', 'html', 'truncate', 'malformed-json', 'bad-chunk'] as const;
  test.each([
    ...SPOILT.map((fault) => ({ fault, shown: 0 })),
    { fault: { kind: 'slow-body', chunks: 2, over: 1 }, shown: 2 },
  ])('with the fault $fault count only if they arrive complete', async ({ fault, shown }) => {
    const name = `fault-${typeof fault === 'string' ? fault : fault.kind}`;
    const origin = `http://127.0.0.1:${server.port}/~${name}`;
    const rules = ['listPets', 'cancelOrder'].map((on) => ({ on, apply: true, fault }));
    const headers = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };
    const body = JSON.stringify({ scenario: { rules } });
    const chosen = await fetch(`${origin}/__mock/scenario`, { method: 'PUT', headers, body });
    expect(chosen.status, await chosen.text()).toBe(200);
    const read = (reply: Response) => reply.text();
    await fetch(`${origin}/v1/pets`, { headers })
      .then(read)
      .catch(() => {});
    const path = `${origin}/v1/store/orders/1`;
    await fetch(path, { method: 'DELETE', headers })
      .then(read)
      .catch(() => {});
    const { totals } = await coverageIn(`~${name}`);
    expect(totals.documented.shown).toBe(shown);
    expect(totals.cases.shown > 0).toBe(shown > 0);
  });
});

describe('a long list', () => {
  const orders = Array.from({ length: 200 }, (_one, index) => ({ id: BigInt(index + 1) }));

  /** What the client of a new sandbox is shown by lists of orders, before and after a change of it. */
  async function shownBy(edit: (state: State) => State): Promise<readonly string[][]> {
    const store = storeOf({ animals: [], inventory: [], orders });
    const { default: sandbox } = new Sandboxes(startOf({}, store, []));
    const list = async (): Promise<string[]> => {
      await performIn(sandbox, { ...callOf('listOrders'), authorization: 'Bearer demo-key' });
      const { cases } = coverageOf([sandbox.evidence.coverage]);
      return cases.filter(({ count }) => count > 0).map(({ id }) => id);
    };
    const before = await list();
    await sandbox.change((state) => ({ state: edit(state), result: undefined }));
    return [before, await list()];
  }

  const withOrder = (state: State, order: Order): State => ({
    ...state,
    store: { ...state.store, orders: state.store.orders.with(order) },
  });

  test('shows what a change adds', async () => {
    const shown = await shownBy((state) => withOrder(state, { id: 7n, complete: true }));
    expect(shown).toEqual([['order-absent-fields'], ['order-absent-fields', 'order-complete']]);
  });

  test('shows only what the chosen assumption lists', async () => {
    const hidden = { id: 7n, complete: true, status: 'cancelled' } as const;
    const [, shown] = await shownBy((state) => ({
      ...withOrder(state, hidden),
      settings: withChoices(state.settings, chooseOptions({ 'cancelled-orders': 'removed' })),
    }));
    expect(shown).toEqual(['order-absent-fields']);
  });
});

test('a report can be written and read as JSON', () => {
  const report = server.coverage();
  expect(parseJson(JSON.stringify(report))).toEqual(report);
});
