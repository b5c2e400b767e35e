import {
  type CollectionName,
  type Fields,
  type RecordOf,
  STORED_RECORDS,
} from '../contract/records.ts';
import { object, optional } from '../shape/objects.ts';
import { ID, membersShape } from '../shape/record-shapes.ts';
import { choice, convert, either, list, type Shape } from '../shape/shapes.ts';
import { type CollectionChanges, ID_NAME } from '../store/merge.ts';

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
          `Records, merged by \`${ID_NAME[name]}\`: what one leaves out stays. A new one must be whole.`,
        ),
        remove: optional(REMOVED, 'Ids that are removed before `set`, or "all".'),
      },
      { expected: 'an object with `set` (an array of records) or `remove`' },
    ),
    ({ set = [], remove = [] }) => ({ set, remove }),
  );
}

const NO_CHANGES = { set: [], remove: [] };

/** Changes to the store that a sandbox starts with. */
export const STATE = convert(
  object({
    animals: optional(
      changesShape('animals', STORED_RECORDS.animals),
      'With an animal that is taken out go its inventory entry and its orders.',
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
