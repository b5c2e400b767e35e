import { describe, expect, test } from 'vitest';
import {
  ASSUMPTION_IDS,
  type Choices,
  chooseOptions,
  optionNames,
} from '../../src/contract/assumption-table.ts';
import { DOCUMENTED_REPLIES } from '../../src/contract/cases.ts';
import { parseJson, writeJson } from '../../src/contract/json.ts';
import { planCheck } from '../../src/deployment/check/check-plan.ts';
import { listChanges, readEarlierCheck } from '../../src/deployment/check/saved-check.ts';
import {
  type CheckReport,
  checkReport,
  findShortfall,
  isBroken,
} from '../../src/deployment/check/verdicts.ts';
import { DeploymentError, type DeploymentRequest } from '../../src/deployment/deployment-client.ts';
import type { DeploymentReply } from '../../src/deployment/deployment-reply.ts';
import { SAFE } from '../../src/deployment/transport.ts';
import {
  type Change,
  type Circumstances,
  checked,
  checkedUnder,
  findWrong,
  WHOLE_CHECK,
} from '../helpers/checked-deployment.ts';
import { drawChoices, drawing } from '../helpers/drawn-requests.ts';

const about = ({ assumptions }: CheckReport, id: string) => assumptions.find((it) => it.id === id);

const settledIn = ({ assumptions }: CheckReport): Record<string, string> =>
  Object.fromEntries(assumptions.flatMap(({ id, option }) => (option ? [[id, option]] : [])));

const withoutOption = ({ assumptions }: CheckReport) =>
  assumptions.filter((it) => it.verdict === 'none-of-the-options');

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
  const report = checkReport(await checked(OTHERS));
  const { 'after-sunset': _unseen, ...truth } = OTHERS;
  expect(settledIn(report)).toEqual(truth);
  expect(about(report, 'after-sunset')?.verdict).toBe('open');
  expect(report.replies.map(({ verdict }) => verdict)).toEqual(
    DOCUMENTED_REPLIES.map(() => 'as-documented'),
  );
  expect(isBroken(report)).toBe(false);
});

test('without --writes a check sends only what the plan says, and only GET and OPTIONS', async () => {
  const options = { ...WHOLE_CHECK, writes: false };
  const sent: DeploymentRequest[] = [];
  const change: Change = (reply, request) => {
    sent.push(request);
    return reply;
  };
  const seen = await checked({}, { options, change });
  expect(sent.every(({ method }) => SAFE.test(method))).toBe(true);
  const planned = planCheck(options).filter(({ name }) => seen.get(name) !== undefined);
  expect(sent).toHaveLength(planned.reduce((sum, { most }) => sum + most, 0));
  expect(Object.keys(settledIn(checkReport(seen))).length).toBeGreaterThan(15);
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
  const SLOW: readonly Circumstances[] = [
    ...[0, 900, 5000, 7000, 11_000, 14_000].map((lag) => ({ lag })),
    ...[7000, 11_000, 14_000].flatMap((cache) => [{ cache }, { cache, isCacheTold: true }]),
    { cache: 40_000, isCacheTold: true },
  ];

  test.each(SLOW)('are repeated, so that no verdict is wrong: %j', async (circumstances) => {
    for (const assume of EFFECTS) {
      const report = checkReport(await checkedUnder(assume, circumstances));
      expect(settledIn(report)).toMatchObject(assume);
      expect(findWrong(report, assume)).toEqual([]);
      if (circumstances.lag) expect(report.lag).toBeLessThanOrEqual(circumstances.lag / 1000 + 1);
      if (assume['cancel-restocks'] === 'no') expect(report.holdsForLag).toBeGreaterThanOrEqual(15);
    }
  });

  test.each<Circumstances>([{ lag: 60_000 }, { cache: 100_000, isCacheTold: true }])(
    'for longer than the check waits leave open what would need them: %j',
    async (circumstances) => {
      for (const assume of EFFECTS) {
        const report = checkReport(await checkedUnder(assume, circumstances));
        expect(Object.keys(assume).filter((id) => settledIn(report)[id] === 'no')).toEqual([]);
        expect(about(report, 'cancelled-orders')?.verdict).toBe('open');
        expect(about(report, 'cancel-restocks')?.why).toMatch(
          /^a read may not show what was written: GET .*: \d+, again after 30 s|^a cache may have/,
        );
      }
    },
  );
});

describe('another client that writes', () => {
  const BUSY = [0.1, 0.5, 1, 2, 4].flatMap((writes) =>
    [1, 2].map((seed) => ({ writes, seed, truth: EFFECTS[seed % 2] ?? {} })),
  );

  test.each([
    { cache: 14_000, writes: 0.2, seed: 15 },
    { cache: 29_000, writes: 2, seed: 29 },
    { cache: 29_000, writes: 2, seed: 30 },
  ])('leaves no verdict wrong behind a cache that tells no age: %j', async (row) => {
    const draw = drawing(row.seed);
    const truth = { ...drawChoices(draw), 'rate-limit': 'none' } as const;
    const report = checkReport(await checkedUnder(truth, { ...row, draw }));
    expect(findWrong(report, truth)).toEqual([]);
  });

  test.each(BUSY)('leaves no verdict wrong: %j', async ({ truth, writes, seed }) => {
    const draw = drawing(seed);
    const report = checkReport(await checkedUnder(truth, { writes, draw }));
    expect(findWrong(report, truth)).toEqual([]);
    const earlier = readEarlierCheck({ assume: chooseOptions(truth) })!;
    const unseen = new Set([
      'after-sunset',
      'name-limits',
      'inventory-missing-entry',
      'rate-limit',
    ]);
    const failing = listChanges(earlier, report, false).filter((change) => change.fails);
    expect(failing.filter(({ subject }) => !unseen.has(subject))).toEqual([]);
    expect(Object.keys(settledIn(report)).length).toBeGreaterThan(28);
  });
});

/** Checks a deployment whose replies are changed on their way. */
async function checkedBehind(change: Change, assume: Partial<Choices> = {}): Promise<CheckReport> {
  return checkReport(await checked(assume, { change }));
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

test('a used-up quota ends the check, unless it answered before, and then fails against what was settled', async () => {
  const quota = failing(429, 'Retry-After', '86400');
  await expect(
    checkedBehind((reply, { key }) => (key === undefined ? quota : reply)),
  ).rejects.toThrow(
    'no request got an answer from the service: GET /pets?limit=100: 429, Retry-After 86400',
  );
  await expect(checkedBehind(() => failing(200))).rejects.toThrow('an HTML page');
  let left = 36;
  const report = await checkedBehind((reply) => (left-- > 0 ? reply : quota));
  expect(isBroken(report)).toBe(false);
  expect(about(report, 'invalid-input')?.option).toBe('400');
  const why = 'GET /pets?limit=100: 429, Retry-After 86400';
  const earlier = readEarlierCheck({ assume: { 'invalid-input': '400', cors: 'allowed' } })!;
  const unsettled = { subject: 'cors', before: 'allowed', after: 'open', why };
  expect(listChanges(earlier, report, false)).toMatchObject([{ ...unsettled, fails: true }]);
  expect(listChanges(earlier, report, true)).toMatchObject([{ ...unsettled, fails: false }]);
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
  expect(isBroken(report)).toBe(false);
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
  expect(isBroken(report)).toBe(false);
  expect(about(report, 'limit-out-of-range')?.option).toBe('clamp');
});

test('unlike servers behind one address leave open what they answer in two ways', async () => {
  let turn = 0;
  const report = await checkedBehind((reply, { method, path }) => {
    turn += 1;
    const isOther = turn % 2 === 0 && method === 'GET' && path.startsWith('/pets/7');
    return isOther && reply.status === 404 ? failingAs(400, reply) : reply;
  });
  const why = expect.stringContaining('answers a request in two ways: ');
  expect(about(report, 'unknown-pet')).toMatchObject({ verdict: 'open', why });
  expect(about(report, 'id-on-create')).toMatchObject({ verdict: 'settled' });
  expect(about(report, 'created-status')).toMatchObject({ verdict: 'open', why });
  expect(report.unlike).toMatch(/^GET \/pets\/7.*: 40[04], and then 40[04]$/);
});

/** The same Error with another status. */
function failingAs(status: number, reply: DeploymentReply): DeploymentReply {
  const body = reply.body.toString().replace(/"status":\d+/, `"status":${status}`);
  return { ...reply, status, body: Buffer.from(body) };
}

test('an order that --cancelled names and nobody lists does not settle what a second cancellation gets', async () => {
  const options = { cancel: [], cancelled: [999n] };
  const report = checkReport(await checked({}, { options }));
  const why = expect.stringContaining('may not exist');
  expect(about(report, 'cancel-again')).toMatchObject({ verdict: 'open', why });
});

test('an order that --shipped names is not cancelled, unless the deployment shows that it has shipped', async () => {
  const sent: string[] = [];
  const change: Change = (reply, { method, path }) => {
    sent.push(`${method} ${path}`);
    return reply;
  };
  const report = checkReport(
    await checked({}, { change, options: { cancel: [], cancelled: [], shipped: [4n] } }),
  );
  expect(sent).not.toContain('DELETE /store/orders/4');
  const refused = report.replies.find((reply) => reply.status === 409);
  const why = expect.stringContaining('does not show that order 4 has shipped');
  expect(refused).toMatchObject({ verdict: 'not-tried', why });
});

test('a check that settles next to nothing says nothing about a deployment', async () => {
  const report = await checkedBehind((reply, { path, key }) =>
    path === '/inventory' || key === null ? reply : failing(503),
  );
  expect(findShortfall(report)).toBe(10);
  expect(findShortfall(await checkedBehind((reply) => reply))).toBeUndefined();
});

test.each([200, 401, 403, 404, 405])(
  'a key that may not write gets %i, which answers none of the questions',
  async (status) => {
    const report = await checkedBehind((reply, { method, key }) =>
      SAFE.test(method) || (key === null && status === 401) ? reply : failing(status),
    );
    expect(isBroken(report)).toBe(false);
    expect(withoutOption(report)).toEqual([]);
    expect(about(report, 'invalid-input')?.option).toBe('400');
    const why = expect.stringMatching(`POST /pets.*: ${status}`);
    for (const id of ['created-status', 'inventory-on-create', 'negative-quantity', 'media-type']) {
      expect(about(report, id)).toMatchObject({ verdict: 'open', why });
    }
    const created = report.replies.find((it) => it.operation === 'createPet' && it.status === 201);
    expect(created).toMatchObject({ verdict: 'not-tried', why });
  },
);

const JSON_TYPE = ['Content-Type', 'application/json'];
const LISTS_AND_PAGES = /^GET .*(?:cursor.*|orders|limit=100):/;
const FAILING_WRITES = on(/^GET \/store\/orders\/|^POST/, () => failing(503));
const FAILING_LISTS = on(LISTS_AND_PAGES, () => failing(503));
const LONG_WAIT = on(/limit=\d+: 429/, (reply) => ({
  ...reply,
  headers: [...JSON_TYPE, 'Retry-After', '40'],
}));
const PAGES = { 'pets-paging': 'cursor', 'status-filter': 'ignore' } as const;

// biome-ignore format: a row for each
test.each<[string, id: string, why: RegExp, Change, Partial<Choices>?]>([
  ['503', 'unknown-method', /^GET .*: 503$/, FAILING_WRITES],
  ['503', 'created-status', /^POST .*: 503$/, FAILING_WRITES],
  ['503', 'inventory-on-create', /^POST .*: 503$/, FAILING_WRITES],
  ['503 to a request that others build on', 'pets-paging', /: 503/, FAILING_LISTS, PAGES],
  ['503 to a list', 'status-filter', /^GET \/pets\?limit=100: 503$/, FAILING_LISTS, PAGES],
  ['a quota that a burst uses up', 'rate-limit', /^the limit counts more than the burst: 429 with Retry-After 40$/, LONG_WAIT, { 'rate-limit': '10/s' }],
])('what a deployment answers with %s stays open, with that reason: %s', async (...row) => {
  const [, id, why, change, assume] = row;
  const report = await checkedBehind(change, assume);
  expect(isBroken(report)).toBe(false);
  expect(withoutOption(report)).toEqual([]);
  expect(about(report, id)).toMatchObject({ verdict: 'open', why: expect.stringMatching(why) });
});

test('what stands in an envelope settles nothing', async () => {
  const lists = await checkedBehind(on(/orders(?:\?.*)?: 200/, wrapped));
  for (const id of ['order-status-field', 'cancelled-orders', 'cancel-restocks', 'date-format']) {
    expect(about(lists, id)?.why).toBe('GET /store/orders: 200 with an object');
  }
  const records = await checkedBehind(on(/^(?:POST|PATCH).*: 2/, wrapped));
  for (const id of ['created-status', 'inventory-status', 'animal-follows-stock']) {
    expect(about(records, id)?.why).toContain('201 with an object');
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
