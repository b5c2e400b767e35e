import {
  type CollectionName,
  type Fields,
  type RecordOf,
  STORED_RECORDS,
} from '../contract/records.ts';
import { object, optional } from '../shape/objects.ts';
import { eachShape, ID, membersShape } from '../shape/record-shapes.ts';
import { choice, convert, either, list, oneOrMore, type Shape } from '../shape/shapes.ts';
import type { CollectionChanges, StoreChanges } from '../store/merge.ts';
import { ID_NAME } from '../store/store.ts';

const REMOVED: Shape<readonly bigint[] | 'all'> = either(
  choice(['all']),
  list(ID),
  'all, or an array of ids',
);

const NO_CHANGES = { set: [], each: [], remove: [] };

/** Changes to a collection; an array of records is short for `set`. */
function changesShape<const F extends Fields>(
  name: CollectionName,
  fields: F,
): Shape<CollectionChanges<RecordOf<F>>> {
  const id = ID_NAME[name];
  const records = list(membersShape(fields, [id]));
  return either(
    convert(records, (set) => ({ ...NO_CHANGES, set })),
    convert(
      object({
        set: optional(
          records,
          `Records, merged by \`${id}\`: members that one leaves out stay. A new one must be whole.`,
        ),
        remove: optional(REMOVED, 'Ids of records to remove, or `all`. Applied first.'),
        each: optional(
          oneOrMore(eachShape(fields, id)),
          'Changes to every remaining record, or to those that `where` matches. Applied before `set`; null removes an optional field.',
        ),
      }),
      ({ set = [], each = [], remove = [] }) => ({ set, each, remove }),
    ),
    'an array of records, or an object with `set`, `each` or `remove`',
  );
}

/** No changes to the store. */
export const UNCHANGED: StoreChanges = {
  animals: NO_CHANGES,
  inventory: NO_CHANGES,
  orders: NO_CHANGES,
};

/** Changes to the store. */
export const CHANGES: Shape<StoreChanges> = convert(
  object({
    animals: optional(
      changesShape('animals', STORED_RECORDS.animals),
      'Removing an animal also removes its inventory entry and orders.',
    ),
    inventory: optional(changesShape('inventory', STORED_RECORDS.inventory), 'Inventory entries.'),
    orders: optional(
      changesShape('orders', STORED_RECORDS.orders),
      'Orders, with their internal `status`.',
    ),
  }),
  ({ animals = NO_CHANGES, inventory = NO_CHANGES, orders = NO_CHANGES }) => ({
    animals,
    inventory,
    orders,
  }),
);
