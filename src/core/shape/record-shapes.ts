import { plainNumber } from '../json.ts';
import { joinWords } from '../words.ts';
import { type Member, type ObjectMembers, type ObjectShape, object, optional } from './objects.ts';
import {
  convert,
  either,
  type InputOf,
  NULL,
  type OneOrMore,
  oneOrMore,
  type Shape,
} from './shapes.ts';

/** The members to change; null removes an optional one (RFC 7396). */
export type RecordChanges<M extends ObjectMembers> = {
  readonly [Name in keyof M]?:
    | InputOf<M[Name]['shape']>
    | (M[Name]['required'] extends true ? never : null)
    | undefined;
};

type IdOf<M extends ObjectMembers, Id extends keyof M> = {
  readonly [Name in Id]: InputOf<M[Name]['shape']>;
};

/** Members to change in each record that `where` matches; null there means absent. */
type EachChange<M extends ObjectMembers, Id extends keyof M> = Omit<RecordChanges<M>, Id> & {
  readonly where?:
    | { readonly [Name in keyof M]?: OneOrMore<RecordChanges<M>[Name]> | undefined }
    | undefined;
};

/** The accepted values of each member; null matches an absent one. */
export type Where = ReadonlyMap<string, ReadonlySet<unknown>>;

/** @param read converts a record's value to what `where` compares with */
export function matchesWhere(record: object, where: Where, read = plainNumber): boolean {
  for (const [name, wanted] of where) {
    const value: unknown = Object.hasOwn(record, name) ? Reflect.get(record, name) : null;
    if (!wanted.has(read(value))) return false;
  }
  return true;
}

/** A change of all records that `where` matches. */
export interface BulkChange {
  readonly where: Where;
  readonly change: Readonly<Record<string, unknown>>;
}

/** An object of these members of which only those in `names` are required. */
export function partOf(members: ObjectMembers, names: readonly string[]): ObjectShape {
  const withoutDefaults = mapMembers(members, ({ shape, description }, name) => ({
    shape,
    description,
    required: names.includes(name),
  }));
  return object(withoutDefaults);
}

/** @param id the member that names the record to change, and is required */
export function changesOf<const M extends ObjectMembers, Id extends keyof M & string = never>(
  members: M,
  id?: Id,
): Shape<Readonly<Record<string, unknown>>, RecordChanges<M> & IdOf<M, Id>>;
export function changesOf(
  members: ObjectMembers,
  id?: string,
): Shape<Readonly<Record<string, unknown>>> {
  return object(mapMembers(members, (member, name) => (name === id ? member : nullable(member))));
}

/** A change of every record that `where` matches. It cannot change the id. */
export function eachOf<const M extends ObjectMembers, Id extends keyof M & string>(
  members: M,
  id: Id,
): Shape<BulkChange, EachChange<M, Id>>;
export function eachOf(members: ObjectMembers, id: string): Shape<BulkChange> {
  const { [id]: _, ...changeable } = mapMembers(members, nullable);
  const names = Object.keys(changeable);
  const where = object(
    mapMembers(members, (member) => {
      const { shape, description } = nullable(member);
      return optional(oneOrMore(shape), description);
    }),
  );
  return convert(
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
}

/** Applies changes that were read by a shape. Members keep their order. */
export function applyRecordChanges<R extends Readonly<Record<string, unknown>>>(
  members: ObjectMembers,
  record: R,
  changes: Readonly<Record<string, unknown>>,
): R {
  const changed: Record<string, unknown> = {};
  for (const name in members) {
    const given = Object.hasOwn(changes, name) ? changes[name] : record[name];
    const value = given ?? members[name]?.default;
    if (value !== undefined) changed[name] = value;
  }
  // Members are either the record's own or were read by shapes.
  return changed as R;
}

function nullable({ shape, required, description }: Member<unknown>): Member<unknown, false> {
  return optional(required ? shape : either(shape, NULL, shape.expected), description);
}

function mapMembers<T>(
  members: ObjectMembers,
  change: (member: Member<unknown>, name: string) => T,
): Readonly<Record<string, T>> {
  return Object.fromEntries(
    Object.entries(members).map(([name, member]) => [name, change(member, name)]),
  );
}
