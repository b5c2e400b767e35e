import { OPERATIONS, type OperationId, operationShape } from '../../contract/operations.ts';
import { describe } from '../../words.ts';
import {
  type Deviation,
  idsOf,
  type JsonRecord,
  nextQuery,
  UNKNOWN_WORD,
  withId,
} from '../deployment-reply.ts';
import type { CheckRequest, DocumentRule, Need } from './check-transcript.ts';

/** The id that a body must not have. */
export const SENT_ID = 7_777_777_777_777_777n;

export const OTHER_ORIGIN = 'https://petstore-mock-check.example';

/** The requests that are sent at once: 50% more than `rate-limit: 10/s` allows. */
export const BURST = 15;

type More = Partial<CheckRequest>;

/** @param query appended to the operation's path, in which braces stand for an id */
export function call(
  operation: OperationId,
  query: string,
  why: string,
  more: More = {},
): CheckRequest {
  const { method, path } = operationShape(operation);
  return { operation, method, path: path.replace(/\{\w+\}/, '{}') + query, why, ...more };
}

export const listPets = (query: string, why: string, more?: More) =>
  call('listPets', query, why, more);
export const readPet = (needs: Need, why: string, more?: More) =>
  call('getPet', '', why, {
    needs,
    excuse: ({ status }, check) => (status === 410 || status === 404) && check.hasPassedSunset,
    ...more,
  });
export const listInventory = (why: string, more?: More) => call('listInventory', '', why, more);
export const listOrders = (query: string, why: string, more?: More) =>
  call('listOrders', query, why, more);

export const NO_KEY = { key: 'none', status: 401 } as const;

/** How a value deviates from what the document prescribes, unless it does not. */
export function unless(
  holds: boolean,
  at: string,
  expected: string,
  found: string,
  where: Deviation['where'] = 'value',
): readonly Deviation[] {
  return holds ? [] : [{ where, at, expected, found }];
}

/** The fields of a record that differ from another one. */
export function unlike(
  found: JsonRecord | undefined,
  expected: JsonRecord | undefined,
  fields = Object.keys(expected ?? {}),
): readonly Deviation[] {
  return fields.flatMap((field) => {
    const [is, wanted] = [found?.[field], expected?.[field]];
    const holds = found === undefined || String(is ?? '') === String(wanted ?? '');
    return unless(holds, `$.${field}`, describe(wanted), describe(is));
  });
}

/** The most animals of a page. */
export const [{ maximum: LONGEST_PAGE, default: USUAL_PAGE }] = OPERATIONS.listPets.parameters;

/** A list has as many animals as the limit lets through. */
const pageLength: DocumentRule = ({ sending, records = [] }, check) => {
  const known = check.get('pets100')?.records ?? records;
  const limit = Number(/limit=(\d+)/.exec(sending.request.path)?.[1] ?? USUAL_PAGE);
  const wanted = Math.min(limit, Math.max(known.length, records.length));
  const expected = `${wanted} animals with limit ${limit}`;
  return unless(records.length === wanted, '$', expected, `${records.length}`);
};

/** No two records of a list have the same id. */
function uniqueIds(field: string): DocumentRule {
  return ({ records }) => {
    const ids = idsOf(records, field);
    const twice = ids.find((id, at) => ids.indexOf(id) !== at);
    return unless(twice === undefined, `$[].${field}`, 'each once', `${twice} twice`);
  };
}

/** The sunset is on the day of the document. */
export const sunsetDay: DocumentRule = (reply) => {
  const day = OPERATIONS.getPet.sunset;
  const found = reply.header('sunset');
  const time = Date.parse(found ?? '');
  const isDay = !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
  const expected = new Date(day).toUTCString();
  return unless(found === undefined || isDay, 'Sunset', expected, describe(found), 'header');
};

const UNKNOWN_PET: Need = {
  description: 'an id that no animal has',
  find: (check) =>
    unusedId([
      ...idsOf(check.get('pets100')?.records),
      ...idsOf(check.get('inventory')?.records, 'petId'),
    ]),
};

export const UNKNOWN_ORDER: Need = {
  description: 'an id that no order has',
  find: (check, { cancel, shipped, cancelled }) =>
    unusedId([...idsOf(check.get('orders')?.records), ...cancel, ...shipped, ...cancelled]),
};

function unusedId(used: readonly bigint[]): bigint {
  let id = SENT_ID + 1n;
  while (used.includes(id)) id += 1n;
  return id;
}

/** A filter by status lists the animals that have it, and no others. */
function filterBy(status: string): CheckRequest {
  const rule: DocumentRule = ({ records = [] }, check) => {
    const other = records.find((animal) => animal.status !== status);
    const ids = idsOf(records);
    const all = check.get('pets100')?.records?.filter((it) => it.status === status);
    const missing = idsOf(all).find((id) => !ids.includes(id));
    return [
      ...unless(other === undefined, '$[].status', `only ${status}`, describe(other?.status)),
      ...unless(missing === undefined, '$', `animal ${missing}, which is ${status}`, 'nothing'),
    ];
  };
  return listPets(`?limit=100&status=${status}`, 'the filter', { status: 200, rules: [rule] });
}

const PAGE = { status: 200, rules: [pageLength, uniqueIds('id')] };

const LARGEST_DOUBLE = BigInt(Number.MAX_SAFE_INTEGER);

/** The requests that change nothing and look at nothing that was changed. */
export const READ_REQUESTS = {
  pets100: listPets('?limit=100', 'the animals', PAGE),
  pets: listPets('', 'the default limit', PAGE),
  inventory: listInventory('the stock', { status: 200, rules: [uniqueIds('petId')] }),
  orders: listOrders('', 'the orders', { status: 200, rules: [uniqueIds('id')] }),
  pets1: listPets('?limit=1', 'the shortest page', PAGE),
  pets2: listPets('?limit=2', 'a page of two animals', PAGE),
  nextPage: listPets('{}', 'the next page', {
    needs: {
      description: 'a way to the next page',
      find: (check) => {
        const first = check.get('pets1');
        const query = first && nextQuery(first.reply);
        return query ?? (first?.header('x-total-count') && '?limit=1&offset=1');
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
        const ids = idsOf(check.get('pets100')?.records);
        return ids.find((id) => id > LARGEST_DOUBLE || id < -LARGEST_DOUBLE) ?? ids[0];
      },
    },
    'an animal of the list',
    {
      status: 200,
      rules: [
        sunsetDay,
        ({ sending, record }, check) => {
          const id = BigInt(/-?\d+$/.exec(sending.request.path)?.[0] ?? 0);
          const listed = withId(check.get('pets100')?.records, id);
          return unlike(record, listed, Object.keys({ ...listed, status: undefined }));
        },
      ],
    },
  ),
  unknownPet: readPet(UNKNOWN_PET, 'an id that no animal has'),
  limitText: listPets('?limit=abc', 'a limit that is not an integer'),
  petText: call('getPet', '', 'an id that is not an integer', { path: '/pets/abc' }),
  limit0: listPets('?limit=0', 'a limit below 1'),
  limit101: listPets('?limit=101', 'a limit above 100'),
  unseenFilter: listPets(`?limit=100&status=${UNKNOWN_WORD}`, 'a filter for a status never seen'),
  unknownQuery: listOrders(`?${UNKNOWN_WORD}=1`, 'an unknown query parameter'),
  ordersPage: listOrders('?limit=1', 'that orders have no pages', {
    rules: [
      ({ records }, check) => {
        const count = check.get('orders')?.records?.length ?? records?.length;
        const holds = records === undefined || records.length === count;
        return unless(holds, '$', `all ${count} orders`, `${records?.length}`);
      },
    ],
  }),
  getOrder: {
    operation: undefined,
    method: 'GET',
    path: '/store/orders/{}',
    needs: UNKNOWN_ORDER,
    why: 'a method that the path does not have',
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
  burst: listPets('?limit=1', 'many requests in a second', { times: BURST }),
} as const satisfies Readonly<Record<string, CheckRequest>>;
