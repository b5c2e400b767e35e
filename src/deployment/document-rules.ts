import { OPERATIONS, type OperationId } from '../contract/operations.ts';
import { SEEN_ANIMAL_STATUSES } from '../contract/records.ts';
import { describe } from '../words.ts';
import { ASKS, type AskName } from './asks.ts';
import { type Broken, type Rule, sentBy, unique, unlike, wrong } from './document-rule.ts';
import { cancelled } from './probes/order-probes.ts';
import type { Difference } from './reply-differences.ts';
import { idIn, idsOf, isDouble, roundedTwin, type Seen, withId } from './seen.ts';

const [LIMIT] = OPERATIONS.listPets.parameters;

/** The rules of the document beyond the shape of its records. */
const RULES: readonly Rule[] = [
  {
    reply: ['listPets', 200],
    asks: ['pets', 'pets1', 'pets2', 'pets100'],
    broken: (seen, name) => {
      const limit = Number(/limit=(\d+)/.exec(ASKS[name].path)?.[1] ?? LIMIT.default);
      const [found, known] = [seen.list(name), seen.list('pets100')];
      if (found === undefined || known === undefined) return [];
      const wanted = Math.min(limit, Math.max(known.length, found.length));
      return found.length === wanted
        ? []
        : [wrong('$', `${wanted} animals with limit ${limit}`, `${found.length}`)];
    },
  },
  {
    reply: ['listPets', 200],
    asks: ['unlistedPet'],
    broken: (seen, name) => {
      const found = seen.get(name);
      if (found?.status !== 200) return [];
      const count = seen.list('pets100')?.length;
      return [wrong('$', `animal ${idIn(found.record)} with limit 100`, `${count} others`)];
    },
  },
  {
    reply: ['listPets', 200],
    asks: ['available', 'pending', 'sold'],
    broken: (seen, name) => {
      const status = SEEN_ANIMAL_STATUSES.find((it) => it === name);
      const found = seen.list(name);
      if (found === undefined) return [];
      const other = found.find((animal) => animal.status !== status);
      if (other !== undefined) {
        return [wrong('$[].status', `only ${status}`, describe(other.status))];
      }
      const all = seen.list('pets100') ?? [];
      const missing = all.find((it) => it.status === status && !withId(found, idIn(it)));
      return missing === undefined
        ? []
        : [wrong('$', `animal ${idIn(missing)}, which is ${status}`, 'nothing')];
    },
  },
  unique(['listPets', 200], ['pets100', 'pets'], 'id'),
  unique(['listInventory', 200], ['inventory'], 'petId'),
  unique(['listOrders', 200], ['orders'], 'id'),
  {
    reply: ['getPet', 200],
    asks: ['pet', 'largePet'],
    broken: (seen, name) => {
      const found = seen.get(name)?.record;
      const id = BigInt(/\d+$/.exec(seen.get(name)?.request.path ?? '')?.[0] ?? 0);
      const listed = withId(seen.list('pets100'), id);
      return found === undefined || listed === undefined
        ? []
        : unlike(found, listed, Object.keys({ ...listed, status: undefined }));
    },
  },
  {
    reply: ['getPet', 200],
    asks: ['created'],
    broken: (seen, name) => {
      const found = seen.get(name)?.record;
      const { id, status } = seen.get('create')?.record ?? {};
      return found === undefined ? [] : unlike(found, { id, status, ...sentBy('create') });
    },
  },
  {
    reply: ['getPet', 200],
    asks: ['pet', 'created'],
    broken: (seen, name) => {
      const sunset = seen.get(name)?.header('sunset');
      if (sunset === undefined || isDay(sunset, OPERATIONS.getPet.sunset)) return [];
      const expected = new Date(OPERATIONS.getPet.sunset).toUTCString();
      return [{ where: 'header', at: 'Sunset', expected, found: describe(sunset) }];
    },
  },
  {
    reply: ['createPet', 201],
    asks: [
      'create',
      'createPending',
      'createLongName',
      'createWithId',
      'createUnknownField',
      'createUnseenStatus',
      'createAsText',
      'createReadOnly',
    ],
    broken: (seen, name) => {
      const { record } = seen.get(name) ?? {};
      const sent = sentBy(name);
      const fields = ['name', 'categoryId', 'status'].filter((field) => Object.hasOwn(sent, field));
      return record === undefined ? [] : unlike(record, sent, fields);
    },
  },
  {
    reply: ['createPet', 201],
    asks: ['create', 'createPending'],
    broken: (seen, name) => {
      const id = idIn(seen.get(name)?.record);
      const exact = roundedTwin(seen, 'petsAgain', id);
      return exact !== undefined && !isDouble(exact)
        ? [wrong('$.id', `${exact}, as GET /pets lists it`, `${id}`)]
        : [];
    },
  },
  {
    reply: ['listPets', 200],
    asks: ['petsAgain'],
    broken: (seen, name) => {
      const found = seen.list(name);
      const id = idIn(seen.get('created')?.record);
      // Where a page is full, it can be on another one.
      if (id === undefined || found === undefined || found.length >= LIMIT.maximum) return [];
      return withId(found, id) === undefined && roundedTwin(seen, 'petsAgain', id) === undefined
        ? [wrong('$', `animal ${id}, which was created`, 'nothing')]
        : [];
    },
  },
  exactIds(['listPets', 200], 'petsAgain', 'id'),
  exactIds(['listInventory', 200], 'inventoryCreated', 'petId'),
  refuses(['createPet', 201], 'createNoCategory', '$.categoryId'),
  refuses(['updateInventory', 200], 'stockNothing', '$.quantity'),
  refuses(['updateInventory', 200], 'stockText', '$.quantity'),
  {
    reply: ['updateInventory', 200],
    asks: ['stock5', 'stock0', 'stock3'],
    broken: (seen, name) => {
      const found = seen.get(name)?.record;
      const petId = idIn(seen.get('createPending')?.record);
      return found === undefined ? [] : unlike(found, { petId, ...sentBy(name) });
    },
  },
  {
    reply: ['listInventory', 200],
    asks: ['inventoryKept'],
    broken: (seen, name) => {
      if (!seen.get('stock3')?.accepted || seen.list(name) === undefined) return [];
      const petId = idIn(seen.get('createPending')?.record);
      const found = withId(seen.list(name), petId, 'petId');
      return found === undefined
        ? [wrong('$', `an entry for animal ${petId}`, 'nothing')]
        : unlike(found, sentBy('stock3'), ['quantity'], '$[]');
    },
  },
  {
    reply: ['listOrders', 200],
    asks: ['ordersPage'],
    broken: (seen, name) => {
      const [found, all] = [seen.list(name), seen.list('orders')];
      if (found === undefined || all === undefined || found.length === all.length) return [];
      return [wrong('$', `all ${all.length} orders`, `${found.length}`)];
    },
  },
  {
    reply: ['listOrders', 200],
    asks: ['orders'],
    broken: (seen, name) => {
      const list = seen.list(name);
      if (list === undefined) return [];
      return namedOrders(seen)
        .filter((order) => withId(list, order) === undefined)
        .map((order) => wrong('$', `order ${order}`, 'nothing'));
    },
  },
  {
    reply: ['listOrders', 200],
    asks: ['orders'],
    broken: (seen, name) => {
      const pets = idsOf(seen.list('pets100'));
      const named = idsOf(seen.list(name), 'petId');
      if (pets.length >= LIMIT.maximum || !named.every(isDouble)) return [];
      const rounded = (id: bigint) => BigInt(Number(id));
      const id = pets.find((it) => named.includes(rounded(it)) && !pets.includes(rounded(it)));
      return id === undefined ? [] : [wrong('$[].petId', `${id}`, `${rounded(id)}`)];
    },
  },
  {
    reply: ['cancelOrder', 204],
    asks: ['cancel'],
    broken: (seen) =>
      cancelled(seen).flatMap(({ order }) => {
        const [before, after] = [seen.list('orders'), seen.list('ordersCancelled')].map(
          (list) => withId(list, order)?.status,
        );
        return after !== undefined && after === before && after !== 'cancelled'
          ? [wrong('$', `order ${order} cancelled`, `its status ${describe(after)} as before`)]
          : [];
      }),
  },
];

/** The orders that the deployment has shown to exist, though it may list no cancelled ones. */
function namedOrders(seen: Seen): bigint[] {
  const isFirst = seen.status('cancelAgain') !== 204;
  const refused = seen.all('cancelShipped').filter(({ status }) => status === 409);
  return [...refused, ...(isFirst ? cancelled(seen) : [])].flatMap(({ order }) => order ?? []);
}

/** The replies whose rules a request shows, as an operation with a status. */
export function ruledBy(name: AskName): string[] {
  return RULES.filter(({ asks }) => asks.includes(name)).map(({ reply }) => reply.join(' '));
}

/** What breaks the rules for a reply. */
export function ruleDifferences(seen: Seen, operation: OperationId, status: number): Difference[] {
  return RULES.filter(({ reply }) => reply[0] === operation && reply[1] === status).flatMap(
    ({ asks, broken }) =>
      asks.flatMap((name) =>
        broken(seen, name).map((it) => ({ ...it, exchange: `${seen.get(name)}` })),
      ),
  );
}

/** A list has the ids of created animals to the last digit. */
function exactIds(
  reply: Rule['reply'],
  name: 'petsAgain' | 'inventoryCreated',
  field: string,
): Rule {
  const broken = (seen: Seen) =>
    seen.all('create', 'createPending').flatMap(({ record }) => {
      const id = idIn(record);
      const found = roundedTwin(seen, name, id);
      if (found === undefined || id === undefined || isDouble(id)) return [];
      return [wrong(`$[].${field}`, `${id}`, `${found}`)];
    });
  return { reply, asks: [name], broken };
}

/** A body without a required field, or with one of another type, is not accepted. */
function refuses(reply: Rule['reply'], name: AskName, at: string): Rule {
  const broken = (seen: Seen): Broken[] => {
    if (!seen.get(name)?.accepted) return [];
    return [
      {
        where: 'field',
        at,
        expected: 'a refusal',
        found: `${seen.status(name)} for ${ASKS[name].why}`,
      },
    ];
  };
  return { reply, asks: [name], broken };
}

function isDay(date: string, day: string): boolean {
  const time = Date.parse(date);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}
