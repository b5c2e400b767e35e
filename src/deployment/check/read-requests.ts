import { OPERATIONS } from '../../contract/operations.ts';
import { describe } from '../../words.ts';
import { UNKNOWN_WORD } from '../reply-differences.ts';
import { idIn, idsOf, nextQuery, withId } from '../reply-parts.ts';
import type { CheckRequest, DocumentRule, Need } from './check-transcript.ts';
import {
  BURST,
  call,
  KEPT,
  listInventory,
  listOrders,
  listPets,
  NO_KEY,
  OTHER_ORIGIN,
  readPet,
  SENT_ID,
  unlike,
  wrong,
} from './request-parts.ts';

const [LIMIT] = OPERATIONS.listPets.parameters;

/** A list has as many animals as the limit lets through. */
const pageLength: DocumentRule = ({ request, records }, check) => {
  const known = check.list('pets100');
  if (records === undefined || known === undefined) return KEPT;
  const limit = Number(/limit=(\d+)/.exec(request.path)?.[1] ?? LIMIT.default);
  const wanted = Math.min(limit, Math.max(known.length, records.length));
  return records.length === wanted
    ? KEPT
    : wrong('$', `${wanted} animals with limit ${limit}`, `${records.length}`);
};

/** No two records of a list have the same id. */
function uniqueIds(field: string): DocumentRule {
  return ({ records }) => {
    const ids = idsOf(records, field);
    const twice = ids.find((id, at) => ids.indexOf(id) !== at);
    return twice === undefined ? KEPT : wrong(`$[].${field}`, 'each once', `${twice} twice`);
  };
}

/** The sunset is on the day of the document. */
export const sunsetDay: DocumentRule = (reply) => {
  const day = OPERATIONS.getPet.sunset;
  const found = reply.header('sunset');
  const time = Date.parse(found ?? '');
  const isDay = !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
  if (found === undefined || isDay) return KEPT;
  const expected = new Date(day).toUTCString();
  return [{ where: 'header', at: 'Sunset', expected, found: describe(found) }];
};

const UNKNOWN_PET: Need = {
  description: 'an id that no animal has',
  find: (check) =>
    unusedId([...idsOf(check.list('pets100')), ...idsOf(check.list('inventory'), 'petId')]),
};

export const UNKNOWN_ORDER: Need = {
  description: 'an id that no order has',
  find: (check, { cancel, shipped, cancelled }) =>
    unusedId([...idsOf(check.list('orders')), ...cancel, ...shipped, ...cancelled]),
};

function unusedId(used: readonly bigint[]): string {
  let id = SENT_ID + 1n;
  while (used.includes(id)) id += 1n;
  return id.toString();
}

const LARGEST_DOUBLE = BigInt(Number.MAX_SAFE_INTEGER);

/** A filter by status lists the animals that have it, and no others. */
function filterBy(status: string): CheckRequest {
  const rule: DocumentRule = ({ records }, check) => {
    if (records === undefined) return KEPT;
    const other = records.find((animal) => animal.status !== status);
    if (other !== undefined) return wrong('$[].status', `only ${status}`, describe(other.status));
    const all = check.list('pets100') ?? [];
    const missing = all.find((it) => it.status === status && !withId(records, idIn(it)));
    return missing === undefined
      ? KEPT
      : wrong('$', `animal ${idIn(missing)}, which is ${status}`, 'nothing');
  };
  return listPets(`?limit=100&status=${status}`, 'the filter', { status: 200, rules: [rule] });
}

const PAGE = { status: 200, rules: [pageLength, uniqueIds('id')] };

/** The requests that change nothing and look at nothing that was changed. */
export const READ_REQUESTS = {
  pets100: listPets('?limit=100', 'the animals', PAGE),
  pets: listPets('', 'the default limit', PAGE),
  inventory: listInventory('the stock', { status: 200, rules: [uniqueIds('petId')] }),
  orders: listOrders('', 'the orders', {
    status: 200,
    rules: [
      uniqueIds('id'),
      // Every order that the deployment has shown to exist, though it may list no cancelled ones.
      ({ records }, check) => {
        if (records === undefined) return KEPT;
        const refused = check.all('cancelShipped').filter(({ status }) => status === 409);
        const first = check.status('cancelAgain') === 204 ? [] : check.cancelled;
        return [...refused, ...first]
          .filter(({ order }) => withId(records, order) === undefined)
          .flatMap(({ order }) => wrong('$', `order ${order}`, 'nothing'));
      },
    ],
  }),
  pets1: listPets('?limit=1', 'the smallest limit', PAGE),
  pets2: listPets('?limit=2', 'a small limit', PAGE),
  nextPage: call('listPets', '{}', 'the next page', {
    needs: {
      description: 'a link or offset to a next page',
      find: (check) => {
        const first = check.get('pets1');
        const query = first && nextQuery(first.reply);
        if (query !== undefined) return `/pets${query}`;
        return first?.header('x-total-count') && '/pets?limit=1&offset=1';
      },
    },
  }),
  available: filterBy('available'),
  pending: filterBy('pending'),
  sold: filterBy('sold'),
  pet: readPet(
    {
      description: 'an animal in the list',
      after: 'pets100',
      // Rather one with an id that a double cannot hold.
      find: (check) => {
        const ids = idsOf(check.list('pets100'));
        const large = ids.find((id) => id > LARGEST_DOUBLE || id < -LARGEST_DOUBLE);
        return (large ?? ids[0])?.toString();
      },
    },
    'an animal of the list',
    {
      status: 200,
      rules: [
        sunsetDay,
        ({ request, record }, check) => {
          const id = BigInt(/-?\d+$/.exec(request.path)?.[0] ?? 0);
          const listed = withId(check.list('pets100'), id);
          return listed === undefined
            ? KEPT
            : unlike(record, listed, Object.keys({ ...listed, status: undefined }));
        },
      ],
    },
  ),
  unknownPet: readPet(UNKNOWN_PET, 'an id that no animal has'),
  limitText: listPets('?limit=abc', 'a limit that is not an integer'),
  petText: call('getPet', '/pets/abc', 'an id that is not an integer'),
  limit0: listPets('?limit=0', 'a limit below 1'),
  limit101: listPets('?limit=101', 'a limit above 100'),
  unseenFilter: listPets(`?limit=100&status=${UNKNOWN_WORD}`, 'a filter for a status never seen'),
  unknownQuery: listOrders(`?${UNKNOWN_WORD}=1`, 'an unknown query parameter'),
  ordersPage: listOrders('?limit=1', 'that orders have no pages', {
    rules: [
      ({ records }, check) => {
        const all = check.list('orders');
        return records === undefined || all === undefined || records.length === all.length
          ? KEPT
          : wrong('$', `all ${all.length} orders`, `${records.length}`);
      },
    ],
  }),
  getOrder: {
    operation: undefined,
    method: 'GET',
    path: '/store/orders/{}',
    needs: UNKNOWN_ORDER,
    why: 'a method that the path does not have',
    beside: 'cancelOrder',
  },
  petsNoKey: listPets('', 'a missing key', NO_KEY),
  petNoKey: readPet(UNKNOWN_PET, 'a missing key', NO_KEY),
  inventoryNoKey: listInventory('a missing key', NO_KEY),
  ordersNoKey: listOrders('', 'a missing key', NO_KEY),
  petsUnknownKey: listPets('', 'a made-up key', { key: 'unknown', status: 401 }),
  petsInvalidKey: listPets('', 'an invalid key', { key: 'invalid', status: 401 }),
  limitTextNoKey: listPets('?limit=abc', 'a missing key with a wrong limit', { key: 'none' }),
  otherOrigin: listPets('?limit=1', 'a page of another origin', {
    headers: { Origin: OTHER_ORIGIN },
  }),
  preflight: {
    operation: undefined,
    method: 'OPTIONS',
    path: '/pets',
    why: 'the preflight for a page of another origin',
    headers: { Origin: OTHER_ORIGIN, 'Access-Control-Request-Method': 'GET' },
    key: 'none',
  },
  petsReadOnly: listPets('?limit=1', 'that the read-only key is accepted', { key: 'read-only' }),
  burst: listPets('?limit=1', 'many requests in a second', { times: BURST.requests }),
} as const satisfies Readonly<Record<string, CheckRequest>>;
