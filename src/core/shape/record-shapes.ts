import { BASE_URL_FORM, parseBaseUrl } from '../contract/base-url.ts';
import { parseDateTime } from '../contract/date-time.ts';
import {
  type CollectionName,
  type Field,
  type Fields,
  type FieldValues,
  ORDER_STATUSES,
  type RecordOf,
  STORED_RECORDS,
  type StoredRecord,
} from '../contract/records.ts';
import { type Int64, toInt64 } from '../json.ts';
import { LIMITS } from '../limits.ts';
import { joinWords } from '../words.ts';
import { type Member, object, optional } from './objects.ts';
import {
  ANY_TEXT,
  choice,
  convert,
  either,
  FLAG,
  NULL,
  type OneOrMore,
  oneOrMore,
  type Shape,
  scalar,
  withTypes,
} from './shapes.ts';

/** The JSON of a record: an int64 is a bigint only where a double would lose digits. */
export type JsonRecord<R> = { readonly [Name in keyof R]: JsonOf<R[Name]> };

type JsonOf<T> = bigint extends T ? Int64 | Exclude<T, bigint> : T;

/** Some fields of a record, and those that it must have. */
export type PartialRecord<R, Required extends PropertyKey> = Partial<JsonRecord<R>> &
  JsonRecord<Pick<R, Required & keyof R>>;

/** Fields to change; null removes an optional one (RFC 7396). */
export type RecordChanges<R> = {
  readonly [Name in keyof R]?:
    | JsonOf<R[Name]>
    | (undefined extends R[Name] ? null : never)
    | undefined;
};

/** Fields to change in each record with one of the values in `where`; null matches an absent field. */
type EachChange<R, Id extends PropertyKey> = RecordChanges<Omit<R, Id>> & {
  readonly where?: { readonly [Name in keyof R]?: OneOrMore<RecordChanges<R>[Name]> } | undefined;
};

/** By field, the values of which a record must have one, and the changes of those that have them. */
export interface BulkChange {
  readonly where: ReadonlyMap<string, ReadonlySet<unknown>>;
  readonly change: Readonly<Record<string, unknown>>;
}

export const DATE_TIME = scalar<string>(
  'an ISO 8601 date-time such as "2026-11-21T09:30:00Z"',
  { type: 'string', format: 'date-time' },
  (value) => (typeof value === 'string' && parseDateTime(value) !== undefined ? value : undefined),
);

/** Lists, the journal and remembered states hold whole records, so their cost is bounded with this. */
function bounded(shape: Shape<string, string>): Shape<string, string> {
  const { max } = LIMITS.recordText;
  return {
    ...shape,
    read(value, at, report) {
      if (typeof value !== 'string' || value.length <= max) return shape.read(value, at, report);
      return report({ at, expected: `at most ${max} characters`, found: `${value.length}` });
    },
  };
}

export const FIELD_SHAPES: {
  readonly [Type in keyof FieldValues]: Shape<FieldValues[Type], JsonOf<FieldValues[Type]>>;
} = {
  int64: scalar<bigint, Int64>(
    'an integer from -2^63 to 2^63-1',
    { type: 'integer', format: 'int64' },
    toInt64,
  ),
  integer: scalar(
    'an integer from -(2^53-1) to 2^53-1, the limit of the mock',
    { type: 'integer' },
    (value) => (typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined),
  ),
  string: bounded(ANY_TEXT),
  boolean: FLAG,
  dateTime: bounded(DATE_TIME),
  orderStatus: choice(ORDER_STATUSES),
};

export const ID = FIELD_SHAPES.int64;

function fieldShape({ type, seen }: Field): Shape<unknown> {
  const shape = FIELD_SHAPES[type];
  // An editor offers examples for completion, and accepts other values.
  const more = seen && { examples: seen, 'x-seen-values': seen };
  return { ...shape, schema: { ...shape.schema, ...more } };
}

export function fieldShapes(fields: Fields): Readonly<Record<string, Shape<unknown>>> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { type }]) => [name, FIELD_SHAPES[type]]),
  );
}

function recordShape<const F extends Fields>(fields: F, options: { readonly open?: true } = {}) {
  const members = createMembers(fields, fieldShape, ({ required }) => required);
  const whole = Object.entries(members).map(([name, member]) => [
    name,
    { ...member, default: fields[name]?.default },
  ]);
  return withTypes<RecordOf<F>, JsonRecord<RecordOf<F>>>(
    object(Object.fromEntries(whole), options),
  );
}

const OPEN = new WeakMap<Fields, Shape<unknown>>();

/** A record of a client or a deployment. Leaves out members that are not fields: see `unknownMembers`. */
export function lenientRecord<const F extends Fields>(fields: F): Shape<RecordOf<F>> {
  const shape = OPEN.get(fields) ?? recordShape(fields, { open: true });
  OPEN.set(fields, shape);
  return withTypes(shape);
}

export const RECORD_SHAPES: {
  readonly [Name in CollectionName]: Shape<StoredRecord[Name], JsonRecord<StoredRecord[Name]>>;
} = {
  animals: recordShape(STORED_RECORDS.animals),
  inventory: recordShape(STORED_RECORDS.inventory),
  orders: recordShape(STORED_RECORDS.orders),
};

export function membersShape<const F extends Fields, Required extends keyof F & string>(
  fields: F,
  required: readonly Required[],
) {
  const members = createMembers(fields, fieldShape, (_, name) =>
    required.some((known) => known === name),
  );
  return withTypes<Partial<RecordOf<F>>, PartialRecord<RecordOf<F>, Required>>(object(members));
}

export function changesShape<const F extends Fields>(fields: F) {
  return withTypes<Readonly<Record<string, unknown>>, RecordChanges<RecordOf<F>>>(
    object(createMembers(fields, nullableShape)),
  );
}

/** Changes of every record that `where` matches, beside it. `id` stays. */
export function eachShape<const F extends Fields, Id extends keyof F & string>(
  fields: F,
  id: Id,
): Shape<BulkChange, EachChange<RecordOf<F>, Id>> {
  const idName: string = id;
  const { [idName]: _, ...changeable } = createMembers(fields, nullableShape);
  const names = Object.keys(changeable);
  const where = object(createMembers(fields, (field) => oneOrMore(nullableShape(field))));
  const shape: Shape<BulkChange> = convert(
    object(
      { ...changeable, where: optional(where, 'Only records with these values change.') },
      { expected: `an object with ${joinWords(names, 'or')}` },
    ),
    ({ where = {}, ...change }, at, report) => {
      if (Object.keys(change).length === 0) {
        return report({ at, expected: joinWords(names, 'or'), found: 'nothing to change' });
      }
      const sets = Object.entries(where).map(([name, values]) => [name, new Set(values)] as const);
      return { where: new Map(sets), change };
    },
  );
  return withTypes(shape);
}

/** The record after changes that a shape has read, with its members in the order of `fields`. */
export function applyRecordChanges<R extends Readonly<Record<string, unknown>>>(
  fields: Fields,
  record: R,
  changes: Readonly<Record<string, unknown>>,
): R {
  const members: Record<string, unknown> = {};
  for (const name in fields) {
    const given = Object.hasOwn(changes, name) ? changes[name] : record[name];
    const value = given ?? fields[name]?.default;
    if (value !== undefined) members[name] = value;
  }
  // What is not changed is the record's, and shapes have read the changes.
  return members as R;
}

function nullableShape(field: Field): Shape<unknown> {
  const shape = fieldShape(field);
  return field.required ? shape : either(shape, NULL, shape.expected);
}

function createMembers<T>(
  fields: Fields,
  shapeOf: (field: Field) => Shape<T>,
  isRequired: (field: Field, name: string) => boolean = () => false,
): Readonly<Record<string, Member<T>>> {
  const members = Object.entries(fields).map(([name, field]): [string, Member<T>] => [
    name,
    { shape: shapeOf(field), required: isRequired(field, name), description: field.description },
  ]);
  return Object.fromEntries(members);
}

const HTTP = /^https?:\/\/[^\s/?#@\\]+(?:\/[\w.~!$&'()*+,;=:@%-]*)*$/;

export const BASE_URL = scalar<URL, string>(
  BASE_URL_FORM,
  { type: 'string', pattern: HTTP.source },
  (value) => (typeof value === 'string' && HTTP.test(value) ? parseBaseUrl(value) : undefined),
);
