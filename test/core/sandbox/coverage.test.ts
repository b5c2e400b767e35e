import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ASSUMED_REPLIES, DOCUMENTED_CASES } from '../../../src/core/contract/cases.ts';
import type { OperationId } from '../../../src/core/contract/operations.ts';
import type { CoverageReport } from '../../../src/core/sandbox/report-shapes.ts';
import { type RunningServer, startServer } from '../../../src/server/server.ts';
import { asker } from '../../helpers/wire.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ port: 0 });
});
afterAll(() => server.close());

/** `METHOD /path BODY`, of the service or of `/__mock`, and `as STATUS` for one that it prefers. */
type RequestLine = string;
/** What a client does in a sandbox of its own; the last request is to show the case, or not. */
type Sequence = RequestLine | readonly RequestLine[];

const REQUEST_LINE = /^(\S+) (\S+)(?: ([[{].*?))?(?: as (\d+))?(?: by (.*))?$/s;

let sandboxes = 0;

/** Sends what is told to a new sandbox, and reads its coverage. */
async function coverageAfter(sequence: Sequence) {
  sandboxes += 1;
  const ask = asker(server.port, `/~s${sandboxes}`);
  // A request without a valid key creates no sandbox.
  await ask('GET', '/__mock/coverage');
  let asked = 0;
  for (const line of [sequence].flat()) {
    const [, method = '', path = '', body, code, by = 'Bearer demo-key'] =
      REQUEST_LINE.exec(line) ?? [];
    const control = path.startsWith('/__mock');
    const Authorization = by === 'nobody' ? undefined : by;
    const headers = { Authorization, Prefer: code && `code=${code}` };
    const { status } = await ask(method, control ? path : `/v1${path}`, { body, headers });
    if (control) expect(status, line).toBeLessThan(300);
    else asked += 1;
  }
  const { text } = await ask('GET', '/__mock/coverage');
  const report: CoverageReport = JSON.parse(text);
  return { ...report, asked };
}

type Row = readonly [shown: readonly Sequence[], near: readonly Sequence[]];
type Rows = Readonly<Record<string, Row>>;

const assume = (choices: object): RequestLine =>
  `PATCH /__mock/assumptions ${JSON.stringify(choices)}`;
const rule = (on: OperationId, reply: object): RequestLine =>
  `PUT /__mock/scenario ${JSON.stringify({ scenario: { rules: [{ on, reply }] } })}`;
const merge = (state: string): RequestLine => `PATCH /__mock/state ${state}`;
const only = (state: string): RequestLine => `PUT /__mock/state ${state}`;
const BIG = '9007199254740993';
const EXACT = '9007199254740991';

const keyRows = (operation: OperationId, line: string): Rows => {
  const missing = [`${line} by nobody`, `${line} by Basic ZGVtbzprZXk=`];
  const invalid = [`${line} by Bearer wrong`, `${line} as 401`];
  return {
    [`${operation} 401 key-missing`]: [missing, invalid],
    [`${operation} 401 key-invalid`]: [invalid, missing],
  };
};

const entryRows = (operation: OperationId, line: string): Rows => {
  const holding = (petId: string, status: string): Sequence => [
    only(
      `{"animals":[{"id":${petId},"name":"sold","categoryId":1}],"inventory":[{"petId":${petId},"quantity":1,"status":"${status}"}]}`,
    ),
    line.replace('{}', petId),
  ];
  const available = holding('1', 'available');
  const sold = holding('1', 'sold');
  const unseen = [holding('1', 'pending'), holding('1', '')];
  const exact = [holding(EXACT, 'sold'), holding(`-${EXACT}`, 'sold')];
  return {
    [`${operation} 200 entry-available`]: [[available], [sold, ...unseen]],
    [`${operation} 200 entry-sold`]: [[sold], [available, ...unseen]],
    [`${operation} 200 entry-unseen-status`]: [unseen, [available, sold]],
    [`${operation} 200 inventory-large-id`]: [[holding(BIG, 'sold')], exact],
  };
};

const PET = 'GET /pets/1';
const pet = (members: string): readonly RequestLine[] => [
  only(`{"animals":[{"id":1,"name":"\\"status\\":\\"weird\\"","categoryId":1${members}}]}`),
  PET,
];
const page = (members: string): Sequence => [...pet(members).slice(0, -1), 'GET /pets'];
const bigPet = (id: string, categoryId = '1') =>
  merge(`{"animals":[{"id":${id},"name":"x","categoryId":${categoryId}}]}`);
const orders = (list: string, ...more: readonly RequestLine[]): readonly RequestLine[] => [
  only(
    `{"animals":[{"id":1,"name":"x","categoryId":1},{"id":-${BIG},"name":"x","categoryId":1}],"orders":${list}}`,
  ),
  ...more,
  'GET /store/orders',
];
const ALL_FIELDS =
  '{"id":1,"petId":1,"quantity":1,"shipDate":"2031-01-01T00:00:00Z","complete":true}';
const REMOVED = assume({ 'cancelled-orders': 'removed' });
const NULLS = assume({ 'absent-optionals': 'null' });
const create = (members: string): RequestLine => `POST /pets {"name":"x","categoryId":1${members}}`;
const update = (quantity: string): RequestLine => `PATCH /inventory/1 {"quantity":${quantity}}`;
const lists = (body: unknown): readonly RequestLine[] => [
  rule('listPets', { status: 200, body }),
  'GET /pets',
];
const reads = (body: unknown, headers = {}): readonly RequestLine[] => [
  rule('getPet', { status: 200, body, headers }),
  PET,
];

/** Every case: what shows it, and what comes near to it and does not. */
const ROWS: Rows = {
  'listPets 200 limit-absent': [['GET /pets?status=sold'], ['GET /pets?limit=20']],
  'listPets 200 limit-1': [['GET /pets?status=sold&%6Cimit=%31'], ['GET /pets?limit=10']],
  'listPets 200 limit-between': [
    ['GET /pets?limit=2', 'GET /pets?limit=99'],
    ['GET /pets', 'GET /pets?limit=1', 'GET /pets?limit=100'],
  ],
  'listPets 200 limit-100': [
    ['GET /pets?limit=100'],
    ['GET /pets?limit=99', [assume({ 'limit-out-of-range': 'clamp' }), 'GET /pets?limit=101']],
  ],
  'listPets 200 filter-unused': [['GET /pets?limit=1'], ['GET /pets?%73tatus=sold']],
  'listPets 200 filter-used': [['GET /pets?%73tatus=%73old'], ['GET /pets?limit=1&x=status']],
  'listPets 200 page-empty': [
    [[only('{}'), 'GET /pets'], lists([])],
    ['GET /pets', lists(null)],
  ],
  'listPets 200 page-available': [['GET /pets?limit=1'], [page(''), page(',"status":"Available"')]],
  'listPets 200 page-pending': [['GET /pets'], ['GET /pets?limit=2']],
  'listPets 200 page-sold': [['GET /pets'], ['GET /pets?limit=3']],
  'listPets 200 page-without-status': [
    ['GET /pets', [NULLS, 'GET /pets'], lists([{ status: null }])],
    ['GET /pets?limit=12', [NULLS, 'GET /pets?limit=12'], lists('text')],
  ],
  'listPets 200 page-unseen-status': [
    [page(',"status":"lost"'), page(',"status":""')],
    [page(''), page(',"status":"so\\u006cd"')],
  ],
  'listPets 200 page-large-id': [
    [[bigPet(`-${BIG}`), 'GET /pets?limit=1'], lists([{ id: 2 ** 53 }])],
    [
      [bigPet(EXACT, `-${EXACT}`), 'GET /pets?limit=100'],
      [bigPet(BIG), 'GET /pets?limit=1'],
    ],
  ],
  ...keyRows('listPets', 'GET /pets'),
  'createPet 201 created-with-status': [
    [create(',"st\\u0061tus":"sold"')],
    [create(',"more":{"status":"sold"}'), [assume({ 'created-status': 'available' }), create('')]],
  ],
  'createPet 201 created-without-status': [
    [create('')],
    [create(',"status":"sold"'), 'POST /pets as 201', 'POST /pets [ as 201'],
  ],
  'createPet 201 created-large-id': [
    [create(`,"categoryId":${BIG}`), [assume({ 'assigned-ids': 'int64' }), create('')]],
    [create(`,"categoryId":${EXACT}`), create(`,"other":${BIG}`)],
  ],
  ...keyRows('createPet', create('')),
  'getPet 200 pet-available': [[PET, reads({ status: 'available' })], [pet(',"status":"sold"')]],
  'getPet 200 pet-pending': [[pet(',"status":"pending"')], [PET]],
  'getPet 200 pet-sold': [[pet(',"status":"sold"')], [pet(',"status":"unsold"')]],
  'getPet 200 pet-without-status': [
    [pet(''), [NULLS, 'GET /pets/13']],
    [pet(',"status":""'), reads(null)],
  ],
  'getPet 200 pet-unseen-status': [
    [pet(',"status":"lost"')],
    [pet(',"status":"sold"'), [NULLS, 'GET /pets/13']],
  ],
  'getPet 200 pet-sunset': [
    [PET, reads({}, { sunset: 'Thu' })],
    [[assume({ 'deprecation-headers': 'absent' }), PET], reads({}, { 'X-Event': 'Sunset' })],
  ],
  'getPet 200 pet-large-id': [
    [
      [bigPet(BIG), `GET /pets/${BIG}`],
      [bigPet('1', `-${BIG}`), PET],
    ],
    [pet(''), [bigPet(EXACT), `GET /pets/${EXACT}`]],
  ],
  ...keyRows('getPet', PET),
  'listInventory 200 inventory-empty': [[[only('{}'), 'GET /inventory']], ['GET /inventory']],
  ...entryRows('listInventory', 'GET /inventory'),
  ...keyRows('listInventory', 'GET /inventory'),
  'updateInventory 200 quantity-0': [
    [update('0'), update('-0'), update('5,"quantity":0')],
    [update('10'), update('5,"more":{"quantity":0}'), 'PATCH /inventory/1 as 200'],
  ],
  'updateInventory 200 quantity-above': [
    [update('20'), update('0.1e1')],
    [update('0'), [assume({ 'negative-quantity': 'accept' }), update('-5')]],
  ],
  ...entryRows('updateInventory', 'PATCH /inventory/{} {"quantity":1}'),
  ...keyRows('updateInventory', 'PATCH /inventory/1 {"quantity":1}'),
  'listOrders 200 orders-empty': [
    [orders('[]'), orders('[{"id":1,"status":"cancelled"}]', REMOVED)],
    [orders('[{"id":1,"status":"cancelled"}]')],
  ],
  'listOrders 200 order-all-fields': [
    [orders(`[${ALL_FIELDS}]`)],
    [orders('[{"id":1,"petId":1,"quantity":1,"complete":true,"status":"pending"}]')],
  ],
  'listOrders 200 order-absent-fields': [
    [orders('[{"id":1}]', NULLS), orders('[{"id":1,"status":"pending"}]')],
    [orders(`[${ALL_FIELDS},{"id":2,"status":"cancelled"}]`, REMOVED)],
  ],
  'listOrders 200 order-complete': [
    [orders('[{"id":1,"complete":true}]')],
    [orders('[{"id":1}]'), orders('[{"id":1,"complete":false,"status":"shipped"}]')],
  ],
  'listOrders 200 order-incomplete': [
    [orders('[{"id":1,"complete":false}]')],
    [orders('[{"id":1,"complete":true}]'), orders('[{"id":1}]', NULLS)],
  ],
  'listOrders 200 order-large-id': [
    [orders(`[{"id":${BIG}}]`), orders(`[{"id":1,"petId":-${BIG}}]`)],
    [orders(`[{"id":${EXACT}}]`)],
  ],
  ...keyRows('listOrders', 'GET /store/orders'),
  'cancelOrder 204 cancelled-large-id': [
    [[merge(`{"orders":[{"id":-${BIG}}]}`), `DELETE /store/orders/-${BIG}`]],
    ['DELETE /store/orders/1', `DELETE /store/orders/${BIG}0000000 as 204`],
  ],
  ...keyRows('cancelOrder', 'DELETE /store/orders/1'),
  'cancelOrder 409 order-shipped': [
    ['DELETE /store/orders/2', 'DELETE /store/orders/1 as 409'],
    [['DELETE /store/orders/1', 'DELETE /store/orders/1'], 'DELETE /store/orders/3 as 409'],
  ],
};

describe('the cases within documented replies', () => {
  const CASES = DOCUMENTED_CASES.map((known) => {
    return { ...known, name: `${known.operation} ${known.status} ${known.id}` };
  });

  test('all have a row here with a unique name', () => {
    expect(Object.keys(ROWS).sort()).toEqual(CASES.map(({ name }) => name).sort());
    expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
  });

  test.each(CASES)('$name is counted when shown, and not by a near miss', async (named) => {
    const isOf = ({ operation, status }: { operation: string; status: number }) =>
      operation === named.operation && status === named.status;
    const countedIn = ({ cases }: CoverageReport) =>
      cases.filter(isOf).find(({ id }) => id === named.id);
    const [shown, near] = ROWS[named.name] ?? [[], []];
    for (const sequence of shown) {
      const report = await coverageAfter(sequence);
      const counted = { count: 1, first: { sandbox: `s${sandboxes}`, exchange: report.asked } };
      expect(countedIn(report), JSON.stringify(sequence)).toMatchObject(counted);
    }
    for (const sequence of near) {
      const report = await coverageAfter(sequence);
      expect(countedIn(report), JSON.stringify(sequence)).toMatchObject({ count: 0 });
      const replies = [...report.documented, ...report.assumed].filter(isOf);
      const counts = replies.map(({ count }) => count);
      expect(Math.max(...counts), JSON.stringify(sequence)).toBeGreaterThan(0);
    }
  });

  test.each<[name: string, shown: readonly string[], sequence: Sequence]>([
    [
      'the same list under another assumption',
      ['order-absent-fields 1', 'order-complete 2'],
      [
        ...orders('[{"id":1,"complete":true,"status":"cancelled"},{"id":2}]', REMOVED),
        assume({ 'cancelled-orders': 'listed' }),
        'GET /store/orders',
      ],
    ],
    [
      'the same list of a store that has changed elsewhere',
      ['entry-available 1', 'entry-sold 1', 'entry-unseen-status 2'],
      ['GET /inventory', merge('{"inventory":[{"petId":1,"status":"lost"}]}'), 'GET /inventory'],
    ],
    [
      'other pages of a list',
      ['filter-unused 1', 'limit-1 1', 'limit-between 3', 'page-available 1'],
      ['GET /pets?limit=1', 'GET /pets?limit=1', 'GET /pets?limit=2'],
    ],
  ])('are counted once, by the first exchange, after %s', async (_, shown, sequence) => {
    const cases = (await coverageAfter(sequence)).cases.filter(({ count }) => count > 0);
    expect(cases.map(({ id, first }) => `${id} ${first?.exchange}`).sort()).toEqual(shown);
  });
});

describe('replies', () => {
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

  const faulty = (fault: unknown): RequestLine =>
    `PUT /__mock/scenario ${JSON.stringify({ scenario: { rules: [{ on: 'listPets', apply: true, fault }] } })}`;
  test.each<
    [name: string, sequence: Sequence, shown: readonly [documented: number, assumed: number]]
  >([
    ['that are documented, though forced', 'GET /store/orders as 401', [1, 0]],
    ['of an option, though forced', 'GET /pets as 400', [0, 1]],
    ['neither documented nor assumed', 'GET /pets as 503', [0, 0]],
    ['of no operation', ['GET /nowhere', 'PUT /pets'], [0, 0]],
    ['to HEAD, which the document does not have', 'HEAD /pets', [0, 0]],
    ['spoilt by html', [faulty('html'), 'GET /pets'], [0, 0]],
    ['spoilt by malformed JSON', [faulty('malformed-json'), 'GET /pets'], [0, 0]],
    [
      'that arrive complete, if slowly',
      [faulty({ kind: 'slow-body', chunks: 2, over: 1 }), 'GET /pets'],
      [1, 0],
    ],
  ])('%s are counted where they belong', async (_, sequence, [documented, assumed]) => {
    const { totals } = await coverageAfter(sequence);
    expect([totals.documented.shown, totals.assumed.shown]).toEqual([documented, assumed]);
    expect(totals.cases.shown > 0).toBe(documented > 0);
  });
});
