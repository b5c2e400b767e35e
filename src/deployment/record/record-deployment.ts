import {
  COLLECTIONS,
  type Order,
  type OrderStatus,
  RECORDS,
  STORED_RECORDS,
  unknownMembers,
} from '../../contract/records.ts';
import { readStore } from '../../store/fixture/read-store.ts';
import type { Store } from '../../store/store.ts';
import { firstProblems, listed, problemText } from '../../words.ts';
import { DeploymentError } from '../deployment-client.ts';
import { type Get, listAnimals } from './list-animals.ts';
import { readList } from './read-records.ts';
import { recordOrders } from './record-orders.ts';

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

/** The most ids that a message lists. */
const MOST_IDS = 5;

function lostAnimals(lost: ReadonlySet<bigint>): string[] {
  if (lost.size === 0) return [];
  const ids = [...lost].slice(0, MOST_IDS).join(', ');
  const more = lost.size > MOST_IDS ? ` and ${lost.size - MOST_IDS} more` : '';
  return [
    `animals ${ids}${more}: not listed, though inventory entries or orders name them; those entries were left out, and those orders have no petId`,
  ];
}

type Shown = Readonly<Record<keyof typeof STORED_RECORDS, readonly { readonly members: object }[]>>;

function droppedFields(shown: Shown): string[] {
  return COLLECTIONS.flatMap((name) => {
    const unknown = shown[name].flatMap(({ members }) =>
      unknownMembers(STORED_RECORDS[name], members),
    );
    const names = [...new Set(unknown)];
    return names.length === 0
      ? []
      : [`${name}: left out ${listed(names, 'and')}, which a fixture cannot hold`];
  });
}
