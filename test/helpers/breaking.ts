import type { AssumptionId, Choices } from '../../src/contract/assumption-table.ts';
import { parseJson, writeJson } from '../../src/contract/json.ts';
import { isObject } from '../../src/contract/records.ts';
import type { Sender } from '../../src/deployment/check/run-check.ts';
import type { DeploymentRequest } from '../../src/deployment/deployment-client.ts';
import type { DeploymentReply } from '../../src/deployment/deployment-reply.ts';

type Change = (reply: DeploymentReply, request: DeploymentRequest) => DeploymentReply;

/** A deployment that breaks the document in one way. */
export interface Breaking {
  /** Whether the ids that it assigns are beyond 2^53. */
  readonly large?: true;
  readonly change: Change;
  /** The replies that a check has to find different, and no others. */
  readonly told: readonly string[];
  /** Where among their differences. */
  readonly where: string;
}

/** A client whose deployment changes some of its replies. */
export function breaking(client: Sender, change: Change): Sender {
  return {
    rest: (milliseconds) => client.rest(milliseconds),
    send: async (request, patient) => change(await client.send(request, patient), request),
  };
}

type Body = Record<string, unknown>;

/** Changes the JSON of replies with this status to requests that match. */
function body(
  matches: RegExp,
  status: number,
  change: (json: unknown, request: DeploymentRequest) => unknown,
): Change {
  return (reply, request) => {
    if (!matches.test(`${request.method} ${request.path}`) || reply.status !== status) return reply;
    const changed = change(parseJson(reply.body.toString()), request);
    return { ...reply, body: Buffer.from(typeof changed === 'object' ? writeJson(changed!) : '') };
  };
}

/** Changes each record of a list, or the record of a reply. */
const records = (matches: RegExp, status: number, change: (record: Body) => object): Change =>
  body(matches, status, (json) =>
    Array.isArray(json) ? json.filter(isObject).map(change) : isObject(json) ? change(json) : json,
  );

const list = (matches: RegExp, change: (items: unknown[], request: DeploymentRequest) => unknown) =>
  body(matches, 200, (json, request) => (Array.isArray(json) ? change(json, request) : json));

function instead(matches: RegExp, status: number, reply: Partial<DeploymentReply>): Change {
  return (original, { method, path }) =>
    matches.test(`${method} ${path}`) && original.status === status
      ? { ...original, ...reply }
      : original;
}

function withHeader(matches: RegExp, status: number, name: string, value: string): Change {
  return (reply, { method, path }) => {
    if (!matches.test(`${method} ${path}`) || reply.status !== status) return reply;
    const kept = reply.headers.flatMap((it, at) => {
      const own = reply.headers[at - (at % 2)]?.toLowerCase();
      return own === name.toLowerCase() ? [] : [it];
    });
    return { ...reply, headers: [...kept, name, value] };
  };
}

const rounded = (id: unknown) => BigInt(Number(id));

const without = (name: string) => (record: Body) => {
  const { [name]: _left, ...rest } = record;
  return rest;
};

const LIST_PETS = /^GET \/pets(?:\?|$)/;
const GET_PET = /^GET \/pets\/\d/;
const INVENTORY = /^GET \/inventory$/;
const ORDERS = /^GET \/store\/orders(?:\?|$)/;
const CANCEL = /^DELETE/;
const ANY = /./;

const UNAUTHORIZED = [
  'listPets 401',
  'createPet 401',
  'getPet 401',
  'listInventory 401',
  'updateInventory 401',
  'listOrders 401',
  'cancelOrder 401',
];

/** Deployments that each break the document in one way. */
export const BREAKING: Readonly<Record<string, Breaking>> = {
  'an animal without a name': {
    change: records(LIST_PETS, 200, without('name')),
    told: ['listPets 200'],
    where: 'field',
  },
  'a quantity that is a string': {
    change: records(INVENTORY, 200, (it) => ({ ...it, quantity: String(it.quantity) })),
    told: ['listInventory 200'],
    where: 'type',
  },
  'a quantity with a fraction': {
    change: records(/^PATCH/, 200, (it) => ({ ...it, quantity: Number(it.quantity) + 0.5 })),
    told: ['updateInventory 200'],
    where: 'type',
  },
  'a required field that is null': {
    change: records(INVENTORY, 200, (it) => ({ ...it, status: null })),
    told: ['listInventory 200'],
    where: 'field',
  },
  'an id that is a string': {
    change: records(GET_PET, 200, (it) => ({ ...it, id: String(it.id) })),
    told: ['getPet 200'],
    where: 'type',
  },
  '200 instead of 204': {
    change: instead(CANCEL, 204, { status: 200 }),
    told: ['cancelOrder 204'],
    where: 'status',
  },
  '200 instead of 201': {
    change: instead(/^POST/, 201, { status: 200 }),
    told: ['createPet 201'],
    where: 'status',
  },
  '403 for a missing key': {
    change: instead(/^GET \/store\/orders$/, 401, { status: 403 }),
    told: ['listOrders 401'],
    where: 'status',
  },
  'a missing key that is let through': {
    change: (reply, { method, path, key }) =>
      method === 'GET' && path === '/inventory' && key === null
        ? { ...reply, status: 200, body: Buffer.from('[]') }
        : reply,
    told: ['listInventory 401'],
    where: 'status',
  },
  'an Error without code': {
    change: records(ANY, 401, without('code')),
    told: UNAUTHORIZED,
    where: 'field',
  },
  'an Error with another status in its body': {
    change: records(CANCEL, 404, (it) => ({ ...it, status: 400 })),
    told: ['cancelOrder 404'],
    where: 'value',
  },
  'an error that is HTML': {
    change: (reply, request) =>
      withHeader(
        CANCEL,
        404,
        'Content-Type',
        'text/html',
      )(instead(CANCEL, 404, { body: Buffer.from('<h1>Not Found</h1>') })(reply, request), request),
    told: ['cancelOrder 404'],
    where: 'header',
  },
  'a 404 without its Error': {
    change: instead(CANCEL, 404, { body: Buffer.alloc(0) }),
    told: ['cancelOrder 404'],
    where: 'body',
  },
  'an undocumented error that is text': {
    change: instead(GET_PET, 404, { body: Buffer.from('not found') }),
    told: ['getPet 404'],
    where: 'body',
  },
  'JSON that is declared as text': {
    change: withHeader(GET_PET, 200, 'Content-Type', 'text/plain'),
    told: ['getPet 200'],
    where: 'header',
  },
  'JSON that breaks off': {
    change: (reply, { method, path }) =>
      method === 'GET' && path === '/store/orders' && reply.status === 200
        ? { ...reply, body: reply.body.subarray(0, -9) }
        : reply,
    told: ['listOrders 200'],
    where: 'body',
  },
  'a list in an object': {
    change: list(INVENTORY, (items) => ({ items })),
    told: ['listInventory 200'],
    where: 'type',
  },
  'a default limit of 10': {
    change: list(/^GET \/pets$/, (items) => items.slice(0, 10)),
    told: ['listPets 200'],
    where: 'value',
  },
  'a limit that lets one more through': {
    change: list(/^GET \/pets\?limit=2$/, (items) => [...items, { ...Object(items[1]), id: 3 }]),
    told: ['listPets 200'],
    where: 'value',
  },
  'a limit of at most 50': {
    change: list(LIST_PETS, (items) => items.slice(0, 50)),
    told: ['listPets 200'],
    where: 'value',
  },
  'a filter that lets others through': {
    change: list(/status=sold$/, (items) => [
      ...items,
      { id: 1, name: 'Rex', categoryId: 1, status: 'available' },
    ]),
    told: ['listPets 200'],
    where: 'value',
  },
  'a filter that leaves one out': {
    change: list(/status=pending$/, (items) => items.slice(1)),
    told: ['listPets 200'],
    where: 'value',
  },
  'an animal listed twice': {
    change: list(/^GET \/pets\?limit=100$/, (items) => [items[1], ...items.slice(1)]),
    told: ['listPets 200'],
    where: 'value',
  },
  'another name for one animal than for all': {
    change: records(/^GET \/pets\/1$/, 200, (it) => ({ ...it, name: `${it.name}!` })),
    told: ['getPet 200'],
    where: 'value',
  },
  'an unknown field': {
    change: records(GET_PET, 200, (it) => ({ ...it, owner: 'Ann' })),
    told: ['getPet 200'],
    where: 'field',
  },
  'a category rounded to a double': {
    change: records(/^POST/, 201, (it) => ({ ...it, categoryId: rounded(it.categoryId) })),
    told: ['createPet 201'],
    where: 'value',
  },
  'assigned ids rounded to a double': {
    large: true,
    change: records(/^POST/, 201, (it) => ({ ...it, id: rounded(it.id) })),
    told: ['getPet 200'],
    where: 'status',
  },
  'ids rounded to a double in the list': {
    large: true,
    change: records(LIST_PETS, 200, (it) => ({ ...it, id: rounded(it.id) })),
    told: ['listPets 200'],
    where: 'value',
  },
  'ids rounded to a double in the inventory': {
    large: true,
    change: records(INVENTORY, 200, (it) => ({ ...it, petId: rounded(it.petId) })),
    told: ['listInventory 200'],
    where: 'value',
  },
  'orders in pages': {
    change: list(/^GET \/store\/orders\?limit=1$/, (items) => items.slice(0, 1)),
    told: ['listOrders 200'],
    where: 'value',
  },
  'a ship date that is no date': {
    change: records(ORDERS, 200, (it) => ({ ...it, ...(it.shipDate ? { shipDate: 'soon' } : {}) })),
    told: ['listOrders 200'],
    where: 'type',
  },
  'stock that is not kept': {
    change: list(INVENTORY, (items) =>
      items.filter(isObject).map((it) => (Number(it.petId) > 64 ? { ...it, quantity: 0 } : it)),
    ),
    told: ['listInventory 200'],
    where: 'value',
  },
  'an update that shows another quantity': {
    change: records(/^PATCH/, 200, (it) => ({ ...it, quantity: Number(it.quantity) + 1 })),
    told: ['updateInventory 200'],
    where: 'value',
  },
  'a shipped order that can be cancelled': {
    change: instead(/^DELETE \/store\/orders\/2$/, 409, {
      status: 204,
      headers: [],
      body: Buffer.alloc(0),
    }),
    told: ['cancelOrder 409'],
    where: 'status',
  },
  'another sunset': {
    change: withHeader(GET_PET, 200, 'Sunset', 'Thu, 05 Dec 2029 00:00:00 GMT'),
    told: ['getPet 200'],
    where: 'header',
  },
  'a created animal that is not listed': {
    change: list(/^GET \/pets\?limit=100$/, (items) =>
      items.filter((it) => isObject(it) && Number(it.id) <= 64),
    ),
    told: ['listPets 200'],
    where: 'value',
  },
  'a status of one animal that the list does not show': {
    change: records(/^GET \/pets\/1$/, 200, (it) => ({ ...it, status: 'sold' })),
    told: ['getPet 200'],
    where: 'value',
  },
  'a long name that is cut': {
    change: records(/^POST/, 201, (it) => ({ ...it, name: String(it.name).slice(0, 100) })),
    told: ['createPet 201'],
    where: 'value',
  },
  'a cancellation that announces a body': {
    change: withHeader(CANCEL, 204, 'Content-Length', '11'),
    told: ['cancelOrder 204'],
    where: 'body',
  },
  'integers with a decimal point': {
    change: (reply, { method, path }) =>
      INVENTORY.test(`${method} ${path}`) && reply.status === 200
        ? {
            ...reply,
            body: Buffer.from(reply.body.toString().replaceAll(/("quantity":\d+)/g, '$1.0')),
          }
        : reply,
    told: ['listInventory 200'],
    where: 'type',
  },
  'JSON that is not UTF-8': {
    change: instead(GET_PET, 200, {
      body: Buffer.from('{"id":1,"name":"\xfc","categoryId":1}', 'latin1'),
    }),
    told: ['getPet 200'],
    where: 'body',
  },
  'a body without a required field that is accepted': {
    change: (reply, { method, body: sent }) =>
      method === 'POST' &&
      sent !== undefined &&
      !sent.includes('categoryId') &&
      sent.includes('name')
        ? { ...reply, status: 201, body: Buffer.from('{"id":999,"name":"x","categoryId":0}') }
        : reply,
    told: ['createPet 201'],
    where: 'field',
  },
};

/** A deployment that keeps to the document, but not to any option of an assumption. */
interface Otherwise {
  readonly assume: Partial<Choices>;
  readonly change: Change;
}

/** By the only assumption that none of the options describes. */
export const OTHERWISE: Partial<Record<AssumptionId, Otherwise>> = {
  'auth-challenge': {
    assume: {},
    change: withHeader(ORDERS, 401, 'WWW-Authenticate', 'Basic'),
  },
  'rate-limit': {
    assume: { 'rate-limit': '10/s' },
    change: withHeader(ANY, 429, 'Retry-After', 'soon'),
  },
};
