import { isObject } from '../contract/records.ts';
import { describe, listed } from '../words.ts';
import { type At, foundWord, type Json, type Shape, type Tell } from './shapes.ts';

/** One member of an object. */
export interface Member<T, Required extends boolean = boolean> {
  readonly shape: Shape<T>;
  readonly required: Required;
  readonly description: string;
}

export function optional<T>(shape: Shape<T>, description: string): Member<T, false> {
  return { shape, required: false, description };
}

export function required<T>(shape: Shape<T>, description: string): Member<T, true> {
  return { shape, required: true, description };
}

type Members = Readonly<Record<string, Member<unknown>>>;

/** The values that members read: those that are optional may be undefined. */
export type ValuesOf<M extends Members> = {
  readonly [Name in keyof M]: M[Name] extends Member<infer T, infer Required>
    ? Required extends true
      ? T
      : T | undefined
    : never;
};

interface ObjectOptions {
  readonly expected?: string;
  /** What is expected of a name, where listing all of them would be too long. */
  readonly expectedName?: string;
  readonly schema?: Json;
}

/** An object with these members and no others. */
export function object<const M extends Members>(
  members: M,
  { expected = 'an object', expectedName, schema = {} }: ObjectOptions = {},
): Shape<ValuesOf<M>> {
  const names = Object.keys(members);
  return {
    schema: objectSchema(members, schema),
    expected,
    likeness: (value) =>
      isObject(value) ? 1 + names.filter((name) => Object.hasOwn(value, name)).length : 0,
    read(value, at, tell) {
      if (!isObject(value)) {
        tell({ at, expected, found: describe(value) });
        return undefined;
      }
      let whole = tellUnknown(value, names, expectedName ?? listed(names, 'or'), at, tell);
      const values: Record<string, unknown> = {};
      for (const [name, { shape, required }] of Object.entries<Member<unknown>>(members)) {
        const place = [...at, name];
        if (Object.hasOwn(value, name)) {
          values[name] = shape.read(value[name], place, tell);
          whole &&= values[name] !== undefined;
        } else if (required) {
          tell({ at: place, expected: shape.expected, found: 'nothing' });
          whole = false;
        }
      }
      return whole && isWhole(members, values) ? values : undefined;
    },
  };
}

function isWhole<M extends Members>(
  members: M,
  values: Readonly<Record<string, unknown>>,
): values is ValuesOf<M> {
  return Object.entries(members).every(
    ([name, { required }]) => !required || values[name] !== undefined,
  );
}

function objectSchema(members: Members, schema: Json): Json {
  const entries = Object.entries(members);
  const required = entries.filter(([, it]) => it.required).map(([name]) => name);
  const properties = entries.map(([name, { shape, description }]) => [
    name,
    { description, ...shape.schema },
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    ...schema,
  };
}

function tellUnknown(
  value: object,
  names: readonly string[],
  expected: string,
  at: At,
  tell: Tell,
): boolean {
  const unknown = Object.keys(value).filter((name) => !names.includes(name));
  for (const name of unknown) {
    // YAML takes `{ calls: 2,4 }` for two members.
    const found = /^\d+-?\d*$/.test(name)
      ? `${describe(name)} (what has a comma needs quotes in braces)`
      : foundWord(name, names);
    tell({ at: [...at, name], ofName: true, expected, found });
  }
  return unknown.length === 0;
}

interface MapOptions {
  readonly expected: string;
  /** What a name looks like. */
  readonly name: RegExp;
  readonly expectedName: string;
}

/** An object with any names of a kind, and values of one shape. */
export function mapOf<T>(
  values: Shape<T>,
  { expected, name: pattern, expectedName }: MapOptions,
): Shape<ReadonlyMap<string, T>> {
  return {
    schema: {
      type: 'object',
      propertyNames: { pattern: pattern.source },
      additionalProperties: values.schema,
    },
    expected,
    likeness: (value) => (isObject(value) ? 1 : 0),
    read(value, at, tell) {
      if (!isObject(value)) {
        tell({ at, expected, found: describe(value) });
        return undefined;
      }
      const entries = Object.entries(value);
      const map = new Map<string, T>();
      for (const [name, member] of entries) {
        const place = [...at, name];
        const read = values.read(member, place, tell);
        if (!pattern.test(name)) {
          tell({ at: place, ofName: true, expected: expectedName, found: describe(name) });
        } else if (read !== undefined) map.set(name, read);
      }
      return map.size === entries.length ? map : undefined;
    },
  };
}
