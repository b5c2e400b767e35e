import { describe, expect, test } from 'vitest';
import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Choices,
  chooseOptions,
  optionNames,
} from '../../../src/core/contract/assumption-table.ts';
import { DOCUMENTED_REPLIES } from '../../../src/core/contract/possible-replies.ts';
import { isObject, parseJson, writeJson } from '../../../src/core/json.ts';
import { withoutHeaders } from '../../../src/core/raw-http.ts';
import { prepareMock } from '../../../src/features/deployment/ask-mock.ts';
import {
  type CheckReport,
  createConfig,
  listChanges,
  readEarlierCheck,
} from '../../../src/features/deployment/check/check-report.ts';
import { planCheck } from '../../../src/features/deployment/check/probes.ts';
import {
  createCheckReport,
  findShortfall,
  reportsViolation,
} from '../../../src/features/deployment/check/report.ts';
import {
  DeploymentError,
  type DeploymentRequest,
} from '../../../src/features/deployment/deployment-client.ts';
import type { DeploymentReply } from '../../../src/features/deployment/deployment-reply.ts';
import { SAFE_METHODS } from '../../../src/features/deployment/transport.ts';
import {
  type Change,
  type Circumstances,
  checked,
  DEPLOYED_AT,
  deploymentStore,
  findWrong,
  reportOn,
  WHOLE_CHECK,
} from '../../helpers/checked-deployment.ts';
import { drawChoices, drawing, drawRequests } from '../../helpers/drawn-requests.ts';

const about = ({ assumptions }: CheckReport, id: string) =>
  assumptions.find((verdict) => verdict.id === id);

const settledIn = ({ assumptions }: CheckReport): Record<string, string> =>
  Object.fromEntries(assumptions.flatMap(({ id, option }) => (option ? [[id, option]] : [])));

/** The share of drawn deployments that settle an assumption, if not all do, and why. */
const SETTLED: Partial<Record<AssumptionId, number>> = {
  'after-sunset': 0, // it is before the sunset
  'name-limits': 0.6, // only 255 shows, and any where the input is checked before the key
  'status-filter': 0.25, // not where any status is accepted
  'order-shipping': 0.4, // not where orders show that they have shipped
  'inventory-missing-entry': 0.6, // not where every animal has an entry
  'negative-quantity': 0.6, // these not where no animal that the check changes has one
  'inventory-status': 0.6,
  'animal-follows-stock': 0.6,
};

test('no verdict is wrong about deployments with each option, and few stay open', async () => {
  const draw = drawing(13);
  const options = ASSUMPTION_IDS.map((id) => optionNames(id));
  const rounds = Math.max(...options.map(({ length }) => length)) * 3;
  const settled = new Map<AssumptionId, number>();
  for (let count = 0; count < rounds; count += 1) {
    const drawn = drawChoices(draw);
    // Each option of each assumption in turn, beside drawn ones.
    const turn = ASSUMPTION_IDS.filter((_, at) => (at + count) % 2 === 0);
    const truth = chooseOptions({
      ...drawn,
      ...Object.fromEntries(
        turn.map((id) => [id, optionNames(id)[Math.floor(count / 2) % optionNames(id).length]]),
      ),
    });
    const stock = draw(2) === 0 ? 1n : 3n;
    const report = await reportOn(truth, { options: { stock } });
    expect(findWrong(report, truth), JSON.stringify(truth)).toEqual([]);
    for (const { id, verdict } of report.assumptions) {
      if (verdict === 'settled') settled.set(id, (settled.get(id) ?? 0) + 1);
    }
  }
  const tooFew = ASSUMPTION_IDS.filter(
    (id) => (settled.get(id) ?? 0) < (SETTLED[id] ?? 1) * rounds,
  );
  expect(tooFew.map((id) => [id, settled.get(id), rounds])).toEqual([]);
}, 180_000);

test('a mock that starts from what was saved answers drawn requests as the deployment does', async () => {
  const draw = drawing(50);
  for (let count = 0; count < 4; count += 1) {
    const truth = { ...drawChoices(draw), 'rate-limit': 'none' } as const;
    const run = await checked(truth);
    const report = createCheckReport(run);
    const saved = createConfig(report, run, 'http://staging.example/v1');
    const open = report.assumptions.filter(({ verdict }) => verdict === 'open');
    const unknown = Object.fromEntries(open.map(({ id }) => [id, truth[id]]));
    expect(saved).toMatchObject({ plain: true, checked: { assumptions: report.assumptions } });
    const start = prepareMock(deploymentStore(), DEPLOYED_AT);
    const deployment = start(truth);
    const mock = start(chooseOptions({ ...saved.assume, ...unknown }));
    for (const request of drawRequests(count, 200)) {
      expect(mock(request), JSON.stringify({ request, truth })).toEqual(deployment(request));
    }
  }
});

/** Assumptions that an effect of a write settles, with the options that have one and that have none. */
const EFFECTS: readonly Partial<Choices>[] = [
  {
    'inventory-on-create': 'entry',
    'animal-follows-stock': 'yes',
    'cancelled-orders': 'removed',
    'cancel-restocks': 'yes',
  },
  {
    'inventory-on-create': 'none',
    'inventory-missing-entry': 'create',
    'animal-follows-stock': 'no',
    'cancelled-orders': 'listed',
    'cancel-restocks': 'no',
  },
];

describe('reads that are behind the writes', () => {
  test.each<Circumstances>([
    { lag: 900 },
    { lag: 9900 },
    { cache: 6000 },
    { cache: 15_000, isCacheTold: true },
  ])('are asked again, so that no verdict is wrong: %j', async (circumstances) => {
    for (const assume of EFFECTS) {
      const report = await reportOn(assume, circumstances);
      expect(settledIn(report)).toMatchObject(assume);
      expect(findWrong(report, assume)).toEqual([]);
      expect(report.holdsForLag).toBe(10);
    }
  });

  test.each<Circumstances>([{ lag: 90_000 }, { cache: 200_000, isCacheTold: true }])(
    'for longer than the check waits leave open what would need them: %j',
    async (circumstances) => {
      for (const assume of EFFECTS) {
        const run = await checked(assume, circumstances);
        const report = createCheckReport(run);
        expect(findWrong(report, assume)).toEqual([]);
        expect(about(report, 'cancel-restocks')).toMatchObject({
          verdict: 'open',
          why: expect.stringMatching(
            /^reads may be behind writes by more than 10 s \(--patience\): GET /,
          ),
        });
        expect(run.notes).not.toEqual([]);
      }
    },
  );
});

test('another client that writes leaves no verdict wrong, and nothing changed', async () => {
  const draw = drawing(1);
  for (const writes of [1, 1, 1, 4]) {
    const truth = { ...drawChoices(draw), 'rate-limit': 'none' } as const;
    const calm = await reportOn(truth);
    const report = await reportOn(truth, { writes, draw, options: { rate: 5 } });
    expect(findWrong(report, truth), JSON.stringify(truth)).toEqual([]);
    const changes = listChanges(readEarlierCheck({ ...calm })!, report, false);
    // At this rate it sends no burst.
    const failing = changes.filter(({ fails, subject }) => fails && subject !== 'rate-limit');
    expect(failing).toEqual([]);
  }
});

test('where another client changes stock, cancelled orders prove nothing, which fails nothing', async () => {
  const none = { 'inventory-on-create': 'none', 'inventory-missing-entry': '404' } as const;
  const truth = {
    ...none,
    'inventory-status': 'follows-quantity',
    'cancel-restocks': 'yes',
  } as const;
  const [before, after] = [
    { quantity: 0, status: 'sold' },
    { quantity: 2, status: 'available' },
  ];
  const reportWith = (now: object, others: object) => {
    let isCancelled = false;
    const change: Change = (reply, { method, path }) => {
      isCancelled ||= method === 'DELETE' && reply.status === 204;
      if (path !== '/inventory' || reply.status !== 200) return reply;
      const edit = each((entry) => {
        const ofOrder = entry.petId === 4 || entry.petId === 7;
        return { ...entry, ...(ofOrder ? (isCancelled ? now : before) : isCancelled && others) };
      });
      return { ...reply, ...edit(reply) };
    };
    return reportOn(truth, { change });
  };
  const calm = await reportWith(after, {});
  expect(settledIn(calm)).toMatchObject({ 'cancel-restocks': 'yes' });
  expect(settledIn(calm)).toMatchObject({ 'inventory-status': 'follows-quantity' });
  const report = await reportWith(before, { quantity: 8 });
  const why = expect.stringContaining('another client');
  for (const id of ['cancel-restocks', 'inventory-status']) {
    expect(about(report, id)).toMatchObject({ verdict: 'open', why });
  }
  const changes = listChanges(readEarlierCheck({ ...calm })!, report, false);
  expect(changes.filter(({ fails }) => fails)).toEqual([]);
});

type Edit = (reply: DeploymentReply) => Partial<DeploymentReply>;

/** Changes replies with this status to requests that match. */
function on(matches: RegExp, status: number, edit: Edit): Change {
  return (reply, { method, path }) =>
    matches.test(`${method} ${path}`) && reply.status === status
      ? { ...reply, ...edit(reply) }
      : reply;
}

type Members = Readonly<Record<string, unknown>>;

const text = (edit: (text: string) => string): Edit => {
  return ({ body }) => ({ body: Buffer.from(edit(body.toString())) });
};
/** Changes each record of a list, or the record of a reply. */
const each = (edit: (record: Members) => Members) =>
  text((body) => {
    const value = parseJson(body);
    return writeJson(
      Array.isArray(value) ? value.map((record) => edit(Object(record))) : edit(Object(value)),
    );
  });
const list = (edit: (items: readonly Members[]) => object) =>
  text((body) => {
    const value = parseJson(body);
    return Array.isArray(value) ? writeJson(edit(value.filter(isObject))) : body;
  });
const header =
  (name: string, value: string): Edit =>
  ({ headers }) => ({
    headers: [...withoutHeaders(headers, new Set([name.toLowerCase()])), name, value],
  });
const empty = (): Partial<DeploymentReply> => ({ body: Buffer.alloc(0) });

const LIST_PETS = /^GET \/pets(?:\?|$)/;
const GET_PET = /^GET \/pets\/\d/;
const INVENTORY = /^GET \/inventory$/;
const ORDERS = /^GET \/store\/orders(?:\?|$)/;
const CANCEL = /^DELETE/;
const ANY = /./;

/** Deployments that each break the document in one way: the reply that is different, and the change. */
// biome-ignore format: a row for each
const BREAKING: Readonly<Record<string, readonly [wrong: string, change: Change]>> = {
  'an animal without a name': ['listPets 200', on(LIST_PETS, 200, each(({ name: _, ...rest }) => rest))],
  'a quantity that is a string': ['listInventory 200', on(INVENTORY, 200, each((record) => ({ ...record, quantity: String(record.quantity) })))],
  'an unknown field': ['getPet 200', on(GET_PET, 200, each((record) => ({ ...record, owner: 'Ann' })))],
  'a ship date that is no date': ['listOrders 200', on(ORDERS, 200, each((record) => ({ ...record, shipDate: 'soon' })))],
  'a 404 without its Error': ['cancelOrder 404', on(CANCEL, 404, empty)],
  'an undocumented error that is text': ['getPet 404', on(GET_PET, 404, text(() => 'not found'))],
  'JSON that is declared as text': ['getPet 200', on(GET_PET, 200, header('Content-Type', 'text/plain'))],
  'a list in an object': ['listInventory 200', on(INVENTORY, 200, list((items) => ({ items })))],
  '200 instead of 204': ['cancelOrder 204', on(CANCEL, 204, () => ({ status: 200 }))],
  'a missing key that is let through': ['listPets 401', on(/limit=7$/, 401, () => ({ status: 200, body: Buffer.from('[]') }))],
  'a shipped order that can be cancelled': ['cancelOrder 409', on(/^DELETE \/store\/orders\/2$/, 409, () => ({ status: 204, headers: [], ...empty() }))],
  'a default limit of 10': ['listPets 200', on(/^GET \/pets$/, 200, list((items) => items.slice(0, 10)))],
  'a limit that is ignored': ['listPets 200', on(/pets\?limit=[12]$/, 200, list(() => Array.from({ length: 60 }, (_, at) => ({ id: at + 1, name: 'Rex', categoryId: 1 }))))],
  'a filter that lets others through': ['listPets 200', on(/status=sold$/, 200, list(() => [{ id: 1, name: 'Rex', categoryId: 1, status: 'pending' }]))],
  'an animal listed twice': ['listPets 200', on(/^GET \/pets\?limit=100$/, 200, list((items) => [items[1], ...items.slice(1)].map(Object)))],
  'another name for one animal than for all': ['getPet 200', on(/^GET \/pets\/1$/, 200, each((record) => ({ ...record, name: `${record.name}!` })))],
  'orders in pages': ['listOrders 200', on(/orders\?limit=1$/, 200, list((items) => items.slice(0, 1)))],
  'a category rounded to a double': ['createPet 201', on(/^POST/, 201, each((record) => ({ ...record, categoryId: BigInt(Number(record.categoryId)) })))],
  'an update that shows another quantity': ['updateInventory 200', on(/^PATCH/, 200, each((record) => ({ ...record, quantity: Number(record.quantity) + 1 })))],
  'another sunset': ['getPet 200', on(GET_PET, 200, header('Sunset', 'Thu, 05 Dec 2029 00:00:00 GMT'))],
  'a body without a required field that is accepted': ['createPet 201', (reply, { body = '' }) => body.includes('name') && !body.includes('categoryId') ? { ...reply, status: 201, body: Buffer.from('{"id":999,"name":"x","categoryId":0}') } : reply],
};

describe('a deployment that breaks the document is reported, and nothing else', () => {
  test.each(Object.entries(BREAKING))('%s', async (_name, [wrong, change]) => {
    const { assumptions, replies } = await reportOn({}, { change });
    const different = replies.filter(({ verdict }) => verdict === 'different');
    expect(different.map(({ operation, status }) => `${operation} ${status}`)).toEqual([wrong]);
    const defaults = chooseOptions();
    expect(assumptions.filter(({ id, option = defaults[id] }) => option !== defaults[id])).toEqual(
      [],
    );
    expect(assumptions.filter(({ verdict }) => verdict === 'none-of-the-options')).toEqual([]);
  });
});

test.each<[AssumptionId, Change]>([
  ['auth-challenge', on(ANY, 401, header('WWW-Authenticate', 'Basic'))],
  [
    'error-codes',
    on(
      ANY,
      404,
      each((record) => ({ ...record, code: 'petNotFound' })),
    ),
  ],
  ['pets-paging', on(/pets\?limit=[12]$/, 200, header('Link', '</v1/pets?page=2>; rel="next"'))],
])(
  'a way of its own for %s is none of the options, and keeps to the document',
  async (id, change) => {
    const report = await reportOn({}, { change });
    expect(about(report, id)?.verdict).not.toBe('settled');
    expect(
      report.assumptions.filter(
        (each) => each.id !== id && findWrong({ assumptions: [each], replies: [] }, {}).length > 0,
      ),
    ).toEqual([]);
    expect(reportsViolation(report)).toBe(false);
  },
);

const failing = (status: number, ...headers: string[]): DeploymentReply => {
  return { status, headers: ['Content-Type', 'text/html', ...headers], body: Buffer.from('<p>No') };
};
const QUOTA = failing(429, 'Retry-After', '86400');

test.each<[string, Change, message: string]>([
  [
    'a used-up quota',
    (reply, { key }) => (key === undefined ? QUOTA : reply),
    '429, Retry-After 86400',
  ],
  ['a page of another site', () => failing(200), 'an HTML page'],
])('%s ends a check that got no answer from the service', async (_, change, message) => {
  await expect(checked({}, { change })).rejects.toThrow(message);
});

test('a quota that is used up in the middle leaves open what an earlier check has settled, which fails', async () => {
  let left = 20;
  const report = await reportOn({}, { change: (reply) => (left-- > 0 ? reply : QUOTA) });
  expect(reportsViolation(report)).toBe(false);
  expect(findShortfall(report)).toBe(10);
  const earlier = readEarlierCheck({ assume: { cors: 'allowed' } })!;
  const open = { subject: 'cors', before: 'allowed', after: 'open' };
  expect(listChanges(earlier, report, false)).toMatchObject([{ ...open, fails: true }]);
  expect(listChanges(earlier, report, true)).toMatchObject([{ ...open, fails: false }]);
});

test('5 % of 503 leave no verdict wrong, and a deployment that is gone ends the check', async () => {
  const draw = drawing(4);
  for (let count = 0; count < 3; count += 1) {
    const truth = { ...drawChoices(draw), 'rate-limit': 'none' } as const;
    const change: Change = (reply) => (draw(20) === 0 ? failing(503) : reply);
    const found = await reportOn(truth, { change }).catch((error: Error) => error);
    if (!(found instanceof Error)) expect(findWrong(found, truth)).toEqual([]);
  }
  let left = 20;
  const dying: Change = (reply) => {
    if (left-- > 0) return reply;
    throw new DeploymentError('no connection');
  };
  await expect(checked({}, { change: dying })).rejects.toThrow('no connection');
});

test('a check sends what it plans, one request at a time, and what changes nothing without --writes', async () => {
  for (const [writes, max] of [
    [false, 200],
    [true, 400],
  ] as const) {
    const sent: DeploymentRequest[] = [];
    const change: Change = (reply, request) => {
      sent.push(request);
      return reply;
    };
    const options = { ...WHOLE_CHECK, writes };
    const report = await reportOn({ 'pets-paging': 'cursor' }, { options, change });
    expect(sent.length).toBeLessThan(max);
    const planned = planCheck(options).reduce((sum, { times }) => sum + times, 0);
    expect(sent.length).toBeLessThanOrEqual(planned);
    if (writes) continue;
    expect(sent.every(({ method }) => SAFE_METHODS.test(method))).toBe(true);
    expect(about(report, 'created-status')?.why).toBe('it needs --writes');
    expect(about(report, 'status-filter')?.verdict).toBe('settled');
    expect(Object.keys(settledIn(report)).length).toBeGreaterThan(15);
  }
});

test('without writes, an empty list for a status never seen settles nothing', async () => {
  const report = await reportOn({ 'status-filter': 'empty' }, { options: { writes: false } });
  const why = expect.stringContaining('it needs --writes');
  expect(about(report, 'status-filter')).toMatchObject({ verdict: 'open', why });
});

test('an order that may not have shipped is spared, and one that is not listed settles nothing', async () => {
  const sent: string[] = [];
  const change: Change = (reply, { method, path }) => {
    sent.push(`${method} ${path}`);
    return reply;
  };
  const options = { cancel: [2n], cancelled: [999n], shipped: [1n] };
  const report = await reportOn({}, { change, options });
  expect(about(report, 'cancel-again')?.verdict).toBe('open');
  expect(sent).not.toContain('DELETE /store/orders/1');
  const verdicts = Object.fromEntries(report.replies.map((reply) => [reply.status, reply]));
  expect(verdicts[204]).toMatchObject({
    verdict: 'not-tried',
    why: expect.stringContaining('DELETE /store/orders/2: 409'),
  });
  const without = await reportOn({}, { options: { ...options, cancel: [] } });
  const why = expect.stringContaining('does not show that order 1 has shipped');
  expect(without.replies.find(({ status }) => status === 409)).toMatchObject({ why });
});

test.each([401, 403, 404, 405])(
  'a key that may not write gets %i, which settles nothing',
  async (status) => {
    const report = await reportOn(
      {},
      {
        change: (reply, { method, key }) =>
          SAFE_METHODS.test(method) || (key === null && status === 401) ? reply : failing(status),
      },
    );
    expect(findWrong(report, {})).toEqual([]);
    const why = expect.stringMatching(`POST /pets.*: ${status}`);
    for (const id of ['created-status', 'inventory-on-create', 'media-type']) {
      expect(about(report, id)).toMatchObject({ verdict: 'open', why });
    }
  },
);

test('a whole check of a deployment with the defaults shows every documented reply', async () => {
  const report = await reportOn({});
  expect(report.replies.map(({ verdict }) => verdict)).toEqual(
    DOCUMENTED_REPLIES.map(() => 'as-documented'),
  );
  expect(listChanges(readEarlierCheck({ ...report })!, report, false)).toEqual([]);
  expect(about(report, 'unknown-pet')?.why).toMatch(/^GET \/pets\/\d+: 404$/);
  expect(readEarlierCheck([])).toBeUndefined();
});
