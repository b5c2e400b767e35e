import { INT64_MAX, INT64_MIN, toInt64 } from '../contract/int64.ts';
import {
  DATE_TIME,
  FIELD_TYPES,
  type Field,
  type Fields,
  type RecordOf,
  STORED_RECORDS,
} from '../contract/records.ts';
import { type Member, object } from './objects.ts';
import { convert, either, NULL, type Shape, scalar } from './shapes.ts';

const INT64_BOUNDS = { minimum: Number(INT64_MIN), maximum: Number(INT64_MAX) };

/** Keywords that a field's type adds to the schema of the service's document. */
const STRICTER: Partial<Record<Field['type'], object>> = {
  int64: INT64_BOUNDS,
  integer: { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  dateTime: { pattern: DATE_TIME.source },
};

/** The id of a record. */
export const ID: Shape<bigint> = scalar({
  kinds: ['number'],
  expected: FIELD_TYPES.int64.expected,
  schema: { ...FIELD_TYPES.int64.schema, ...INT64_BOUNDS },
  read: toInt64,
});

function fieldShape({ type, seen }: Field): Shape<unknown> {
  const { expected, schema, read } = FIELD_TYPES[type];
  const words = 'enum' in schema ? schema.enum : undefined;
  // An editor offers examples for completion, and accepts other values.
  const examples = seen !== undefined && { examples: seen };
  return scalar<unknown>({
    kinds: ['string', 'number', 'boolean'],
    expected,
    schema: { ...schema, ...STRICTER[type], ...examples },
    ...(words !== undefined && { words }),
    read,
  });
}

/** A whole record. */
export function recordShape<const F extends Fields>(fields: F): Shape<RecordOf<F>> {
  const members = membersOf(fields, ({ required }) => required);
  return convert(object(members), (record) => (isRecord<RecordOf<F>>(record) ? record : undefined));
}

/** The records of a store. */
export const RECORD_SHAPES = {
  animals: recordShape(STORED_RECORDS.animals),
  inventory: recordShape(STORED_RECORDS.inventory),
  orders: recordShape(STORED_RECORDS.orders),
} as const;

/** Members of a record, of which only those in `required` must be there. */
export function membersShape<const F extends Fields>(
  fields: F,
  required: readonly (keyof F)[],
): Shape<Partial<RecordOf<F>>> {
  const members = membersOf(fields, (_, name) => required.includes(name));
  return convert(object(members), (record) =>
    isRecord<Partial<RecordOf<F>>>(record) ? record : undefined,
  );
}

/** Members of a record that change; null removes an optional one (RFC 7396). */
export function changesShape(fields: Fields): Shape<Readonly<Record<string, unknown>>> {
  const members = Object.entries(fields).map(([name, field]): [string, Member<unknown>] => {
    const shape = fieldShape(field);
    const changed = field.required ? shape : either(shape, NULL, shape.expected);
    return [name, { shape: changed, required: false, description: field.description }];
  });
  return object(Object.fromEntries(members));
}

function membersOf(
  fields: Fields,
  isRequired: (field: Field, name: string) => boolean,
): Readonly<Record<string, Member<unknown>>> {
  const members = Object.entries(fields).map(([name, field]): [string, Member<unknown>] => [
    name,
    { shape: fieldShape(field), required: isRequired(field, name), description: field.description },
  ]);
  return Object.fromEntries(members);
}

/** Each field was read by its type, which the compiler cannot follow. */
function isRecord<R extends object>(_record: object): _record is R {
  return true;
}
