import { describe, expect, test } from 'vitest';
import {
  ASSUMPTION_IDS,
  type Choices,
  chooseOptions,
  optionNames,
} from '../../../src/core/contract/assumption-table.ts';
import { DOCUMENTED_REPLIES } from '../../../src/core/contract/possible-replies.ts';
import { parseJson, writeJson } from '../../../src/core/json.ts';
import {
  type CheckReport,
  listChanges,
  readEarlierCheck,
} from '../../../src/features/deployment/check/check-report.ts';
import { planCheck } from '../../../src/features/deployment/check/questions/questions.ts';
import {
  createCheckReport,
  findShortfall,
  reportsViolation,
} from '../../../src/features/deployment/check/verdicts.ts';
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
  checkedUnder,
  findWrong,
  WHOLE_CHECK,
} from '../../helpers/checked-deployment.ts';
import { drawing } from '../../helpers/drawn-requests.ts';

const about = ({ assumptions }: CheckReport, id: string) =>
  assumptions.find((verdict) => verdict.id === id);

const settledIn = ({ assumptions }: CheckReport): Record<string, string> =>
  Object.fromEntries(assumptions.flatMap(({ id, option }) => (option ? [[id, option]] : [])));

const withoutOption = ({ assumptions }: CheckReport) =>
  assumptions.filter(({ verdict }) => verdict === 'none-of-the-options');

/** The last option of each assumption, except where it hides what others do. */
const OTHERS: Choices = chooseOptions({
  ...Object.fromEntries(ASSUMPTION_IDS.map((id) => [id, optionNames(id).at(-1)])),
  'status-filter': 'empty',
  'animal-status-values': 'seen',
  'name-limits': '255',
  'body-limit': '10kb',
  'pets-order': 'newest',
  'after-sunset': 'unchanged',
});

test('a check finds the options of a deployment and leaves open what it cannot see', async () => {
  const report = createCheckReport(await checked(OTHERS));
  const { 'after-sunset': _unseen, ...truth } = OTHERS;
  expect(settledIn(report)).toEqual(truth);
  expect(about(report, 'after-sunset')?.verdict).toBe('open');
  expect(report.replies.map(({ verdict }) => verdict)).toEqual(
    DOCUMENTED_REPLIES.map(() => 'as-documented'),
  );
  expect(reportsViolation(report)).toBe(false);
  expect(findShortfall(report)).toBeUndefined();
  expect(listChanges(readEarlierCheck({ ...report })!, report, false)).toEqual([]);
  expect(readEarlierCheck([])).toBeUndefined();
});

test('without --writes a check sends only what the plan says, and only GET and OPTIONS', async () => {
  const options = { ...WHOLE_CHECK, writes: false };
  const sent: DeploymentRequest[] = [];
  const change: Change = (reply, request) => {
    sent.push(request);
    return reply;
  };
  const seen = await checked({}, { options, change });
  expect(sent.every(({ method }) => SAFE_METHODS.test(method))).toBe(true);
  const planned = planCheck(options).filter(({ name }) => seen.get(name) !== undefined);
  expect(sent).toHaveLength(planned.reduce((sum, { times }) => sum + times, 0));
  expect(Object.keys(settledIn(createCheckReport(seen))).length).toBeGreaterThan(15);
});

/** The assumptions that an effect of a write settles, with the options that have one and that have none. */
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
    ...[0, 900, 5000, 11_000, 14_000].map((lag) => ({ lag })),
    { cache: 7000 },
    { cache: 14_000 },
    { cache: 14_000, isCacheTold: true },
  ])('are repeated, so that no verdict is wrong: %j', async (circumstances) => {
    for (const assume of EFFECTS) {
      const report = createCheckReport(await checkedUnder(assume, circumstances));
      expect(settledIn(report)).toMatchObject(assume);
      expect(findWrong(report, assume)).toEqual([]);
      if (assume['cancel-restocks'] === 'no') expect(report.holdsForLag).toBeGreaterThanOrEqual(15);
    }
  });

  test.each<Circumstances>([{ lag: 60_000 }, { cache: 100_000, isCacheTold: true }])(
    'for longer than the check waits leave open what would need them: %j',
    async (circumstances) => {
      for (const assume of EFFECTS) {
        const report = createCheckReport(await checkedUnder(assume, circumstances));
        expect(Object.keys(assume).filter((id) => settledIn(report)[id] === 'no')).toEqual([]);
        expect(about(report, 'cancelled-orders')?.verdict).toBe('open');
        expect(about(report, 'cancel-restocks')?.why).toMatch(
          /^a read may not show what was written: GET .*: \d+, again after 30 s/,
        );
      }
    },
  );
});

test('a list from a cache settles nothing by what it does not show', async () => {
  const circumstances = { cache: 100_000, cached: /orders/, isCacheTold: true };
  const report = createCheckReport(await checkedUnder(EFFECTS[0]!, circumstances));
  expect(about(report, 'cancelled-orders')?.verdict).toBe('open');
  expect(about(report, 'cancel-restocks')?.option).toBe('yes');
});

test.each([0.1, 1, 4])(
  'another client that writes %d times a second leaves no verdict wrong',
  async (writes) => {
    const unseen = ['after-sunset', 'name-limits', 'inventory-missing-entry', 'rate-limit'];
    for (const truth of EFFECTS) {
      const report = createCheckReport(await checkedUnder(truth, { writes, draw: drawing(1) }));
      expect(findWrong(report, truth)).toEqual([]);
      const earlier = readEarlierCheck({ assume: chooseOptions(truth) })!;
      const failing = listChanges(earlier, report, false).filter(({ fails }) => fails);
      expect(failing.filter(({ subject }) => !unseen.includes(subject))).toEqual([]);
      expect(Object.keys(settledIn(report)).length).toBeGreaterThan(28);
    }
  },
);

/** Checks a deployment whose replies are changed on their way. */
async function checkedBehind(change: Change, assume: Partial<Choices> = {}): Promise<CheckReport> {
  return createCheckReport(await checked(assume, { change }));
}

function failing(status: number, ...headers: string[]): DeploymentReply {
  return { status, headers: ['Content-Type', 'text/html', ...headers], body: Buffer.from('<p>No') };
}

/** Changes replies whose request and status match, such as `GET /pets: 200`. */
const on = (matches: RegExp, change: (reply: DeploymentReply) => DeploymentReply): Change => {
  return (reply, { method, path }) =>
    matches.test(`${method} ${path}: ${reply.status}`) ? change(reply) : reply;
};

const wrapped = (reply: DeploymentReply) => ({
  ...reply,
  body: Buffer.from(`{"items":${reply.body.length > 0 ? reply.body : 1}}`),
});

const QUOTA = failing(429, 'Retry-After', '86400');
const OUT_OF_QUOTA = 'GET /pets?limit=100: 429, Retry-After 86400';

test.each<[string, Change, message: string]>([
  ['a used-up quota', (reply, { key }) => (key === undefined ? QUOTA : reply), OUT_OF_QUOTA],
  ['a page of another site', () => failing(200), 'an HTML page'],
])('%s ends a check that got no answer from the service', async (_, change, message) => {
  const checking = checkedBehind(change);
  await expect(checking).rejects.toThrow('no request got an answer from the service: ');
  await expect(checking).rejects.toThrow(message);
});

test('a quota that is used up in the middle leaves open what an earlier check has settled, which fails', async () => {
  let left = 20;
  const report = await checkedBehind((reply) => (left-- > 0 ? reply : QUOTA));
  expect(reportsViolation(report)).toBe(false);
  expect(about(report, 'invalid-input')?.option).toBe('400');
  const earlier = readEarlierCheck({ assume: { 'invalid-input': '400', cors: 'allowed' } })!;
  const unsettled = { subject: 'cors', before: 'allowed', after: 'open', why: OUT_OF_QUOTA };
  expect(listChanges(earlier, report, false)).toEqual([{ ...unsettled, fails: true }]);
  expect(listChanges(earlier, report, true)).toEqual([{ ...unsettled, fails: false }]);
});

test('a deployment that is gone in the middle ends the check, one that answers some requests does not', async () => {
  const gone = new DeploymentError('no connection');
  let left = 20;
  const dying = (reply: DeploymentReply): DeploymentReply => {
    if (left-- > 0) return reply;
    throw gone;
  };
  await expect(checkedBehind(dying)).rejects.toThrow('no connection');
  const report = await checkedBehind((reply, { method }) => {
    if (method === 'POST') throw gone;
    return reply;
  });
  expect(about(report, 'created-status')).toMatchObject({ verdict: 'open', why: 'no connection' });
  expect(reportsViolation(report)).toBe(false);
});

test('a page that is cut and leads to the next one keeps to the document', async () => {
  const MAX = 20;
  const report = await checkedBehind(
    on(/^GET \/pets\?limit=\d{2,}.*: 200/, (reply) => {
      const records = parseJson(reply.body.toString());
      if (!Array.isArray(records) || records.length <= MAX) return reply;
      const link = ['Link', '</v1/pets?cursor=abc>; rel="next"'];
      const body = Buffer.from(writeJson(records.slice(0, MAX)));
      return { ...reply, headers: [...reply.headers, ...link], body };
    }),
    { 'limit-out-of-range': 'clamp' },
  );
  expect(reportsViolation(report)).toBe(false);
  expect(about(report, 'limit-out-of-range')?.option).toBe('clamp');
});

test('orders that cannot answer a question settle nothing, and one that may not have shipped is spared', async () => {
  const sent: string[] = [];
  const change: Change = (reply, { method, path }) => {
    sent.push(`${method} ${path}`);
    return reply;
  };
  const options = { cancel: [2n], cancelled: [999n], shipped: [4n] };
  const report = createCheckReport(await checked({}, { change, options }));
  const unlisted = { verdict: 'open', why: expect.stringContaining('may not exist') };
  expect(about(report, 'cancel-again')).toMatchObject(unlisted);
  expect(sent).not.toContain('DELETE /store/orders/4');
  const verdicts = Object.fromEntries(report.replies.map((reply) => [reply.status, reply]));
  const why = expect.stringContaining('does not show that order 4 has shipped');
  expect(verdicts[409]).toMatchObject({ verdict: 'as-documented' });
  expect(verdicts[204]).toMatchObject({
    verdict: 'not-tried',
    why: 'DELETE /store/orders/2: 409',
  });
  const without = createCheckReport(await checked({}, { options: { ...options, cancel: [] } }));
  expect(without.replies.find(({ status }) => status === 409)).toMatchObject({ why });
});

test('a check that settles next to nothing says nothing about a deployment', async () => {
  const report = await checkedBehind((reply, { path, key }) =>
    path === '/inventory' || key === null ? reply : failing(503),
  );
  expect(findShortfall(report)).toBe(10);
});

test.each([200, 401, 403, 404, 405])(
  'a key that may not write gets %i, which answers none of the questions',
  async (status) => {
    const report = await checkedBehind((reply, { method, key }) =>
      SAFE_METHODS.test(method) || (key === null && status === 401) ? reply : failing(status),
    );
    expect(reportsViolation(report)).toBe(false);
    expect(withoutOption(report)).toEqual([]);
    expect(about(report, 'invalid-input')?.option).toBe('400');
    const why = expect.stringMatching(`POST /pets.*: ${status}`);
    for (const id of ['created-status', 'inventory-on-create', 'negative-quantity', 'media-type']) {
      expect(about(report, id)).toMatchObject({ verdict: 'open', why });
    }
    const created = report.replies.find(({ status: of }) => of === 201);
    expect(created).toMatchObject({ verdict: 'not-tried', why });
  },
);

/** Another client changes the stock of old animals once an order is cancelled. */
function createBusyStock(): Change {
  let isCancelled = false;
  return (reply, { method, path }) => {
    isCancelled ||= method === 'DELETE';
    if (path !== '/inventory' || !isCancelled) return reply;
    const text = reply.body.toString().replaceAll(/("petId":\d,"quantity":)/g, '$19');
    return { ...reply, body: Buffer.from(text) };
  };
}

const JSON_TYPE = ['Content-Type', 'application/json'];
const LISTS_AND_PAGES = /^GET .*(?:cursor.*|orders|limit=100):/;
const FAILING_WRITES = on(/^GET \/store\/orders\/|^POST/, () => failing(503));
const FAILING_LISTS = on(LISTS_AND_PAGES, () => failing(503));
const LONG_WAIT = on(/limit=\d+: 429/, (reply) => ({
  ...reply,
  headers: [...JSON_TYPE, 'Retry-After', '40'],
}));
const WRAPPED_LISTS = on(/orders(?:\?.*)?: 200/, wrapped);
const WRAPPED_RECORDS = on(/^(?:POST|PATCH).*: 2/, wrapped);
const EMPTY = on(/^GET \/pets(?:\?.*)?: 200/, (reply) => ({ ...reply, body: Buffer.from('[]') }));
const PAGES = { 'pets-paging': 'cursor', 'status-filter': 'ignore' } as const;

// biome-ignore format: a row for each
test.each<[string, ids: readonly string[], why: RegExp, Change, Partial<Choices>?]>([
  ['503', ['unknown-method'], /^GET .*: 503$/, FAILING_WRITES],
  ['503', ['created-status', 'inventory-on-create'], /^POST .*: 503$/, FAILING_WRITES],
  ['503 to a request that others build on', ['pets-paging'], /: 503/, FAILING_LISTS, PAGES],
  ['503 to a list', ['status-filter'], /^GET \/pets\?limit=100: 503$/, FAILING_LISTS, PAGES],
  ['a quota that a burst uses up', ['rate-limit'], /^the limit counts more than the burst: 429 with Retry-After 40$/, LONG_WAIT, { 'rate-limit': '10/s' }],
  ['no animals', ['limit-out-of-range'], /^clamp and default would both answer so: /, EMPTY, { 'limit-out-of-range': 'clamp' }],
  ['stock that others change', ['cancel-restocks'], /^another client changes the stock$/, createBusyStock()],
  ['lists in an envelope', ['order-status-field', 'cancelled-orders', 'cancel-restocks', 'date-format'], /^GET \/store\/orders: 200 with an object$/, WRAPPED_LISTS],
  ['records in an envelope', ['created-status', 'inventory-status', 'animal-follows-stock'], /201 with an object/, WRAPPED_RECORDS],
])('what a deployment answers with %s stays open, with that reason: %j', async (...row) => {
  const [, ids, why, change, assume] = row;
  const report = await checkedBehind(change, assume);
  expect(withoutOption(report)).toEqual([]);
  for (const id of ids) {
    expect(about(report, id)).toMatchObject({ verdict: 'open', why: expect.stringMatching(why) });
  }
});

test('a list that cannot be read is one difference, and none of a rule about its records', async () => {
  const { replies } = await checkedBehind(on(/^GET \/(?:inventory|pets(?:\?.*)?): 200/, wrapped));
  const different = replies.filter(({ verdict }) => verdict === 'different');
  expect(different.map(({ operation, differences }) => [operation, differences?.length])).toEqual([
    ['listPets', 1],
    ['listInventory', 1],
  ]);
});
