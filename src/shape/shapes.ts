import { isLosslessNumber } from 'lossless-json';
import { isObject } from '../contract/records.ts';
import { describe, listed, suggest } from '../words.ts';

/** A JSON Schema, or a part of one. */
export type Json = Readonly<Record<string, unknown>>;

/** Where in a scenario a value is: names of members and positions in arrays, from the top. */
export type At = readonly (string | number)[];

/** A place as messages have it: `$.rules[0].on`. */
export function pathText(at: At): string {
  const steps = at.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    return /^[A-Za-z_$][\w$]*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
  });
  return `$${steps.join('')}`;
}

/** The steps of a place as messages have it; `$` may be left out. */
export function atOf(path: string): At {
  const steps = path.matchAll(/\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|([A-Za-z_$][\w$]*)/g);
  const at = [...steps].map(([, index, quoted, name = '']) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? name : String(JSON.parse(`"${quoted}"`));
  });
  return at[0] === '$' ? at.slice(1) : at;
}

/** Something that is not as its shape says. */
export interface Misfit {
  readonly at: At;
  /** Whether the last name in `at` is what is wrong, and not the value under it. */
  readonly ofName?: boolean;
  readonly expected: string;
  readonly found: string;
}

export type Tell = (misfit: Misfit) => void;

/**
 * What a value has to look like, once: the reader and the JSON Schema are made of the same shapes,
 * so that an editor and the program cannot differ.
 */
export interface Shape<T> {
  readonly schema: Json;
  /** What was expected, in words. */
  readonly expected: string;
  /** How much a value looks as if this was meant: 0 where it is of another JSON type. */
  readonly likeness: (value: unknown) => number;
  /** The value read, or undefined where something was told. */
  readonly read: (value: unknown, at: At, tell: Tell) => T | undefined;
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
      const items = elements.map((item, index) => of.read(item, [...at, index], tell));
      const read = items.filter((item) => item !== undefined);
      return read.length === items.length ? read : undefined;
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
