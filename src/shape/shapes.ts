import { isLosslessNumber } from 'lossless-json';
import { isObject, type Problem, type Reading } from '../contract/records.ts';
import { describe, listed, suggest } from '../words.ts';

/** A JSON Schema, or a part of one. */
export type Json = Readonly<Record<string, unknown>>;

/** Where a value is: names of members and positions in arrays, from the top. */
export type At = readonly (string | number)[];

/** How a path such as `$.animals[0]` goes on to a member. */
export function memberPath(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

/** A place as messages have it: `$.rules[0].on`. */
export function pathText(at: At): string {
  return `$${at.map((step) => (typeof step === 'number' ? `[${step}]` : memberPath(step))).join('')}`;
}

/** A value that does not have its shape. */
export interface Misfit {
  readonly at: At;
  /** Whether the last name in `at` is wrong, rather than the value under it. */
  readonly ofName?: boolean;
  readonly expected: string;
  readonly found: string;
}

export type Tell = (misfit: Misfit) => void;

/** A misfit with its place as text. */
export interface ShapeProblem extends Problem, Misfit {}

/**
 * One definition of a value. Its reader, its JSON Schema and its TypeScript type are made of it, so
 * they cannot disagree.
 */
export interface Shape<T> {
  readonly schema: Json;
  /** What a message says was expected. */
  readonly expected: string;
  /** How well a value matches this alternative of several: 0 if its JSON type differs. */
  readonly likeness: (value: unknown) => number;
  /**
   * The value, or undefined after a misfit was told.
   *
   * @param at the place of the value. Readers share this array and change it: `readAs` copies it.
   */
  readonly read: (value: unknown, at: (string | number)[], tell: Tell) => T | undefined;
}

/** The type of the values that a shape reads. */
export type ValueOf<S> = S extends Shape<infer T> ? T : never;

/** Reads a parsed JSON or YAML value, and reports every misfit. */
export function readAs<T>(shape: Shape<T>, value: unknown): Reading<T, ShapeProblem> {
  const problems: ShapeProblem[] = [];
  const read = shape.read(value, [], (misfit) => problems.push(problemOf(misfit)));
  return read === undefined || problems.length > 0
    ? { ok: false, problems }
    : { ok: true, value: read };
}

export function problemOf(misfit: Misfit): ShapeProblem {
  const at = [...misfit.at];
  return { ...misfit, at, path: pathText(at) };
}

/** The same shape with a name, under which an OpenAPI document lists its schema. */
export function named<T>(name: string, shape: Shape<T>): Shape<T> {
  return { ...shape, schema: { title: name, ...shape.schema } };
}

type Kind = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object';

function kindOf(value: unknown): Kind | undefined {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint' || typeof value === 'number' || isLosslessNumber(value)) {
    return 'number';
  }
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  return isObject(value) ? 'object' : undefined;
}

interface ScalarOptions<T> {
  readonly kinds: readonly Kind[];
  readonly expected: string;
  readonly schema: Json;
  /** Words that a misspelt one may have been meant for. */
  readonly words?: readonly string[];
  readonly read: (value: unknown) => T | undefined;
}

/** A value without members. */
export function scalar<T>({ kinds, expected, schema, words, read }: ScalarOptions<T>): Shape<T> {
  return {
    schema,
    expected,
    likeness: (value) => (kinds.some((kind) => kind === kindOf(value)) ? 1 : 0),
    read(value, at, tell) {
      const result = read(value);
      if (result === undefined) tell({ at, expected, found: foundWord(value, words) });
      return result;
    },
  };
}

/** A value that was found, with the nearest of the right words where it is none of them. */
export function foundWord(value: unknown, words: readonly string[] = []): string {
  // Nothing is near to a word that is shorter than what may differ.
  const hint = typeof value === 'string' && value.length > 2 ? suggest(value, words) : '';
  return `${describe(value)}${hint}`;
}

/** A string that matches a pattern. */
export function text(
  expected = 'a string that is not empty',
  pattern = /./,
  schema: Json = { minLength: 1 },
): Shape<string> {
  return scalar({
    kinds: ['string'],
    expected,
    schema: { type: 'string', ...schema },
    read: (value) => (typeof value === 'string' && pattern.test(value) ? value : undefined),
  });
}

/** Any string. */
export const ANY_TEXT = text('a string', /^/, {});

/** Any JSON value. */
export const ANY: Shape<unknown> = {
  schema: {},
  expected: 'a JSON value',
  likeness: () => 1,
  read: (value) => value,
};

/** One of some words. */
export function choice<const Word extends string>(words: readonly Word[]): Shape<Word> {
  return scalar({
    kinds: ['string'],
    expected: listed(words, 'or'),
    schema: { enum: words },
    words,
    read: (value) => words.find((word) => word === value),
  });
}

/** A number within bounds, both included. */
export function number(min: number, max: number, expected: string): Shape<number> {
  return scalar({
    kinds: ['number'],
    expected,
    schema: { type: 'number', minimum: min, maximum: max },
    read: (value) =>
      typeof value === 'number' && value >= min && value <= max ? value : undefined,
  });
}

/** An integer within bounds, both included. */
export function integer(min: number, max: number, expected?: string): Shape<number> {
  return scalar({
    kinds: ['number'],
    expected: expected ?? `an integer from ${min} to ${max}`,
    schema: { type: 'integer', minimum: min, maximum: max },
    read: (value) =>
      typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
        ? value
        : undefined,
  });
}

export const TRUE: Shape<true> = scalar({
  kinds: ['boolean'],
  expected: 'true',
  schema: { const: true },
  read: (value) => (value === true ? value : undefined),
});

export const FLAG: Shape<boolean> = scalar({
  kinds: ['boolean'],
  expected: 'true or false',
  schema: { type: 'boolean' },
  read: (value) => (typeof value === 'boolean' ? value : undefined),
});

export const NULL: Shape<null> = scalar({
  kinds: ['null'],
  expected: 'null',
  schema: { type: 'null' },
  read: (value) => (value === null ? value : undefined),
});

interface ListOptions {
  readonly min?: number;
  readonly expected?: string;
}

export function list<T>(of: Shape<T>, options: ListOptions = {}): Shape<readonly T[]> {
  const { min = 0, expected = 'an array' } = options;
  return {
    schema: { type: 'array', items: of.schema, ...(min > 0 && { minItems: min }) },
    expected,
    likeness: (value) => (Array.isArray(value) ? 1 : 0),
    read(value, at, tell) {
      if (!Array.isArray(value) || value.length < min) {
        const found = Array.isArray(value) ? 'an empty array' : describe(value);
        tell({ at, expected: `${expected}${min > 0 ? ' that is not empty' : ''}`, found });
        return undefined;
      }
      const elements: readonly unknown[] = value;
      const items: T[] = [];
      for (let index = 0; index < elements.length; index += 1) {
        at.push(index);
        const item = of.read(elements[index], at, tell);
        at.pop();
        if (item !== undefined) items.push(item);
      }
      return items.length === elements.length ? items : undefined;
    },
  };
}

/** A value alone, or several in an array. */
export function oneOrMore<T>(of: Shape<T>): Shape<readonly T[]> {
  const several = list(of, { min: 1 });
  return either(
    convert(of, (value) => [value]),
    several,
    `${of.expected}, or an array of those`,
  );
}

/** What looks most like the value of two shapes is what it is read as, and told about. */
export function either<A, B>(
  first: Shape<A>,
  second: Shape<B>,
  expected = `${first.expected}, or ${second.expected}`,
): Shape<A | B> {
  return {
    schema: { anyOf: [first.schema, second.schema] },
    expected,
    likeness: (value) => Math.max(first.likeness(value), second.likeness(value)),
    read(value, at, tell) {
      const [a, b] = [first.likeness(value), second.likeness(value)];
      if (Math.max(a, b) === 0) {
        tell({ at, expected, found: describe(value) });
        return undefined;
      }
      const meant: Shape<A | B> = a >= b ? first : second;
      // A word may have been meant as either; parts, and what one of them looks at more closely, not.
      const whole: Tell = (misfit) =>
        tell(misfit.expected === meant.expected ? { ...misfit, expected } : misfit);
      return meant.read(value, at, isObject(value) || Array.isArray(value) ? tell : whole);
    },
  };
}

/** What a value is turned into, or looked at once more: `change` tells what is wrong with it. */
export function convert<T, U>(
  of: Shape<T>,
  change: (value: T, at: At, tell: Tell) => U | undefined,
  schema: Json = {},
): Shape<U> {
  return {
    ...of,
    schema: { ...of.schema, ...schema },
    read(value, at, tell) {
      const read = of.read(value, at, tell);
      return read === undefined ? undefined : change(read, at, tell);
    },
  };
}
