import { createHmac } from 'node:crypto';
import {
  type Animal,
  COLLECTIONS,
  type CollectionName,
  FIELD_TYPES,
  type Order,
  type OrderStatus,
  RECORDS,
  type RecordOf,
  STORED_RECORDS,
  unknownMembers,
} from '../contract/records.ts';
import { readStore } from '../store/fixture/parse-fixture.ts';
import { ID_NAME, type Store } from '../store/store.ts';
import { countText, describe, firstProblems, joinWords, problemText } from '../words.ts';
import { DeploymentError } from './deployment-client.ts';
import { type Get, listAnimals, type RecordWithMembers, readList } from './read-records.ts';

/** What was recorded of a deployment. */
export interface Recording {
  readonly store: Store;
  /** What may be missing, or differ from the deployment: a line for each. */
  readonly gaps: readonly string[];
}

/**
 * Records the animals, the inventory and the orders of a deployment. Sends only GET requests.
 *
 * @param unknownStatus the status of orders that do not show theirs
 * @throws DeploymentError if a reply cannot be recorded
 */
export async function recordDeployment(get: Get, unknownStatus: OrderStatus): Promise<Recording> {
  const inventory = readList(RECORDS.InventoryEntry, '/inventory', await get('/inventory'));
  const shownOrders = readList(RECORDS.Order, '/store/orders', await get('/store/orders'));
  const named = new Set([...inventory, ...shownOrders].flatMap(({ record }) => record.petId ?? []));
  const found = await listAnimals(get);
  const animals = [...found.animals.values()];
  const lost = new Set([...named].filter((id) => !found.animals.has(id)));
  const { orders, gaps } = recordOrders(shownOrders, unknownStatus);
  const store = storeOf({
    animals: animals.map(({ record }) => record),
    inventory: inventory.map(({ record }) => record).filter(({ petId }) => !lost.has(petId)),
    orders: orders.map((order) => withoutLost(order, lost)),
  });
  const dropped = droppedFields({ animals, inventory, orders: shownOrders });
  return { store, gaps: [...found.gaps, ...lostAnimals(lost), ...gaps, ...dropped] };
}

/** A store that a fixture can hold. */
function storeOf(records: object): Store {
  const reading = readStore(records);
  if (reading.ok) return reading.value;
  throw new DeploymentError(firstProblems(reading.problems, problemText).join('\n'));
}

function withoutLost(order: Order, lost: ReadonlySet<bigint>): Order {
  if (order.petId === undefined || !lost.has(order.petId)) return order;
  const { petId: _, ...rest } = order;
  return rest;
}

function lostAnimals(lost: ReadonlySet<bigint>): string[] {
  if (lost.size === 0) return [];
  const [first] = lost;
  const ids = lost.size === 1 ? `animal ${first}` : `animal ${first} and ${lost.size - 1} more`;
  return [
    `${ids}: not listed, though inventory entries or orders name them; those entries were left out, and those orders have no petId`,
  ];
}

type RecordsWithMembers = Readonly<
  Record<keyof typeof STORED_RECORDS, readonly { readonly members: object }[]>
>;

function droppedFields(shown: RecordsWithMembers): string[] {
  return COLLECTIONS.flatMap((name) => {
    const unknown = shown[name].flatMap(({ members }) =>
      unknownMembers(STORED_RECORDS[name], members),
    );
    const names = [...new Set(unknown)];
    return names.length === 0
      ? []
      : [`${name}: left out ${joinWords(names, 'and')}, which a fixture cannot hold`];
  });
}

type OrderWithMembers = RecordWithMembers<RecordOf<typeof RECORDS.Order>>;

interface OrderRecording {
  readonly orders: readonly Order[];
  readonly gaps: readonly string[];
}

/** Turns the orders that a deployment shows into stored orders: each needs an id and gets a status. */
function recordOrders(
  shown: readonly OrderWithMembers[],
  unknownStatus: OrderStatus,
): OrderRecording {
  const orders: Order[] = [];
  /** What orders of unknown status have in that field. */
  const unknown: unknown[] = [];
  for (const { record, members } of shown) {
    const { id, ...rest } = record;
    if (id === undefined) continue;
    const status = statusIn(members);
    if (status === undefined) unknown.push(members.status);
    orders.push({ id, ...rest, status: status ?? unknownStatus });
  }
  const gaps: string[] = [];
  const withoutId = shown.length - orders.length;
  if (withoutId > 0) gaps.push(`orders: ${countText(withoutId, 'order')} without an id left out`);
  if (unknown.length > 0) {
    const instead = joinWords([...new Set(unknown)].map(describe), 'or');
    gaps.push(
      `orders: ${unknown.length} of ${orders.length} have an unknown status (found ${instead}); recorded as ${unknownStatus} (--unknown-status)`,
    );
  }
  if (orders.every(({ status }) => status !== 'cancelled')) {
    gaps.push(
      'orders: none shows that it was cancelled; the deployment may leave cancelled orders out',
    );
  }
  return { orders, gaps };
}

/** The status that an order shows. One that was fulfilled has shipped. */
function statusIn(members: Readonly<Record<string, unknown>>): OrderStatus | undefined {
  const { status, complete } = members;
  return FIELD_TYPES.orderStatus.read(status) ?? (complete === true ? 'shipped' : undefined);
}

/** Hexadecimal digits that tell names apart: 48 bits. */
const DIGITS = 12;

/**
 * A copy of a store with other names for its animals. Equal names stay equal, even across
 * recordings with the same secret. Without the secret, nobody can find a name by trying candidates.
 */
export function anonymised(store: Store, secret: string): Store {
  const animals = store.animals.map((it) => ({ ...it, name: pseudonym(it, secret) }));
  return { ...store, animals };
}

function pseudonym({ name }: Animal, secret: string): string {
  const digest = createHmac('sha256', secret).update(name).digest('hex');
  return `Animal ${digest.slice(0, DIGITS)}`;
}

/** The members of a record by name. */
type Members = Readonly<Record<string, unknown>>;

/** A record that two stores do not have in common: added, removed, or changed if both have one. */
export interface RecordChange {
  readonly collection: CollectionName;
  readonly before?: Members | undefined;
  readonly after?: Members | undefined;
}

/** What changed from one store to another, by collection: changed and removed records first. */
export function compareStores(before: Store, after: Store): RecordChange[] {
  return COLLECTIONS.flatMap((collection) => {
    const [old, now] = [membersById(before, collection), membersById(after, collection)];
    return [...new Set([...old.keys(), ...now.keys()])]
      .map((id) => ({ collection, before: old.get(id), after: now.get(id) }))
      .filter((change) => changedFields(change).length > 0);
  });
}

/** The names of the fields that differ. */
export function changedFields({ collection, before, after }: RecordChange): string[] {
  return Object.keys(STORED_RECORDS[collection]).filter((name) => before?.[name] !== after?.[name]);
}

function membersById(store: Store, collection: CollectionName): Map<unknown, Members> {
  const records: Iterable<Members> = store[collection].ascending();
  return new Map([...records].map((record) => [record[ID_NAME[collection]], record]));
}
