import type { Animal, InventoryEntry, Order } from '../contract/records.ts';
import type { Base } from './collection.ts';
import { draw } from './draw.ts';
import { loadNames, type Names } from './names.ts';
import type { StoreBase } from './store.ts';

/** How large a generated store is and what it is drawn from. */
export interface GenerateOptions {
  /** Animals, each with an inventory entry: 0 to 10,000,000, by default 64. Ids count from 1. */
  readonly animals?: number | undefined;
  /** Orders: 0 to 10,000,000, by default 14. Ids count from 1. */
  readonly orders?: number | undefined;
  /** An integer; its low 32 bits count. */
  readonly seed: number;
}

/** Records of a collection: a reply that has all of them must fit into memory. */
export const MOST_RECORDS = 10_000_000;

/** The size of a store where it is not given: that of the default fixture. */
const DEFAULT_ANIMALS = 64;
const DEFAULT_ORDERS = 14;

const CATEGORIES = 8;

/** Records kept of each collection, so that the same page gives the same objects again. */
const KEPT_RECORDS = 4096;

/** One number for each thing drawn; a changed number changes every generated store. */
const FIELD = {
  animalStatus: 16,
  animalName: 17,
  animalNameList: 18,
  animalCategory: 19,
  stock: 20,
  orderStatus: 21,
  orderSparse: 22,
  orderPet: 23,
  orderQuantity: 24,
  orderHasShipDate: 25,
  orderShipDay: 26,
  orderShipSecond: 27,
  orderComplete: 28,
  orderIdAlone: 29,
} as const;

/** Fixed, so that a store is the same whenever it is made. Milliseconds since 1970. */
const SHIPPED_FROM = Date.UTC(2024, 0, 1);
const SHIPPED_DAYS = 911; // to the end of June 2026
const EXPECTED_FROM = Date.UTC(2031, 0, 1);
const EXPECTED_DAYS = 1826; // to the end of 2035

/**
 * A store of any size in constant time and memory: every record is a pure function of the seed, its
 * position and the field, drawn when it is asked for, from faker's names.
 *
 * Order 1 is pending, 2 shipped and 3 cancelled, as far as there are that many.
 *
 * @throws RangeError where a number of records is not an integer from 0 to 10,000,000
 */
export async function generateStore({
  animals = DEFAULT_ANIMALS,
  orders = DEFAULT_ORDERS,
  seed,
}: GenerateOptions): Promise<StoreBase> {
  requireCount('animals', animals);
  requireCount('orders', orders);
  const names = await loadNames();
  return {
    animals: lazyBase(animals, (position) => animalAt(seed, position, names)),
    inventory: lazyBase(animals, (position) => inventoryEntryAt(seed, position)),
    orders: lazyBase(orders, (position) => orderAt(seed, position, animals)),
  };
}

function requireCount(what: string, count: number): void {
  if (Number.isInteger(count) && count >= 0 && count <= MOST_RECORDS) return;
  throw new RangeError(`${what}: expected an integer from 0 to ${MOST_RECORDS}, found ${count}`);
}

/** Records with the ids 1 to `size`, made on demand; each cache slot holds the last one made. */
function lazyBase<R>(size: number, make: (position: number) => R): Base<R> {
  const kept = new Array<{ position: number; record: R } | undefined>(KEPT_RECORDS).fill(undefined);
  return {
    size,
    at(position) {
      const slot = position % KEPT_RECORDS;
      const known = kept[slot];
      if (known?.position === position) return known.record;
      if (!(position >= 0 && position < size)) {
        throw new RangeError(`There is no record at ${position}.`);
      }
      const record = make(position);
      kept[slot] = { position, record };
      return record;
    },
    idAt: (position) => BigInt(position + 1),
  };
}

function animalAt(seed: number, position: number, { petNames, firstNames }: Names): Animal {
  const names = chance(seed, position, FIELD.animalNameList, 50) ? petNames : firstNames;
  const name = names[draw(seed, position, FIELD.animalName) % names.length] ?? '';
  const id = BigInt(position + 1);
  const categoryId = BigInt(1 + (draw(seed, position, FIELD.animalCategory) % CATEGORIES));
  const status = animalStatusAt(seed, position);
  return status === undefined ? { id, name, categoryId } : { id, name, categoryId, status };
}

function animalStatusAt(seed: number, position: number): string | undefined {
  const percent = draw(seed, position, FIELD.animalStatus) % 100;
  if (percent < 60) return 'available';
  if (percent < 75) return 'pending';
  return percent < 90 ? 'sold' : undefined;
}

/** An entry is sold out exactly where it has nothing left, as every sold animal's is. */
function inventoryEntryAt(seed: number, position: number): InventoryEntry {
  const sold = animalStatusAt(seed, position) === 'sold';
  const quantity = sold ? 0 : draw(seed, position, FIELD.stock) % 40;
  return {
    petId: BigInt(position + 1),
    quantity,
    status: quantity === 0 ? 'sold' : 'available',
  };
}

function orderAt(seed: number, position: number, animals: number): Order {
  const id = BigInt(position + 1);
  const status = orderStatusAt(seed, position);
  const sparse = position > 2 && chance(seed, position, FIELD.orderSparse, 12);
  const known =
    animals > 0 && !(sparse && chance(seed, position, FIELD.orderIdAlone, 50))
      ? { petId: BigInt(1 + (draw(seed, position, FIELD.orderPet) % animals)) }
      : {};
  if (sparse) return { id, ...known, ...(status === 'pending' ? {} : { status }) };
  const shipDate = shipDateAt(seed, position, status);
  return {
    id,
    ...known,
    quantity: 1 + (draw(seed, position, FIELD.orderQuantity) % 5),
    ...(shipDate === undefined ? {} : { shipDate }),
    complete: status === 'shipped' && chance(seed, position, FIELD.orderComplete, 70),
    status,
  };
}

const FIRST_STATUSES = ['pending', 'shipped', 'cancelled'] as const;

function orderStatusAt(seed: number, position: number): NonNullable<Order['status']> {
  const fixed = FIRST_STATUSES[position];
  if (fixed !== undefined) return fixed;
  const percent = draw(seed, position, FIELD.orderStatus) % 100;
  if (percent < 50) return 'pending';
  return percent < 85 ? 'shipped' : 'cancelled';
}

/** A shipped order has shipped by mid 2026; any other is expected after 2030, or on no date yet. */
function shipDateAt(seed: number, position: number, status: string): string | undefined {
  const shipped = status === 'shipped';
  if (!shipped && !chance(seed, position, FIELD.orderHasShipDate, 75)) return undefined;
  const days = draw(seed, position, FIELD.orderShipDay) % (shipped ? SHIPPED_DAYS : EXPECTED_DAYS);
  const seconds = draw(seed, position, FIELD.orderShipSecond) % 86_400;
  const instant = (shipped ? SHIPPED_FROM : EXPECTED_FROM) + (days * 86_400 + seconds) * 1000;
  return `${new Date(instant).toISOString().slice(0, 19)}Z`;
}

function chance(seed: number, position: number, field: number, percent: number): boolean {
  return draw(seed, position, field) % 100 < percent;
}
