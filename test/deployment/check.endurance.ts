import { describe, expect, test } from 'vitest';
import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Choices,
  chooseOptions,
  isOption,
  optionNames,
} from '../../src/contract/assumption-table.ts';
import { parseJson, writeJson } from '../../src/contract/json.ts';
import { OPERATION_IDS } from '../../src/contract/operations.ts';
import { isObject } from '../../src/contract/records.ts';
import {
  createConfig,
  listChanges,
  readEarlierCheck,
} from '../../src/deployment/check/check-report.ts';
import { checkReport, isBroken } from '../../src/deployment/check/verdicts.ts';
import type { DeploymentReply } from '../../src/deployment/deployment-reply.ts';
import { SAFE } from '../../src/deployment/transport.ts';
import { withoutHeaders } from '../../src/raw-http.ts';
import {
  type Change,
  type Circumstances,
  checked,
  checkedUnder,
  DEPLOYED_AT,
  deploy,
  findWrong,
} from '../helpers/checked-deployment.ts';
import { drawChoices, drawing, drawRequests } from '../helpers/drawn-requests.ts';

/** What only a clock, or an animal that nobody may create, would show; each with its reason. */
const UNSEEN: Partial<Record<AssumptionId, RegExp>> = {
  'name-limits': /empty name/,
  'after-sunset': /clock is past 2030-12-05/,
  'inventory-missing-entry': /it changes no other/,
};

const PAST_SUNSET = Date.UTC(2031, 0, 5);

function choose(id: AssumptionId, option: string): Partial<Choices> {
  if (!isOption(id, option)) throw new TypeError(`${id} has no option ${option}`);
  return { [id]: option };
}

test('each option of at least 34 assumptions is found, and the rest say what they would need', async () => {
  const unseen = new Map<AssumptionId, string>();
  for (const id of ASSUMPTION_IDS) {
    for (const option of optionNames(id)) {
      const choices = choose(id, option);
      const report = checkReport(await checked(choices));
      expect(findWrong(report, choices), `${id}=${option}`).toEqual([]);
      const verdict = report.assumptions.find((verdict) => verdict.id === id);
      if (verdict?.option !== option) unseen.set(id, verdict?.why ?? '');
    }
  }
  expect([...unseen.keys()]).toEqual(ASSUMPTION_IDS.filter((id) => UNSEEN[id]));
  for (const [id, why] of unseen) expect(why).toMatch(UNSEEN[id]!);
  expect(ASSUMPTION_IDS.length - unseen.size).toBeGreaterThanOrEqual(34);
});

test('no verdict is wrong about 100 deployments with drawn options, before and after the sunset', async () => {
  const draw = drawing(13);
  for (let count = 0; count < 100; count += 1) {
    const truth = drawChoices(draw);
    const now = draw(4) === 0 ? PAST_SUNSET : DEPLOYED_AT;
    const options = { writes: draw(4) > 0 };
    const report = checkReport(await checked(truth, { now, options }));
    expect(findWrong(report, truth), JSON.stringify({ now, options, truth })).toEqual([]);
  }
});

/** A deployment that fails at times, that has a quota, or whose key may not write. */
function drawFailures(draw: (bound: number) => number): Circumstances {
  const [trouble, lag] = [draw(3), draw(2500)];
  let left = draw(80);
  const failure = (status: number) => ({
    status,
    headers: ['Content-Type', 'text/html', 'Retry-After', '86400'],
    body: Buffer.from('<p>No'),
  });
  const instead = ({ method }: { readonly method: string }) => {
    left -= 1;
    if (trouble === 0) return left > 0 && draw(5) === 0 ? failure(502 + draw(3)) : undefined;
    if (trouble === 1) return left < 0 ? failure(429) : undefined;
    return SAFE.test(method) ? undefined : failure(draw(2) === 0 ? 403 : 405);
  };
  return { lag, instead };
}

test('no verdict is wrong about 160 deployments with drawn options that others write to, that lag, fail or that a cache hides', async () => {
  const draw = drawing(19);
  for (let count = 0; count < 160; count += 1) {
    const truth = { ...drawChoices(draw), 'rate-limit': 'none' } as const;
    const slow = 7000 + draw(7001);
    const circumstances: Circumstances = [
      { writes: [0.1, 0.5, 1, 2, 4][draw(5)] ?? 1, draw },
      { lag: slow },
      { cache: slow, isCacheTold: draw(2) === 0 },
      drawFailures(draw),
    ][count % 4]!;
    const seen = await checkedUnder(truth, circumstances).catch((error: Error) => error);
    if (seen instanceof Error) {
      expect(seen.message).toMatch(/no request got an answer/);
      continue;
    }
    const report = checkReport(seen);
    expect(findWrong(report, truth), JSON.stringify({ circumstances, truth })).toEqual([]);
    if (circumstances.instead !== undefined) continue;
    const calm = checkReport(await checkedUnder(truth, {}));
    const changes = listChanges(readEarlierCheck({ ...calm })!, report, false);
    expect(changes.filter(({ fails }) => fails)).toEqual([]);
  }
});

/** The reply without what tells the time of the two machines. */
function shownBy({ status, headers, body }: DeploymentReply): object {
  const pairs = headers.flatMap((name, at) =>
    at % 2 === 0 && name !== 'Date' ? [`${name}: ${headers[at + 1]}`] : [],
  );
  return { status, headers: pairs, body: body.toString('latin1') };
}

test('20 deployments and the mocks that start from what was saved of them give 500 drawn requests the same bytes', async () => {
  const draw = drawing(50);
  let settled = 0;
  for (let count = 0; count < 20; count += 1) {
    const truth = drawChoices(draw);
    const now = draw(4) === 0 ? PAST_SUNSET : DEPLOYED_AT;
    const plain = draw(2) === 0;
    const seen = await checked(truth, { now, plain });
    const report = checkReport(seen);
    const saved = createConfig(report, seen, 'http://staging.example/v1');
    const open = report.assumptions.filter(({ verdict }) => verdict === 'open');
    const unknown = Object.fromEntries(open.map(({ id }) => [id, truth[id]]));
    settled += ASSUMPTION_IDS.length - open.length;
    const deployment = await deploy(truth, { now, plain });
    const clock = Date.parse(saved.clock ?? '');
    const mock = await deploy(
      { ...saved.assume, ...unknown },
      { now: clock, plain: saved.plain === true },
    );
    for (const request of drawRequests(count, 500)) {
      const [theirs, ours] = [
        await deployment.client.send(request),
        await mock.client.send(request),
      ];
      expect(shownBy(ours), JSON.stringify({ request, truth })).toEqual(shownBy(theirs));
    }
    deployment.close();
    mock.close();
  }
  expect(settled).toBeGreaterThan(20 * 33);
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
const rounded = (id: unknown) => BigInt(Number(id));

const LIST_PETS = /^GET \/pets(?:\?|$)/;
const PETS_100 = /^GET \/pets\?limit=100$/;
const GET_PET = /^GET \/pets\/\d/;
const INVENTORY = /^GET \/inventory$/;
const ORDERS = /^GET \/store\/orders(?:\?|$)/;
const CANCEL = /^DELETE/;
const POST = /^POST/;
const ANY = /./;

/**
 * Deployments that each break the document in one way: the replies that a check has to find different,
 * and the change. Some assign ids beyond 2^53.
 */
// biome-ignore format: a row for each
const BREAKING: Readonly<
  Record<string, readonly [wrong: string | readonly string[], change: Change, large?: 'large ids']>
> = {
  'an animal without a name': ['listPets 200', on(LIST_PETS, 200, each(({ name: _, ...rest }) => rest))],
  'a quantity that is a string': ['listInventory 200', on(INVENTORY, 200, each((record) => ({ ...record, quantity: String(record.quantity) })))],
  'a required field that is null': ['listInventory 200', on(INVENTORY, 200, each((record) => ({ ...record, status: null })))],
  'an id that is a string': ['getPet 200', on(GET_PET, 200, each((record) => ({ ...record, id: String(record.id) })))],
  'an unknown field': ['getPet 200', on(GET_PET, 200, each((record) => ({ ...record, owner: 'Ann' })))],
  'a ship date that is no date': ['listOrders 200', on(ORDERS, 200, each((record) => ({ ...record, shipDate: 'soon' })))],
  'an Error without code': [OPERATION_IDS.map((id) => `${id} 401`), on(ANY, 401, each(({ code: _, ...rest }) => rest))],
  'an Error with another status in its body': ['cancelOrder 404', on(CANCEL, 404, each((record) => ({ ...record, status: 400 })))],
  'a 404 without its Error': ['cancelOrder 404', on(CANCEL, 404, empty)],
  'an undocumented error that is text': ['getPet 404', on(GET_PET, 404, text(() => 'not found'))],
  'JSON that is declared as text': ['getPet 200', on(GET_PET, 200, header('Content-Type', 'text/plain'))],
  'JSON that breaks off': ['listOrders 200', on(ORDERS, 200, text((body) => body.slice(0, -9)))],
  'a list in an object': ['listInventory 200', on(INVENTORY, 200, list((items) => ({ items })))],
  '200 instead of 204': ['cancelOrder 204', on(CANCEL, 204, () => ({ status: 200 }))],
  'a cancellation that announces a body': ['cancelOrder 204', on(CANCEL, 204, header('Content-Length', '11'))],
  '403 for a missing key': ['listOrders 401', on(ORDERS, 401, () => ({ status: 403 }))],
  'a missing key that is let through': ['listInventory 401', on(INVENTORY, 401, () => ({ status: 200, body: Buffer.from('[]') }))],
  'a shipped order that can be cancelled': ['cancelOrder 409', on(/^DELETE \/store\/orders\/2$/, 409, () => ({ status: 204, headers: [], ...empty() }))],
  'a default limit of 10': ['listPets 200', on(/^GET \/pets$/, 200, list((items) => items.slice(0, 10)))],
  'a limit that lets one more through': ['listPets 200', on(/limit=2$/, 200, list((items) => [...items, { ...items[1], id: 3 }]))],
  'a filter that lets others through': ['listPets 200', on(/status=sold$/, 200, list(() => [{ id: 1, name: 'Rex', categoryId: 1, status: 'pending' }]))],
  'a filter that leaves one out': ['listPets 200', on(/status=pending$/, 200, list((items) => items.slice(1)))],
  'an animal listed twice': ['listPets 200', on(PETS_100, 200, list((items) => [items[1], ...items.slice(1)]))],
  'another name for one animal than for all': ['getPet 200', on(/^GET \/pets\/1$/, 200, each((record) => ({ ...record, name: `${record.name}!` })))],
  'orders in pages': ['listOrders 200', on(/orders\?limit=1$/, 200, list((items) => items.slice(0, 1)))],
  'a category rounded to a double': ['createPet 201', on(POST, 201, each((record) => ({ ...record, categoryId: rounded(record.categoryId) })))],
  'assigned ids rounded to a double': ['getPet 200', on(POST, 201, each((record) => ({ ...record, id: rounded(record.id) }))), 'large ids'],
  'ids rounded to a double in the list': ['listPets 200', on(LIST_PETS, 200, each((record) => ({ ...record, id: rounded(record.id) }))), 'large ids'],
  'stock that is not kept': ['listInventory 200', on(INVENTORY, 200, each((entry) => (Number(entry.petId) > 64 ? { ...entry, quantity: 0 } : entry)))],
  'an update that shows another quantity': ['updateInventory 200', on(/^PATCH/, 200, each((record) => ({ ...record, quantity: Number(record.quantity) + 1 })))],
  'another sunset': ['getPet 200', on(GET_PET, 200, header('Sunset', 'Thu, 05 Dec 2029 00:00:00 GMT'))],
  'a created animal that is not listed': ['listPets 200', on(PETS_100, 200, list((items) => items.filter(({ id }) => Number(id) <= 64)))],
  'a body without a required field that is accepted': ['createPet 201', (reply, { body = '' }) => body.includes('name') && !body.includes('categoryId') ? { ...reply, status: 201, body: Buffer.from('{"id":999,"name":"x","categoryId":0}') } : reply],
};

/**
 * Deployments that keep to the document, but not to any option of one assumption: their options, and
 * the change.
 */
const OTHERWISE: Partial<Record<AssumptionId, readonly [Partial<Choices>, Change]>> = {
  'auth-challenge': [{}, on(ORDERS, 401, header('WWW-Authenticate', 'Basic'))],
  'rate-limit': [{ 'rate-limit': '10/s' }, on(ANY, 429, header('Retry-After', 'soon'))],
};

describe('a deployment that breaks the document is reported, and nothing else', () => {
  test.each(Object.entries(BREAKING))('%s', async (_name, [wrong, change, large]) => {
    const assume = { 'assigned-ids': large ? 'int64' : 'next' } as const;
    const { assumptions, replies } = checkReport(await checked(assume, { change }));
    const different = replies.filter(({ verdict }) => verdict === 'different');
    expect(different.map(({ operation, status }) => `${operation} ${status}`)).toEqual(
      [wrong].flat(),
    );
    const defaults = chooseOptions(assume);
    expect(assumptions.filter(({ id, option = defaults[id] }) => option !== defaults[id])).toEqual(
      [],
    );
    expect(assumptions.filter(({ verdict }) => verdict === 'none-of-the-options')).toEqual([]);
  });
});

test.each(Object.entries(OTHERWISE))(
  'a deployment with a way of its own for %s has none of the options, and keeps to the document',
  async (id, [assume, change]) => {
    const report = checkReport(await checked(assume, { change }));
    const unlike = report.assumptions.filter(({ verdict }) => verdict === 'none-of-the-options');
    expect(unlike.map((verdict) => verdict.id)).toEqual([id]);
    expect(isBroken(report)).toBe(false);
  },
);
