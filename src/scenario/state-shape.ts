import { INT64_MAX, INT64_MIN, toInt64 } from '../contract/int64.ts';
import {
  type CollectionName,
  FIELD_TYPES,
  type Field,
  type Fields,
  type RecordOf,
  STORED_RECORDS,
} from '../contract/records.ts';
import { type Member, object, optional } from '../shape/objects.ts';
import { choice, convert, either, list, type Shape, scalar } from '../shape/shapes.ts';
import { type CollectionChanges, ID_NAME } from '../store/merge.ts';

const INT64_BOUNDS = { minimum: Number(INT64_MIN), maximum: Number(INT64_MAX) };

const ID: Shape<bigint> = scalar({
  kinds: ['number'],
  expected: FIELD_TYPES.int64.expected,
  schema: { ...FIELD_TYPES.int64.schema, ...INT64_BOUNDS },
  read: toInt64,
});

function fieldShape({ type, seen }: Field): Shape<unknown> {
  const { expected, schema, read } = FIELD_TYPES[type];
  const words = 'enum' in schema ? schema.enum : undefined;
  const bounds = type === 'int64' && INT64_BOUNDS;
  const safe = type === 'integer' && {
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
  };
  // Completion in an editor offers examples, and takes any other value too.
  const examples = seen !== undefined && { examples: seen };
  return scalar<unknown>({
    kinds: ['string', 'number', 'boolean'],
    expected,
    schema: { ...schema, ...bounds, ...safe, ...examples },
    ...(words !== undefined && { words }),
    read,
  });
}

/** Members of a record; only the id must be among them. */
function recordShape<const F extends Fields>(
  name: CollectionName,
  fields: F,
): Shape<Partial<RecordOf<F>>> {
  const members = Object.entries(fields).map(([field, it]): [string, Member<unknown>] => [
    field,
    { shape: fieldShape(it), required: field === ID_NAME[name], description: it.description },
  ]);
  return convert(object(Object.fromEntries(members)), (record) =>
    isPartial(fields, record) ? record : undefined,
  );
}

function isPartial<F extends Fields>(
  fields: F,
  record: Readonly<Record<string, unknown>>,
): record is Partial<RecordOf<F>> {
  return Object.entries(record).every(([name, value]) => {
    const field = fields[name];
    return field !== undefined && FIELD_TYPES[field.type].read(value) !== undefined;
  });
}

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
    object({
      set: optional(
        list(recordShape(name, fields)),
        `Records, merged by \`${ID_NAME[name]}\`: what one leaves out stays. A new one must be whole.`,
      ),
      remove: optional(REMOVED, 'Ids that are taken out before `set`, or "all".'),
    }),
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
