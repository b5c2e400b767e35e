import { describe, expect, test } from 'vitest';
import {
  type AssumptionId,
  type Choices,
  chooseOptions,
} from '../../../src/core/contract/assumption-table.ts';
import { OPERATION_IDS } from '../../../src/core/contract/operations.ts';
import { isObject, parseJson, writeJson } from '../../../src/core/json.ts';
import { withoutHeaders } from '../../../src/core/raw-http.ts';
import {
  createCheckReport,
  reportsViolation,
} from '../../../src/features/deployment/check/verdicts.ts';
import type { DeploymentReply } from '../../../src/features/deployment/deployment-reply.ts';
import { type Change, checked } from '../../helpers/checked-deployment.ts';

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
    const { assumptions, replies } = createCheckReport(await checked(assume, { change }));
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
    const report = createCheckReport(await checked(assume, { change }));
    const unlike = report.assumptions.filter(({ verdict }) => verdict === 'none-of-the-options');
    expect(unlike.map((verdict) => verdict.id)).toEqual([id]);
    expect(reportsViolation(report)).toBe(false);
  },
);
