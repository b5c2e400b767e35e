import { expect, test } from 'vitest';
import {
  ASSUMPTION_IDS,
  type Choices,
  DOCUMENTED_REPLIES,
} from '../../../src/core/contract/assumption-table.ts';
import { deviationText } from '../../../src/core/contract/check-reply.ts';
import { isObject, parseJson, writeJson } from '../../../src/core/json.ts';
import { withoutHeaders } from '../../../src/core/raw-http.ts';
import { prepareMock } from '../../../src/features/deployment/ask-mock.ts';
import { listChanges, readEarlierCheck } from '../../../src/features/deployment/check/changes.ts';
import { describeOrder } from '../../../src/features/deployment/check/forms.ts';
import { CHECK_NAME, planCheck } from '../../../src/features/deployment/check/probes.ts';
import {
  type CheckReport,
  findShortfall,
  reportsViolation,
} from '../../../src/features/deployment/check/report.ts';
import { createConfig } from '../../../src/features/deployment/check/saved-verdicts.ts';
import {
  DeploymentError,
  type DeploymentRequest,
} from '../../../src/features/deployment/deployment-client.ts';
import type { DeploymentReply } from '../../../src/features/deployment/deployment-reply.ts';
import type { DeploymentFlags } from '../../../src/features/deployment/flags.ts';
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

test('a mock that starts from what was saved answers drawn requests as a drawn deployment does', async () => {
  const truth = { ...drawChoices(drawing(50)), 'rate-limit': 'none' } as const;
  const result = await checked(truth, { options: { stock: 3n } });
  const { report } = result;
  expect(findWrong(report, truth)).toEqual([]);
  expect(Object.keys(settledIn(report)).length).toBeGreaterThan(0.85 * ASSUMPTION_IDS.length);
  const saved = createConfig(result, 'http://staging.example/v1');
  expect(saved).toMatchObject({ checked: { assumptions: report.assumptions } });
  const start = prepareMock(deploymentStore(), DEPLOYED_AT);
  const deployment = start(truth);
  const mock = start({ ...truth, ...saved.assume });
  for (const request of drawRequests(0, 400)) {
    expect(mock(request), JSON.stringify({ request, truth })).toEqual(deployment(request));
  }
});

/** Options that no effect of a write settles, and others that an effect does. */
const HAVING_NONE = {
  'inventory-on-create': 'none',
  'inventory-missing-entry': 'create',
  'animal-follows-stock': 'no',
  'cancelled-orders': 'listed',
  'cancel-restocks': 'no',
} as const;
const HAVING_EFFECT = {
  'inventory-on-create': 'entry',
  'animal-follows-stock': 'yes',
  'cancelled-orders': 'removed',
  'cancel-restocks': 'yes',
} as const;

test.each<[Circumstances, Partial<Choices>]>([
  [{ lag: 9900 }, HAVING_NONE],
  [{ cache: 6000 }, HAVING_EFFECT],
])(
  'reads that are behind are asked again, so that no verdict is wrong: %j',
  async (trouble, assume) => {
    const { report, notes } = await checked(assume, trouble);
    expect(settledIn(report)).toMatchObject(assume);
    expect(findWrong(report, assume)).toEqual([]);
    expect(notes).toEqual([expect.stringContaining('a lag of up to 10 s')]);
  },
);

test.each<[Circumstances, Partial<Choices>]>([
  [{ lag: 90_000 }, HAVING_EFFECT],
  [{ cache: 200_000, isCacheTold: true }, HAVING_EFFECT],
  [{ cache: 200_000, isCacheTold: true }, HAVING_NONE],
])('reads that stay behind leave open what needs them: %j %#', async (trouble, assume) => {
  const { report, notes } = await checked(assume, trouble);
  expect(findWrong(report, assume)).toEqual([]);
  const why = /^reads may be behind writes by more than 10 s \(--patience\): GET /;
  expect(about(report, 'cancel-restocks')).toMatchObject({
    verdict: 'open',
    why: expect.stringMatching(why),
  });
  expect(notes).toContainEqual(expect.stringMatching(why));
});

test('where another client writes, cancelled orders prove nothing, which fails nothing', async () => {
  const truth = {
    'inventory-on-create': 'none',
    'inventory-missing-entry': '404',
    'inventory-status': 'follows-quantity',
    'cancel-restocks': 'yes',
  } as const;
  const before = { quantity: 0, status: 'sold' };
  const after = { quantity: 2, status: 'available' };
  // The other entry is of an order as well, which no flag names.
  const reportWith = (now: object, other: object, isAnimalAdded = false) => {
    let isCancelled = false;
    const change: Change = (reply, { method, path }) => {
      isCancelled ||= method === 'DELETE' && reply.status === 204;
      if (isAnimalAdded && isCancelled && path === '/pets?limit=99') {
        const added = { id: 5_000_000_001n, name: 'Other', categoryId: 1n };
        const listed = parseJson(reply.body.toString());
        return { ...reply, body: Buffer.from(writeJson([listed, added].flat())) };
      }
      if (path !== '/inventory' || reply.status !== 200) return reply;
      const edit = each((entry) => {
        const ofOrder = entry.petId === 4 || entry.petId === 7;
        const isOther = entry.petId === 8 && isCancelled;
        return { ...entry, ...(ofOrder ? (isCancelled ? now : before) : isOther && other) };
      });
      return { ...reply, ...edit(reply) };
    };
    return reportOn(truth, { change });
  };
  const calm = await reportWith(after, {});
  const shown = { 'cancel-restocks': 'yes', 'inventory-status': 'follows-quantity' };
  expect(settledIn(calm)).toMatchObject(shown);
  const why = expect.stringContaining('another client');
  for (const report of [
    await reportWith(before, { quantity: 8 }),
    await reportWith(after, {}, true), // stock as after a cancel may be that of the other client
  ]) {
    for (const id of Object.keys(shown)) {
      expect(about(report, id)).toMatchObject({ verdict: 'open', why });
    }
    const changes = listChanges(readEarlierCheck({ ...calm })!, report, false);
    expect(changes.filter(({ fails }) => fails)).toEqual([]);
  }
});

type Edit = (reply: DeploymentReply) => Partial<DeploymentReply>;

/** Changes replies with this status to requests that match. */
function on(matches: RegExp, status: number, edit: Edit): Change {
  return (reply, { method, path }) =>
    matches.test(`${method} ${path}`) && reply.status === status
      ? { ...reply, ...edit(reply) }
      : reply;
}

const chain = (changes: readonly Change[]): Change => {
  return (reply, request) => changes.reduce((changed, change) => change(changed, request), reply);
};

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

const withoutKey = (status: number, edit: Edit): Change => {
  return (reply, request) => {
    const isRefused = reply.status === 401 && (request.key ?? '') !== 'demo-key';
    return isRefused ? { ...reply, status, ...edit(reply) } : reply;
  };
};

/** What breaks the document, the reply that is different, and how the report names it. */
type Breach = readonly [what: string, reply: string, shown: RegExp, change: Change];

/** Deployments that each break the document in several ways, which do not touch each other. */
// biome-ignore format: a row for each
const BREAKING: readonly (readonly Breach[])[] = [[
  ['a default limit of 10', 'listPets 200', /^GET \/pets: 200: count: expected 20, found 10$/, on(/^GET \/pets$/, 200, list((items) => items.slice(0, 10)))],
  ['a limit that is ignored', 'listPets 200', /^GET \/pets\?limit=[12]: 200: count: expected [12], found all$/, on(/pets\?limit=[12]$/, 200, list(() => Array.from({ length: 60 }, (_, at) => ({ id: at + 1, name: 'Rex', categoryId: 1 }))))],
  ['a filter that lets others through', 'listPets 200', /status=sold: 200: other statuses: expected none, found pending$/, on(/status=sold$/, 200, list((items) => items.map((item) => ({ ...item, status: 'pending' }))))],
  ['a filter that leaves out one animal', 'listPets 200', /^GET \/pets\?limit=100&status=sold: 200: in no filtered list: expected none, found available 4$/, on(/status=available$/, 200, list((items) => items.filter(({ id }) => id !== 4)))],
  ['a created animal that is not listed', 'listPets 200', /^GET \/pets\?limit=99: 200: animal \d+: expected listed, found not listed$/, on(/limit=99$/, 200, list((items) => items.filter(({ id }) => Number(id) <= 24)))],
  ['a stock that is not kept', 'listInventory 200', /^GET \/inventory: 200: stock of \d+: expected 5, found 0$/, on(INVENTORY, 200, each((entry) => Number(entry.petId) > 24 ? { ...entry, quantity: 0 } : entry))],
  ['an animal listed twice', 'listPets 200', /^GET \/pets\?limit=100: 200: repeated: expected none, found one$/, on(/^GET \/pets\?limit=100$/, 200, list((items) => [items[1], ...items.slice(1)].map(Object)))],
  ['a limit that is no integer, and is taken for none', 'listPets 200', /^GET \/pets\?limit=abc: 200: status: expected 400, found 200$/, on(/limit=abc$/, 400, () => ({ status: 200, body: Buffer.from('[]') }))],
  ['a page that ends before its limit', 'listPets 200', /status=\w+: 200: only in a filtered list: expected none, found animal \d+$/, on(/^GET \/pets\?limit=100$/, 200, list((items) => items.filter((_, at) => at !== items.findLastIndex(({ status }) => status === 'available'))))],
  ['orders in pages', 'listOrders 200', /orders\?limit=1: 200: page: expected all, found one$/, on(/orders\?limit=1$/, 200, list((items) => items.slice(0, 1)))],
  ['a missing key that is let through', 'listPets 401', /^GET \/pets\?limit=7 without a key: 200: status: expected 401, found 200$/, on(/limit=7$/, 401, () => ({ status: 200, body: Buffer.from('[]') }))],
], [
  ['an animal without a name', 'listPets 200', /expected .*, found nothing$/, on(LIST_PETS, 200, each(({ name: _, ...rest }) => rest))],
  ['a quantity that is a string', 'listInventory 200', /expected an integer.*found "3"$/, on(INVENTORY, 200, each((record) => ({ ...record, quantity: String(record.quantity) })))],
  ['an unknown field', 'getPet 200', /found "owner"$/, on(GET_PET, 200, each((record) => ({ ...record, owner: 'Ann' })))],
  ['another sunset', 'getPet 200', /Sunset: expected 2030-12-05, found 2029-12-05$/, on(GET_PET, 200, header('Sunset', 'Thu, 05 Dec 2029 00:00:00 GMT'))],
  ['a ship date that is no date', 'listOrders 200', /found "soon"$/, on(ORDERS, 200, each((record) => ({ ...record, shipDate: 'soon' })))],
  ['a 404 without its Error', 'cancelOrder 404', /expected one Error object, found no body$/, on(CANCEL, 404, empty)],
  ['200 instead of 204', 'cancelOrder 204', /expected 204, found 200$/, on(CANCEL, 204, () => ({ status: 200 }))],
  ['a category rounded to a double', 'createPet 201', /"categoryId":9007199254740993}: 201: fields: expected as sent or listed, found categoryId 9007199254740992$/, on(/^POST/, 201, each((record) => ({ ...record, categoryId: BigInt(Number(record.categoryId)) })))],
  ['an update that shows another quantity', 'updateInventory 200', /^PATCH \/inventory\/\d+ {"quantity":\d}: 200: fields: expected as sent or listed, found quantity \d$/, on(/^PATCH/, 200, each((record) => ({ ...record, quantity: Number(record.quantity) + 1 })))],
  ['a body without a required field that is accepted', 'createPet 201', /no category"}: 201: status: expected 400, found 201$/, (reply, { body = '' }) => body.includes('name') && !body.includes('categoryId') ? { ...reply, status: 201, body: Buffer.from('{"id":999,"name":"x","categoryId":0}') } : reply],
], [
  ...['listPets', 'getPet', 'createPet', 'listInventory', 'updateInventory', 'listOrders', 'cancelOrder'].map((operation) =>
    ['a missing key that gets 403', `${operation} 401`, /(?:without a key|with an? \w+ key): 403: status: expected 401, found 403$/, withoutKey(403, each((error) => ({ ...error, status: 403 })))] as const),
  ['a shipped order that can be cancelled', 'cancelOrder 409', /orders\/2: 204: status: expected 409, found 204$/, on(/^DELETE \/store\/orders\/2$/, 409, () => ({ status: 204, headers: [], ...empty() }))],
  ['an undocumented error that is text', 'getPet 404', /expected JSON, found "not found"$/, on(GET_PET, 404, text(() => 'not found'))],
  ['JSON that is declared as text', 'getPet 200', /expected application\/json, found "text\/plain"$/, on(GET_PET, 200, header('Content-Type', 'text/plain'))],
  ['another name for one animal than for all', 'getPet 200', /fields: expected as sent or listed, found name Rex 7!$/, on(/^GET \/pets\/1$/, 200, each((record) => ({ ...record, name: `${record.name}!` })))],
  ['a list in an object', 'listInventory 200', /expected an array of InventoryEntry objects/, on(INVENTORY, 200, list((items) => ({ items })))],
]];

test.each(
  BREAKING.map((breaches) => [breaches.map(([what]) => what).join(', '), breaches] as const),
)(
  'a deployment that breaks the document is reported, and nothing else: %s',
  async (_, breaches) => {
    const changes = new Set(breaches.map(([, , , change]) => change));
    const report = await reportOn({}, { change: chain([...changes]) });
    const different = report.replies.filter(({ verdict }) => verdict === 'different');
    const found = different.flatMap(({ operation, status, differences = [] }) =>
      differences.map((it) => [`${operation} ${status}`, `${it.exchange}: ${deviationText(it)}`]),
    );
    const isOf = ([, reply, shown]: Breach, [name, text = '']: readonly string[]) =>
      reply === name && shown.test(text);
    expect(found.filter((each) => !breaches.some((breach) => isOf(breach, each)))).toEqual([]);
    const missed = breaches.filter((breach) => !found.some((each) => isOf(breach, each)));
    expect(missed.map(([what, reply]) => [what, reply])).toEqual([]);
    expect(findWrong({ ...report, replies: [] }, {})).toEqual([]);
  },
);

test('a filter that is ignored is reported, whatever the check has created meanwhile', async () => {
  // Only animals that the check creates have no status.
  const own = list((items) => items.filter(({ id, status }) => status != null || Number(id) > 24));
  let listed: Partial<DeploymentReply> = {};
  const change: Change = (reply, { method, path }) => {
    if (/^\/pets\?limit=(?:99|100)$/.test(path) && reply.status === 200) listed = own(reply);
    const isIgnored = method === 'GET' && /status=(?:available|pending|sold)$/.test(path);
    return isIgnored ? { ...reply, ...listed } : reply;
  };
  const { replies } = await reportOn({}, { change: chain([change]) });
  const found = replies.find(({ operation, status }) => operation === 'listPets' && status === 200);
  expect(found?.differences).toContainEqual(expect.objectContaining({ at: 'other statuses' }));
});

test('a shipped order that is cancelled once, and then refused as cancelled, is reported', async () => {
  let cancels = 0;
  const change: Change = (reply, { method, path }) => {
    if (method !== 'DELETE' || path !== '/store/orders/2') return reply;
    cancels += 1;
    return cancels === 1 ? { status: 204, headers: [], body: Buffer.alloc(0) } : reply;
  };
  const report = await reportOn({}, { change });
  expect(reportsViolation(report)).toBe(true);
  const found = report.replies.flatMap(({ operation, status, differences = [] }) =>
    differences.map((it) => [`${operation} ${status}`, `${it.exchange}: ${deviationText(it)}`]),
  );
  const text = 'DELETE /store/orders/2: 204: status: expected 409, found 204';
  expect(found).toEqual([['cancelOrder 409', text]]);
  expect(cancels).toBe(1);
});

test('nothing is wrong about a deployment with more animals than a page has', async () => {
  expect(findWrong(await reportOn({}, { animals: 130 }), {})).toEqual([]);
});

test('animals of a check that are listed together by chance tell no order', () => {
  const listed = (own: number) => {
    const names = Array.from({ length: 12 }, (_, at) => (at < own ? CHECK_NAME : `Rex ${at}`));
    const ids = names.map((_, at) => BigInt((7 * at + 3) % 13));
    const records = names.map((name) => ({ name }));
    return describeOrder(records, ids, ids);
  };
  expect([0, 1, 3, 6].map(listed)).toEqual(['shuffled', 'shuffled', undefined, 'by creation']);
});

test('ways of its own are none of the options, and keep to the document', async () => {
  const changes = {
    'auth-challenge': on(ANY, 401, header('WWW-Authenticate', 'Basic')),
    'error-codes': on(
      ANY,
      404,
      each((record) => ({ ...record, code: 'petNotFound' })),
    ),
    'pets-paging': on(/pets\?limit=[12]$/, 200, header('Link', '</v1/pets?page=2>; rel="next"')),
  };
  const report = await reportOn({}, { change: chain(Object.values(changes)) });
  for (const id of Object.keys(changes)) expect(about(report, id)?.verdict).not.toBe('settled');
  const others = report.assumptions.filter(({ id }) => !(id in changes));
  expect(findWrong({ assumptions: others, replies: [] }, {})).toEqual([]);
  expect(reportsViolation(report)).toBe(false);
});

const failing = (status: number, ...headers: string[]): DeploymentReply => {
  return { status, headers: ['Content-Type', 'text/html', ...headers], body: Buffer.from('<p>No') };
};
const QUOTA = failing(429, 'Retry-After', '86400');

test.each<[string, answered: number, Change, message: string]>([
  ['a used-up quota', 0, (it, { key }) => (key ? it : QUOTA), '429, Retry-After 86400'],
  ['a page of another site', 0, () => failing(200), 'an HTML page'],
  [
    'a lost connection',
    20,
    () => {
      throw new DeploymentError('gone');
    },
    'gone',
  ],
])('%s ends a check', async (_, answered, then, message) => {
  let left = answered;
  const change: Change = (reply, request) => (left-- > 0 ? reply : then(reply, request));
  await expect(checked({}, { change })).rejects.toThrow(message);
});

test.each([
  ['09:00:01', { verdict: 'settled', option: '10/s' }],
  ['09:01:00', { verdict: 'open', why: expect.stringContaining(': 429, Retry-After 60') }],
])('a burst is refused until a date: %s', async (until, verdict) => {
  const date = (time: string) => `Sun, 22 Nov 2026 ${time} GMT`;
  const change = on(/limit=6$/, 429, (reply) => {
    return header(
      'Retry-After',
      date(until),
    )({ ...reply, ...header('Date', date('09:00:00'))(reply) });
  });
  const report = await reportOn({ 'rate-limit': '10/s' }, { change, options: { writes: false } });
  expect(about(report, 'rate-limit')).toMatchObject(verdict);
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

/** The two verdicts of a report in which something changes. */
function twoVerdicts(again: object, verdict: 'as-documented' | 'different'): CheckReport {
  return {
    assumptions: [
      { id: 'cancel-again', verdict: 'none-of-the-options', ...again },
      { id: 'cors', verdict: 'settled', option: 'allowed' },
      { id: 'pets-order', verdict: 'open' },
    ],
    replies: [
      { operation: 'getPet', status: 200, verdict },
      { operation: 'getPet', status: 404, verdict: 'not-tried' },
    ],
  };
}

test.each<[from: string, save: (report: CheckReport) => unknown]>([
  ['--json', (report) => report],
  ['--save', (report) => createConfig({ report, clock: DEPLOYED_AT }, 'http://staging.example/v1')],
])('a check compares all verdicts with those of an earlier one from %s', (_, save) => {
  const saved: unknown = JSON.parse(JSON.stringify(save(twoVerdicts({}, 'as-documented'))));
  const report = twoVerdicts({ verdict: 'settled', option: '409' }, 'different');
  expect(listChanges(readEarlierCheck(saved)!, report, false)).toEqual([
    { subject: 'cancel-again', before: 'none of the options', after: '409', fails: true },
    { subject: 'getPet 200', before: 'as documented', after: 'different', fails: true },
  ]);
});

/** What a check with these flags has sent, at most what it plans. Each is made once. */
function checkCounted(options: DeploymentFlags, assume: Partial<Choices> = {}) {
  const name = writeJson([options, assume]);
  const known = counted.get(name) ?? countRequests(options, assume);
  counted.set(name, known);
  return known;
}

const counted = new Map<string, ReturnType<typeof countRequests>>();

async function countRequests(options: DeploymentFlags, assume: Partial<Choices>) {
  const sent: DeploymentRequest[] = [];
  const change: Change = (reply, request) => {
    sent.push(request);
    return reply;
  };
  const flags = { ...WHOLE_CHECK, ...options };
  const result = await checked(assume, { options: flags, change });
  const plan = planCheck(flags);
  expect(sent.length).toBeLessThanOrEqual(plan.reduce((sum, { times }) => sum + times, 0));
  return { ...result, sent };
}

test('a whole check of a deployment with the defaults shows every documented reply', async () => {
  const { report, sent } = await checkCounted({});
  expect(sent.length).toBeLessThan(400);
  expect(report.replies.map(({ verdict }) => verdict)).toEqual(
    DOCUMENTED_REPLIES.map(() => 'as-documented'),
  );
  expect(listChanges(readEarlierCheck({ ...report })!, report, false)).toEqual([]);
  expect(about(report, 'unknown-pet')?.why).toMatch(/^GET \/pets\/\d+: 404$/);
  expect(readEarlierCheck([])).toBeUndefined();
});

test('a reason names an exchange once, with all that it proves', async () => {
  const report = await reportOn({});
  const shown = about(report, 'limit-out-of-range')?.why;
  expect(shown).toMatch(/^GET \/pets\?limit=0: 400, body: application\/json Error(?:;|$)/);
  for (const { why = '' } of report.assumptions) {
    const parts = why.split('; ');
    const repeated = parts.filter((part) => parts.some((other) => other.startsWith(`${part}, `)));
    expect(repeated).toEqual([]);
    expect(new Set(parts).size).toBe(parts.length);
  }
});

test('without --writes a check changes nothing, and an empty list for a status settles nothing', async () => {
  const truth = { 'pets-paging': 'cursor', 'status-filter': 'empty' } as const;
  const { report, sent } = await checkCounted({ writes: false, cancel: [] }, truth);
  expect(sent.length).toBeLessThan(200);
  expect(sent.every(({ method }) => SAFE_METHODS.test(method))).toBe(true);
  expect(about(report, 'created-status')?.why).toBe('it needs --writes');
  const why = expect.stringContaining('it needs --writes');
  expect(about(report, 'status-filter')).toMatchObject({ verdict: 'open', why });
  expect(Object.keys(settledIn(report)).length).toBeGreaterThan(14);
  const usual = await checkCounted({ writes: false, cancel: [] });
  const settled = settledIn(usual.report);
  expect(settled).toHaveProperty('status-filter');
  expect(Object.keys(settled).length).toBeGreaterThan(15);
});

test('an order that may not have shipped is spared, and one that is not listed settles nothing', async () => {
  const options = { cancel: [2n], cancelled: [999n], shipped: [1n] };
  const { report, observations, sent } = await checkCounted(options, { 'pets-paging': 'cursor' });
  expect(sent.length).toBeLessThan(400);
  expect(sent.map(({ path }) => path)).not.toContain('/store/orders/1');
  expect(about(report, 'cancel-again')?.verdict).toBe('open');
  const why = expect.stringContaining('DELETE /store/orders/2: 409');
  const cancelled = report.replies.find(({ status }) => status === 204);
  expect(cancelled).toMatchObject({ verdict: 'not-tried', why });
  const reasons = observations.map(({ runs }) => runs[0]?.reason);
  const reason = expect.stringContaining('does not show that order 1 has shipped');
  expect(reasons).toContainEqual(reason);
});

/** What is still to give, given these flags. */
// biome-ignore format: a row for each
test.each<[DeploymentFlags, id: string, why: string | undefined]>([
  [{ writes: false, cancel: [] }, 'order-shipping', 'it needs --writes and --cancel ID of a pending order past its shipDate'],
  [{ writes: false, cancel: [] }, 'cancelOrder 204', 'it needs --writes and --cancel ID'],
  [{ cancel: [999n] }, 'cancel-restocks', 'order 999 is not listed, so it may not exist'],
  [{ cancel: [999n] }, 'cancelOrder 204', 'order 999 is not listed, so it may not exist'],
  [{ cancel: [1n] }, 'order-shipping', 'it needs --cancel ID of a pending order past its shipDate'],
  [{ cancel: [1n], stock: 4n }, 'cancel-restocks', '--stock 4 is the animal of the order: the check writes its stock'],
])('flags leave open what another would show %#', async (options, name, why) => {
  const { report: { assumptions, replies } } = await checkCounted(options);
  const named = replies.map(({ operation, status, ...it }) => ({ ...it, id: `${operation} ${status}` }));
  expect([...assumptions, ...named].find(({ id }) => id === name)?.why).toBe(why);
});

test('a key that may not write gets 401 or 405, which settles nothing', async () => {
  const change: Change = (reply, { method, key }) => {
    if (SAFE_METHODS.test(method) || key === null) return reply;
    return failing(method === 'POST' ? 401 : 405);
  };
  const report = await reportOn({}, { change });
  expect(findWrong(report, {})).toEqual([]);
  for (const [id, why] of [
    ['created-status', /POST \/pets.*: 401/],
    ['cancel-restocks', /DELETE \/store\/orders.*: 405/],
  ] as const) {
    expect(about(report, id)).toMatchObject({ verdict: 'open', why: expect.stringMatching(why) });
  }
});
