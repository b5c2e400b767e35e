import { isObject, type Json, plainNumber, WrittenNumber } from '../json.ts';
import { LIMITS } from '../limits.ts';
import type { Problem, Reading } from '../problems.ts';
import { describe, joinWords, suggest } from '../words.ts';

/** The place of a value: member names and array positions from the root. */
export type ValuePath = readonly (string | number)[];

/** A place as it is written in messages: `$.rules[0].on`. */
export function pathText(at: ValuePath, root = '$'): string {
  let text = root;
  for (const step of at) {
    const isWord = typeof step === 'string' && /^[A-Za-z_$][\w$]*$/.test(step);
    text += isWord ? `.${step}` : `[${JSON.stringify(step)}]`;
  }
  return text;
}

interface Misfit {
  readonly at: ValuePath;
  /** Whether the misfit is the last name in `at` itself, not the value there. */
  readonly ofName?: boolean;
  readonly expected: string;
  readonly found: string;
  readonly hint?: () => string;
}

/** Reports a misfit. Returns undefined, so that a reader can return the call. */
export type ReportMisfit = (misfit: Misfit) => undefined;

export interface ShapeProblem extends Problem, Omit<Misfit, 'hint'> {}

/**
 * The definition of a kind of value. Its reader, JSON Schema and types are derived from it, so they
 * cannot disagree. `T` is the value after reading, `In` the accepted JSON.
 */
export interface Shape<T, In = unknown> {
  /** Never set. It carries a type for the compiler. */
  readonly input?: In;
  readonly schema: Json;
  readonly expected: string;
  /** The shape of a member of an object, or of each element of an array. */
  readonly part?: (name: string) => Shape<unknown> | undefined;
  /** How well a value fits, to choose between alternatives: 0 if even its JSON type differs. */
  readonly likeness: (value: unknown) => number;
  /**
   * Returns the value, or undefined after reporting a misfit.
   *
   * @param at the place of the value. Readers share this array and change it; `readAs` copies it.
   */
  readonly read: (value: unknown, at: (string | number)[], report: ReportMisfit) => T | undefined;
}

/** Reads a parsed JSON or YAML value. The places of its problems begin with `root`. */
export function readAs<T>(
  shape: Shape<T>,
  value: unknown,
  root?: string,
): Reading<T, ShapeProblem> {
  return readWith((report) => shape.read(value, [], report), root);
}

/** Runs a reader and collects its problems, up to one more than a message lists. */
export function readWith<T>(
  read: (report: ReportMisfit) => T | undefined,
  root?: string,
): Reading<T, ShapeProblem> {
  const problems: ShapeProblem[] = [];
  const collect = reportInto(problems, root);
  const report: ReportMisfit = (misfit) => {
    collect(misfit);
    if (problems.length > LIMITS.problems) throw ENOUGH_PROBLEMS;
  };
  try {
    const value = read(report);
    if (value !== undefined && problems.length === 0) return { ok: true, value };
  } catch (error) {
    if (error !== ENOUGH_PROBLEMS) throw error;
  }
  return { ok: false, problems };
}

const ENOUGH_PROBLEMS = new Error('Enough problems were reported.');

export function reportInto(problems: ShapeProblem[], root?: string): ReportMisfit {
  return ({ at, hint, ...misfit }) => {
    const found = misfit.found + (hint?.() ?? '');
    problems.push({ ...misfit, found, at: at.slice(), path: pathText(at, root) });
  };
}

export type ValueOf<S> = S extends Shape<infer T> ? T : never;

/** The JSON that a client sends, or receives, for a value of this shape. */
export type InputOf<S> = S extends Shape<unknown, infer In> ? In : never;

/** The shape with a name, under which an OpenAPI document lists its schema. */
export function named<T, In>(name: string, shape: Shape<T, In>): Shape<T, In> {
  return { ...shape, schema: { title: name, ...shape.schema } };
}

/** The shape with types that the compiler cannot infer. */
export function withTypes<T, In>(shape: Shape<unknown>): Shape<T, In> {
  return shape as Shape<T, In>;
}

/** The JSON Schema type of a value; integers count as `number`. */
function findType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'bigint' || value instanceof WrittenNumber ? 'number' : typeof value;
}

/**
 * A value without members. `read` only sees values of the JSON type in `schema`, if that has one.
 *
 * @param words right values, to suggest one for a misspelled value
 */
export function scalar<T, In = T>(
  expected: string,
  schema: Json,
  read: (value: unknown, written: unknown) => T | undefined,
  words?: readonly string[],
): Shape<T, In> {
  const types = [schema.type].flat().map((type) => (type === 'integer' ? 'number' : type));
  const isTyped = (value: unknown) => schema.type === undefined || types.includes(findType(value));
  return {
    schema,
    expected,
    likeness: (value) => (isTyped(value) ? 1 : 0),
    read(value, at, report) {
      const result = isTyped(value) ? read(plainNumber(value), value) : undefined;
      if (result !== undefined) return result;
      return report({ at, expected, found: describe(value), hint: () => nearWord(value, words) });
    },
  };
}

export function nearWord(value: unknown, words: readonly string[] = []): string {
  // Any short word is close to one of two letters, so a suggestion would be a guess.
  return typeof value === 'string' && value.length > 2 ? suggest(value, words) : '';
}

export function text(
  expected = 'a non-empty string',
  pattern = /./,
  schema: Json = { minLength: 1 },
): Shape<string, string> {
  return scalar(expected, { type: 'string', ...schema }, (value) =>
    typeof value === 'string' && pattern.test(value) ? value : undefined,
  );
}

export const ANY_TEXT = text('a string', /^/, {});

export const ANY: Shape<unknown> = {
  schema: {},
  expected: 'a JSON value',
  likeness: () => 1,
  read: (value) => value,
};

export function choice<const Word extends string>(words: readonly Word[]): Shape<Word, Word> {
  const find = (value: unknown) => words.find((word) => word === value);
  return scalar(joinWords(words, 'or'), { type: 'string', enum: words }, find, words);
}

export function number(min: number, max: number, expected: string): Shape<number, number> {
  return scalar(expected, { type: 'number', minimum: min, maximum: max }, (value) =>
    typeof value === 'number' && value >= min && value <= max ? value : undefined,
  );
}

export function integer(
  min: number,
  max: number,
  expected = `an integer from ${min} to ${max}`,
): Shape<number, number> {
  return scalar(expected, { type: 'integer', minimum: min, maximum: max }, (value) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max
      ? Number(value)
      : undefined,
  );
}

export const TRUE: Shape<true, true> = scalar('true', { type: 'boolean', const: true }, (value) =>
  value === true ? value : undefined,
);

export const FLAG: Shape<boolean, boolean> = scalar(
  'true or false',
  { type: 'boolean' },
  (value) => (typeof value === 'boolean' ? value : undefined),
);

export const NULL: Shape<null, null> = scalar('null', { type: 'null' }, (value) =>
  value === null ? value : undefined,
);

interface ArrayOptions {
  readonly min?: number;
  readonly max?: number;
  readonly expected?: string;
}

export function list<T, In>(
  of: Shape<T, In>,
  options: ArrayOptions = {},
): Shape<readonly T[], readonly In[]> {
  const { min = 0, max, expected = min > 0 ? 'a non-empty array' : 'an array' } = options;
  return {
    schema: {
      type: 'array',
      items: of.schema,
      ...(min > 0 && { minItems: min }),
      ...(max && { maxItems: max }),
    },
    expected,
    part: () => of,
    likeness: (value) => (Array.isArray(value) ? 1 : 0),
    read(value, at, report) {
      if (!Array.isArray(value) || value.length < min) {
        const found = Array.isArray(value) ? 'an empty array' : describe(value);
        return report({ at, expected, found });
      }
      if (max !== undefined && value.length > max) {
        return report({ at, expected: `at most ${max} elements`, found: `${value.length}` });
      }
      const items: T[] = [];
      for (const [index, element] of value.entries()) {
        at.push(index);
        const item = of.read(element, at, report);
        at.pop();
        if (item !== undefined) items.push(item);
      }
      return items.length === value.length ? items : undefined;
    },
  };
}

export type OneOrMore<T> = T | readonly T[];

export function oneOrMore<T, In>(
  of: Shape<T, In>,
  options: ArrayOptions = {},
): Shape<readonly T[], OneOrMore<In>> {
  const alone = convert(of, (value) => [value]);
  return either(alone, list(of, { min: 1, ...options }), `${of.expected}, or an array of those`);
}

/** A value of one of two shapes. The one that fits better reads it and reports the misfits. */
export function either<A, B, InA, InB>(
  first: Shape<A, InA>,
  second: Shape<B, InB>,
  expected = `${first.expected}, or ${second.expected}`,
): Shape<A | B, InA | InB> {
  return {
    schema: { anyOf: [first.schema, second.schema] },
    expected,
    likeness: (value) => Math.max(first.likeness(value), second.likeness(value)),
    read(value, at, report) {
      const [a, b] = [first.likeness(value), second.likeness(value)];
      if (a + b === 0) return report({ at, expected, found: describe(value) });
      const meant: Shape<A | B> = a >= b ? first : second;
      if (isObject(value) || Array.isArray(value)) return meant.read(value, at, report);
      // A scalar may be a misspelling of either alternative, so the message names both.
      return meant.read(value, at, (misfit) =>
        report(misfit.expected === meant.expected ? { ...misfit, expected } : misfit),
      );
    },
  };
}

/** A shape whose value is checked or converted after reading. `change` reports further misfits. */
export function convert<T, U, In>(
  of: Shape<T, In>,
  change: (value: T, at: ValuePath, report: ReportMisfit) => U | undefined,
  schema: Json = {},
): Shape<U, In> {
  return {
    ...of,
    schema: { ...of.schema, ...schema },
    read(value, at, report) {
      const read = of.read(value, at, report);
      return read === undefined ? undefined : change(read, at, report);
    },
  };
}

/** Visible ASCII characters without spaces, as in a header's token. */
export const VISIBLE = /^[!-~]+$/;

export const KEY = text('a key of visible ASCII characters', VISIBLE, { pattern: VISIBLE.source });
