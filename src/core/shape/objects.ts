import { isObject, type Json } from '../json.ts';
import { describe, joinWords } from '../words.ts';
import {
  type InputOf,
  named,
  nearWord,
  type ReportMisfit,
  type Shape,
  type ValueOf,
  type ValuePath,
} from './shapes.ts';

export interface Member<T, Required extends boolean = boolean, In = unknown> {
  readonly shape: Shape<T, In>;
  readonly required: Required;
  readonly description: string;
  readonly example?: In | undefined;
  /** The value to use if an optional member is left out. */
  readonly default?: unknown;
}

export function optional<T, In>(
  shape: Shape<T, In>,
  description: string,
  example?: NoInfer<In>,
): Member<T, false, In> {
  return { shape, required: false, description, example };
}

export function required<T, In>(
  shape: Shape<T, In>,
  description: string,
  example?: NoInfer<In>,
): Member<T, true, In> {
  return { shape, required: true, description, example };
}

export type ObjectMembers = Readonly<Record<string, Member<unknown>>>;

/** The members of an object with the given value types; optional members may be left out. */
type MembersOf<
  M extends ObjectMembers,
  Values extends Readonly<Record<keyof M, unknown>>,
> = Simplify<
  {
    readonly [Name in keyof M as M[Name]['required'] extends true ? Name : never]: Values[Name];
  } & {
    readonly [Name in keyof M as M[Name]['required'] extends true ? never : Name]?:
      | Values[Name]
      | undefined;
  }
>;

type Simplify<T> = { readonly [Name in keyof T]: T[Name] };

type ValuesOf<M extends ObjectMembers> = MembersOf<M, { [N in keyof M]: ValueOf<M[N]['shape']> }>;
export type InputsOf<M extends ObjectMembers> = MembersOf<
  M,
  { [N in keyof M]: InputOf<M[N]['shape']> }
>;

export interface ObjectShape<M extends ObjectMembers = ObjectMembers>
  extends Shape<ValuesOf<M>, InputsOf<M>> {
  readonly members: M;
}

interface ObjectOptions {
  readonly expected?: string;
  /** Describes valid names where a list of all of them would be too long. */
  readonly expectedName?: string;
  /** Whether an empty object is refused. */
  readonly some?: true;
  /** Whether unknown members are ignored rather than reported. */
  readonly open?: true;
}

export function object<const M extends ObjectMembers>(
  members: M,
  { expected = 'an object', expectedName, some, open }: ObjectOptions = {},
): ObjectShape<M> {
  const known: ObjectMembers = members;
  const names = Object.keys(members);
  const entries = Object.entries<Member<unknown>>(members);
  return {
    members,
    schema: {
      ...objectSchema(members),
      ...(some && { minProperties: 1 }),
      ...(!open && { additionalProperties: false }),
    },
    expected,
    part: (name) => known[name]?.shape,
    likeness: (value) =>
      isObject(value) ? 1 + names.filter((name) => Object.hasOwn(value, name)).length : 0,
    read(value, at, report) {
      if (!isObject(value)) return report({ at, expected, found: describe(value) });
      let whole = open === true || reportUnknown(value, members, expectedName, at, report);
      const values: Record<string, unknown> = {};
      for (const [name, { shape, required, default: byDefault }] of entries) {
        if (Object.hasOwn(value, name)) {
          at.push(name);
          const member = shape.read(value[name], at, report);
          at.pop();
          if (member === undefined) whole = false;
          else values[name] = member;
        } else if (required) {
          report({ at: [...at, name], expected: shape.expected, found: 'nothing' });
          whole = false;
        } else if (byDefault !== undefined) values[name] = byDefault;
      }
      if (whole && some && Object.keys(values).length === 0) {
        return report({ at, expected: joinWords(names, 'or'), found: 'an empty object' });
      }
      // The compiler cannot see that every member has been read.
      return whole ? (values as ValuesOf<M>) : undefined;
    },
  };
}

/** An object with a name, under which an OpenAPI document lists its schema. */
export function namedObject<const M extends ObjectMembers>(
  name: string,
  members: M,
  options?: ObjectOptions,
): ObjectShape<M> {
  const shape = object(members, options);
  return { ...shape, ...named(name, shape) };
}

function objectSchema(members: ObjectMembers): Json {
  const entries = Object.entries(members);
  const required = entries.filter(([, member]) => member.required).map(([name]) => name);
  const properties = entries.map(([name, { shape, description }]) => [
    name,
    { description, ...shape.schema },
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}

function reportUnknown(
  value: Readonly<Record<string, unknown>>,
  members: ObjectMembers,
  expected: string | undefined,
  at: ValuePath,
  report: ReportMisfit,
): boolean {
  let known = true;
  const names = Object.keys(members);
  for (const name in value) {
    if (Object.hasOwn(members, name)) continue;
    known = false;
    report({
      at: [...at, name],
      ofName: true,
      expected: expected ?? joinWords(names, 'or'),
      found: describe(name),
      hint: () => suggestMember(name, members, value),
    });
  }
  return known;
}

function suggestMember(name: string, members: ObjectMembers, value: object): string {
  // YAML reads `{ calls: 2,4 }` as two members, `calls` and `4`.
  if (/^\d+-?\d*$/.test(name)) return ' (inside braces, quote a value that contains a comma)';
  const hint = nearWord(name, Object.keys(members));
  if (hint !== '') return hint;
  const missing = Object.entries(members).filter(
    ([member, { required }]) => required && !Object.hasOwn(value, member),
  );
  return missing.length === 1 ? ` (did you mean ${missing[0]?.[0]}?)` : '';
}

/** An object with arbitrary names that match a pattern, and values of one shape. */
export function dictionary<T, In>(
  values: Shape<T, In>,
  pattern: RegExp,
  { expected, expectedName }: Required<Pick<ObjectOptions, 'expected' | 'expectedName'>>,
): Shape<ReadonlyMap<string, T>, Readonly<Record<string, In>>> {
  return {
    schema: {
      type: 'object',
      propertyNames: { pattern: pattern.source },
      additionalProperties: values.schema,
    },
    expected,
    likeness: (value) => (isObject(value) ? 1 : 0),
    read(value, at, report) {
      if (!isObject(value)) return report({ at, expected, found: describe(value) });
      const entries = Object.entries(value);
      const map = new Map<string, T>();
      for (const [name, member] of entries) {
        at.push(name);
        const read = values.read(member, at, report);
        if (!pattern.test(name)) {
          report({ at, ofName: true, expected: expectedName, found: describe(name) });
        } else if (read !== undefined) map.set(name, read);
        at.pop();
      }
      return map.size === entries.length ? map : undefined;
    },
  };
}
