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

/** Changes to a collection: an object or, if allowed, an array of records to set. */
function changesShape<const F extends Fields>(
  name: CollectionName,
  fields: F,
  arrays: boolean,
): Shape<CollectionChanges<RecordOf<F>>> {
  const id = ID_NAME[name];
  const records = list(membersShape(fields, [id]));
  const changes = convert(
    object(
      {
        set: optional(
          records,
          `Records, merged by \`${id}\`: members that one leaves out stay. A new one must be whole.`,
        ),
        remove: optional(REMOVED, 'Ids of records to remove, or `all`. Applied first.'),
        each: optional(
          oneOrMore(eachShape(fields, id)),
          'Changes to every remaining record, or to those that `where` matches. Applied before `set`; null removes an optional field.',
        ),
      },
      { expected: 'an object with `set` (an array of records), `each` or `remove`' },
    ),
    ({ set = [], each = [], remove = [] }) => ({ set, each, remove }),
  );
  if (!arrays) return changes;
  return either(
    convert(records, (set) => ({ ...NO_CHANGES, set })),
    changes,
    'an array of records, or an object with `set`, `each` or `remove`',
  );
}

function stateShape(arrays: boolean): Shape<StoreChanges> {
  return convert(
    object({
      animals: optional(
        changesShape('animals', STORED_RECORDS.animals, arrays),
        'Removing an animal also removes its inventory entry and orders.',
      ),
      inventory: optional(
        changesShape('inventory', STORED_RECORDS.inventory, arrays),
        'Inventory entries.',
      ),
      orders: optional(
        changesShape('orders', STORED_RECORDS.orders, arrays),
        'Orders, with their internal `status`.',
      ),
    }),
    ({ animals = NO_CHANGES, inventory = NO_CHANGES, orders = NO_CHANGES }) => ({
      animals,
      inventory,
      orders,
    }),
  );
}

export const UNCHANGED: StoreChanges = {
  animals: NO_CHANGES,
  inventory: NO_CHANGES,
  orders: NO_CHANGES,
};

/** Changes to the store that a sandbox starts with. */
export const STATE = stateShape(false);

/** The same, in which an array of records is short for `set`. */
export const CHANGES = stateShape(true);
