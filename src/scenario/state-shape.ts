import {
  type CollectionName,
  type Fields,
  type RecordOf,
  STORED_RECORDS,
} from '../contract/records.ts';
import { object, optional } from '../shape/objects.ts';
import { eachShape, ID, membersShape } from '../shape/record-shapes.ts';
import { choice, convert, either, list, oneOrMore, type Shape } from '../shape/shapes.ts';
import { type CollectionChanges, ID_NAME, type StoreChanges } from '../store/merge.ts';

const REMOVED: Shape<readonly bigint[] | 'all'> = either(
  choice(['all']),
  list(ID),
  'all, or an array of ids',
);

function changesShape<const F extends Fields>(
  name: CollectionName,
  fields: F,
): Shape<CollectionChanges<RecordOf<F>>> {
  return convert(
    object(
      {
        set: optional(
          list(membersShape(fields, [ID_NAME[name]])),
          `Records, merged by \`${ID_NAME[name]}\`: members that one leaves out stay. A new one must be whole.`,
        ),
        remove: optional(REMOVED, 'Ids of records to remove, or `all`. Applied first.'),
        each: optional(
          oneOrMore(eachShape(fields, ID_NAME[name])),
          'Changes to every remaining record, or to those that `where` matches. Applied before `set`; null removes an optional field.',
        ),
      },
      { expected: 'an object with `set` (an array of records), `each` or `remove`' },
    ),
    ({ set = [], each = [], remove = [] }) => ({ set, each, remove }),
  );
}

/** Changes to a collection, or an array of the records to set. */
function changesOrRecords<const F extends Fields>(
  name: CollectionName,
  fields: F,
): Shape<CollectionChanges<RecordOf<F>>> {
  const records = list(membersShape(fields, [ID_NAME[name]]));
  return either(
    convert(records, (set) => ({ ...NO_CHANGES, set })),
    changesShape(name, fields),
    'an array of records, or an object with `set`, `each` or `remove`',
  );
}

type ChangesShapes = {
  readonly [Name in CollectionName]: Shape<StoreChanges[Name]>;
};

function stateShape({ animals, inventory, orders }: ChangesShapes): Shape<StoreChanges> {
  return convert(
    object({
      animals: optional(
        animals,
        'With an animal that is removed go its inventory entry and orders.',
      ),
      inventory: optional(inventory, 'Inventory entries.'),
      orders: optional(orders, 'Orders, with their internal `status`.'),
    }),
    ({ animals = NO_CHANGES, inventory = NO_CHANGES, orders = NO_CHANGES }) => ({
      animals,
      inventory,
      orders,
    }),
  );
}

const NO_CHANGES = { set: [], each: [], remove: [] };

export const UNCHANGED: StoreChanges = {
  animals: NO_CHANGES,
  inventory: NO_CHANGES,
  orders: NO_CHANGES,
};

/** Changes to the store that a sandbox starts with. */
export const STATE = stateShape({
  animals: changesShape('animals', STORED_RECORDS.animals),
  inventory: changesShape('inventory', STORED_RECORDS.inventory),
  orders: changesShape('orders', STORED_RECORDS.orders),
});

/** The same, in which an array of records is short for `set`. */
export const CHANGES = stateShape({
  animals: changesOrRecords('animals', STORED_RECORDS.animals),
  inventory: changesOrRecords('inventory', STORED_RECORDS.inventory),
  orders: changesOrRecords('orders', STORED_RECORDS.orders),
});
