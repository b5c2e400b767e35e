import type { Choices } from '../../../core/contract/assumption-table.ts';
import { ORDER_STATUSES, STORED_RECORDS } from '../../../core/contract/records.ts';
import type { ObjectMembers } from '../../../core/shape/objects.ts';
import { readAs, type Shape } from '../../../core/shape/shapes.ts';
import { createStore, type Store } from '../../../core/store/store.ts';
import { type AskMock, prepareMock } from '../ask-mock.ts';
import { findById, type ReplyRecord, readId, readIds } from '../deployment-reply.ts';
import type { DeploymentFlags } from '../flags.ts';
import { SENT_ID } from './probes.ts';

/** The lists of a deployment at the start of a round. */
export interface Lists {
  /** Whether all of them could be read. Otherwise no other list shows anything. */
  readonly isWhole: boolean;
  readonly animals: ReadonlyMap<bigint, ReplyRecord>;
  readonly inventory: readonly ReplyRecord[];
  readonly orders: readonly ReplyRecord[];
}

/** Animals without an id cannot be told apart. */
export function createLists(found: readonly (readonly ReplyRecord[] | undefined)[]): Lists {
  const [animals = [], inventory = [], orders = []] = found;
  const known = animals.flatMap((animal) => {
    const id = readId(animal);
    return id === undefined ? [] : [[id, animal] as const];
  });
  const isWhole = found.every((list) => list !== undefined);
  return { isWhole, animals: new Map(known), inventory, orders };
}

/** From what a mock starts that is asked the same as a deployment. */
export interface World {
  readonly lists: Lists;
  /** In milliseconds since 1970. */
  readonly clock: number;
  readonly store: Store;
  readonly words: ReadonlyMap<string, string>;
  readonly open: (choices: Choices) => AskMock;
}

/** From so many orders on, a check sees whether they come in pages. */
const MIN_ORDERS = 3;

/** A mock with the records that a deployment lists, as far as it can have and needs them. */
export function createWorld(lists: Lists, options: DeploymentFlags, clock: number): World {
  const { cancel = [], shipped = [], cancelled = [], stock } = options;
  const named = [...cancel, ...shipped, ...cancelled];
  const orders = pickOrders(lists.orders, named, clock);
  const listed = [...lists.animals.keys()];
  const used = [...listed, ...readIds(lists.inventory, 'petId'), ...readIds(lists.orders, 'petId')];
  // Only what other stories write or name shows something.
  const stocked = new Set([stock, ...readIds(orders, 'petId')]);
  const store = createStore({
    animals: [
      ...[...lists.animals.values()].flatMap((animal) => {
        return keepFields(STORED_RECORDS.animals, animal, { name: '', categoryId: 0n });
      }),
      // More animals than a page has are not listed.
      ...(stock === undefined || listed.includes(stock)
        ? []
        : [{ id: stock, name: '', categoryId: 0n }]),
    ],
    inventory: lists.inventory.flatMap((entry) => {
      const isStocked = stocked.has(readId(entry, 'petId'));
      return isStocked
        ? keepFields(STORED_RECORDS.inventory, entry, { quantity: 0, status: '' })
        : [];
    }),
    orders: orders.flatMap((order) => {
      const id = readId(order) ?? 0n;
      const told = shipped.includes(id)
        ? 'shipped'
        : cancelled.includes(id)
          ? 'cancelled'
          : 'pending';
      const shown = ORDER_STATUSES.find((status) => status === order.status);
      const status = shown ?? (order.complete === true ? 'shipped' : told);
      return keepFields(STORED_RECORDS.orders, { ...order, status }, {});
    }),
  });
  const highest = used.reduce<bigint | undefined>(
    (most, id) => (most === undefined || id > most ? id : most),
    undefined,
  );
  const known = new Set([...used, ...readIds(lists.orders), ...named]);
  let unused = SENT_ID + 1n;
  while (known.has(unused)) unused += 1n;
  // Rather one that a double cannot hold.
  const pet = listed.find((id) => !Number.isSafeInteger(Number(id))) ?? listed[0];
  const words = Object.entries({ UNKNOWN: unused, LISTED: pet, STOCK: stock }).flatMap(
    ([word, id]) => (id === undefined ? [] : [[word, `${id}`] as const]),
  );
  const whole = { ...store, animals: store.animals.withHighestId(highest) };
  return { lists, store: whole, clock, words: new Map(words), open: prepareMock(whole, clock) };
}

/** The named orders, and of the others one of each form: with these fields, and without those. */
function pickOrders(orders: readonly ReplyRecord[], named: readonly bigint[], clock: number) {
  const forms = new Set<string>();
  return orders.filter((order, at) => {
    const fields = Object.keys(order).filter((name) => order[name] != null);
    const isDue = Date.parse(String(order.shipDate)) < clock;
    const form = `${fields.sort()} ${order.status} ${isDue}`;
    const isKept = at < MIN_ORDERS || !forms.has(form) || named.includes(readId(order) ?? 0n);
    forms.add(form);
    return isKept;
  });
}

/** The same world for a story about one order. */
export function aboutOrder(world: World, word: string, id: bigint): World {
  const petId = readId(findById(world.lists.orders, id), 'petId');
  const words = new Map([...world.words, [word, `${id}`]]);
  if (petId !== undefined) words.set('PET', `${petId}`);
  return { ...world, words };
}

/** A record without the fields that a mock cannot have, but with those that it must have. */
function keepFields<T>(
  shape: Shape<T> & { readonly members: ObjectMembers },
  record: ReplyRecord,
  base: object,
): readonly T[] {
  const fields = Object.entries(shape.members).flatMap(([name, member]) => {
    const value = (/id$/i.test(name) ? readId(record, name) : undefined) ?? record[name];
    return readAs(member.shape, value).ok ? [[name, value]] : [];
  });
  const reading = readAs(shape, { ...base, ...Object.fromEntries(fields) });
  return reading.ok ? [reading.value] : [];
}
