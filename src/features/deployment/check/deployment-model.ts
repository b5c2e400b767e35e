import type { Choices } from '../../../core/contract/assumption-table.ts';
import { STORED_RECORDS } from '../../../core/contract/records.ts';
import type { ObjectMembers } from '../../../core/shape/objects.ts';
import { readAs, type Shape } from '../../../core/shape/shapes.ts';
import { createStore, type Store } from '../../../core/store/store.ts';
import { type AskMock, prepareMock } from '../ask-mock.ts';
import { type ReplyRecord, readId, readIds, readOrderStatus } from '../deployment-reply.ts';
import type { DeploymentFlags } from '../flags.ts';
import { SENT_ID } from './probes.ts';

/** The lists of a deployment at the start of a round. */
interface Lists {
  /** Whether all lists could be read. Otherwise, other lists are not judged. */
  readonly isWhole: boolean;
  readonly animals: ReadonlyMap<bigint, ReplyRecord>;
  /** Whether the animals are complete, with no further page. */
  readonly hasAllAnimals: boolean;
  readonly inventory: readonly ReplyRecord[];
  readonly orders: readonly ReplyRecord[];
}

/** What a check knows about a deployment, and a way to open mocks with the same records. */
export interface DeploymentModel {
  readonly lists: Lists;
  /** The deployment's time, in milliseconds since 1970. */
  readonly clock: number;
  readonly store: Store;
  /** The values of the placeholders (words in capitals) in paths of probes. */
  readonly placeholders: ReadonlyMap<string, string>;
  /** Whether another client has created animals since, and so may have changed other things. */
  hasOtherWriters: boolean;
  readonly openMock: (choices: Choices) => AskMock;
}

/** How many orders a model has besides those that flags name. More would show nothing new. */
const MAX_ORDERS = 20;

/**
 * Creates a model with the deployment's records, if a mock can have them.
 *
 * @param found the animals, the inventory and the orders; undefined if a list could not be read
 * @param clock the deployment's time by its `Date` header, in milliseconds since 1970
 */
export function createModel(
  found: readonly (readonly ReplyRecord[] | undefined)[],
  flags: DeploymentFlags,
  clock: number,
  hasAllAnimals = false,
): DeploymentModel {
  const { cancel = [], shipped = [], cancelled = [], stock } = flags;
  const [pets = [], inventory = [], listed = []] = found;
  // Without ids, animals cannot be told apart, so they are left out.
  const animals = new Map(
    pets.flatMap((animal) => {
      const id = readId(animal);
      return id === undefined ? [] : [[id, animal] as const];
    }),
  );
  const isWhole = !found.includes(undefined);
  const lists = { isWhole, animals, hasAllAnimals, inventory, orders: listed };
  const named = [...cancel, ...shipped, ...cancelled];
  const isNamed = (order: ReplyRecord) => named.includes(readId(order) ?? 0n);
  const orders = listed.filter((order, at) => at < MAX_ORDERS || isNamed(order));
  // Keep only entries that sequences write. Changes of others only tell that another client writes.
  const stocked = new Set([stock, ...readIds(listed.filter(isNamed), 'petId')]);
  // The animal of --stock may be missing in the list, which shows at most one page.
  const unlisted = stock === undefined || animals.has(stock) ? [] : [{ id: stock }];
  const store = createStore({
    animals: [...animals.values(), ...unlisted].flatMap((animal) =>
      keepFields(STORED_RECORDS.animals, animal, { name: '', categoryId: 0n }),
    ),
    inventory: inventory.flatMap((entry) =>
      stocked.has(readId(entry, 'petId'))
        ? keepFields(STORED_RECORDS.inventory, entry, { quantity: 0, status: '' })
        : [],
    ),
    orders: orders.flatMap((order) => {
      const id = readId(order) ?? 0n;
      const told = shipped.includes(id)
        ? 'shipped'
        : cancelled.includes(id)
          ? 'cancelled'
          : 'pending';
      const status = readOrderStatus(order) ?? told;
      return keepFields(STORED_RECORDS.orders, { ...order, status }, {});
    }),
  });
  const used = [...animals.keys(), ...readIds(inventory, 'petId'), ...readIds(listed, 'petId')];
  const highest = used.reduce<bigint | undefined>(
    (most, id) => (most === undefined || id > most ? id : most),
    undefined,
  );
  const known = new Set([...used, ...readIds(listed), ...named]);
  let unused = SENT_ID + 1n;
  while (known.has(unused)) unused += 1n;
  // An id that a double cannot hold shows more than others do.
  const ids = [...animals.keys()];
  const pet = ids.find((id) => !Number.isSafeInteger(Number(id))) ?? ids[0];
  const placeholders = new Map(
    Object.entries({ UNKNOWN: unused, LISTED: pet, STOCK: stock }).flatMap(([name, id]) =>
      id === undefined ? [] : [[name, `${id}`] as const],
    ),
  );
  const whole = { ...store, animals: store.animals.withHighestId(highest) };
  const openMock = prepareMock(whole, clock);
  return { lists, store: whole, clock, placeholders, hasOtherWriters: false, openMock };
}

/** The record with the fields that a mock can have, and defaults for required ones. */
function keepFields<T>(
  shape: Shape<T> & { readonly members: ObjectMembers },
  record: ReplyRecord,
  base: object,
): readonly T[] {
  const whole = readAs(shape, record);
  if (whole.ok) return [whole.value];
  const fields = Object.entries(shape.members).flatMap(([name, member]) => {
    const value = (/id$/i.test(name) ? readId(record, name) : undefined) ?? record[name];
    return readAs(member.shape, value).ok ? [[name, value]] : [];
  });
  const reading = readAs(shape, { ...base, ...Object.fromEntries(fields) });
  return reading.ok ? [reading.value] : [];
}
