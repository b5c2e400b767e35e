import { isObject } from '../json.ts';
import type { Intersection } from '../tables.ts';
import { describe } from '../words.ts';
import { type Member, object, optional } from './objects.ts';
import {
  convert,
  FLAG,
  integer,
  KEY,
  list,
  oneOrMore,
  readAs,
  type Shape,
  type ShapeProblem,
  scalar,
  text,
  withTypes,
} from './shapes.ts';

export interface OptionKind<Value = unknown, InCode = Value> {
  /** How the text of a flag is read. A `list` can be repeated; `words` also takes commas. */
  readonly type: 'text' | 'integer' | 'list' | 'words' | 'switch';
  /** Reads the JSON value that a flag, a variable or a config file gives. */
  readonly shape: Shape<Value>;
  /** Reads the value that code gives, such as a Map. */
  readonly codeShape: Shape<InCode>;
  readonly placeholder?: string;
  /** Whether a command writes this file. A file that cannot be written is refused at the start. */
  readonly writes?: true;
}

/** An option: a flag, an environment variable, a member of a config file and of an object. */
export interface OptionShape<Value = unknown, InCode = Value, Command extends string = string>
  extends OptionKind<Value, InCode>,
    Member<Value, false> {
  readonly shape: Shape<Value>;
  readonly commands: readonly Command[];
  readonly excludes?: readonly string[];
  /** Whether servers that share sandboxes must agree on it, as on all of `MOCK_OPTIONS`. */
  readonly agrees?: true;
  /** The flag's name after `--`, if it is not the option's name in kebab case. */
  readonly spelling?: string;
  /** The value of a flag without a value. */
  readonly bare?: string;
  /** The environment variable of an option that no server takes. */
  readonly variable?: string;
}

export interface OptionDetails
  extends Pick<OptionShape, 'agrees' | 'excludes' | 'spelling' | 'variable' | 'bare'> {
  readonly default?: string | number;
}

/**
 * Options by the headings of the help. `Code` has those that only code can give, `Config` those
 * that code and a config file can give.
 */
export type OptionGroups = Readonly<Record<string, Readonly<Record<string, OptionShape>>>>;

/** The type of these options in code. */
export type OptionsOf<Groups> = Intersection<
  { [Heading in keyof Groups]: OptionsOfRows<Groups[Heading]> }[keyof Groups]
>;

type OptionsOfRows<Rows> = { readonly [Name in keyof Rows]?: InCode<Rows[Name]> | undefined };

type InCode<Row> = Row extends { readonly codeShape: Shape<infer Value> } ? Value : never;

export function optionFor<Command extends string>(...commands: readonly Command[]) {
  return <Value, InCode>(
    kind: OptionKind<Value, InCode>,
    description: string,
    { default: value, ...more }: OptionDetails = {},
  ): OptionShape<Value, InCode, Command> => {
    const byDefault = value === undefined ? '' : ` By default ${value}.`;
    const repeats = kind.type === 'list' || kind.type === 'words' ? ' Repeatable.' : '';
    const whole = description + byDefault + repeats;
    return { ...kind, description: whole, required: false, commands, ...more };
  };
}

/** An option that only code can give. */
export function inCode<T>(shape: Shape<T>): OptionShape<T, T, never> {
  return optionFor<never>()(one('', shape), '');
}

/** An option that is a callback. */
export function callback<Told extends readonly unknown[]>() {
  return inCode(withTypes<(...told: Told) => void, never>(FUNCTION));
}

const FUNCTION = scalar('a function', {}, (value) =>
  typeof value === 'function' ? value : undefined,
);

export function one<T>(placeholder: string, shape: Shape<T>): OptionKind<T> {
  return { type: 'text', shape, codeShape: shape, placeholder };
}

/** A flag that can be repeated. In a config file, one value can stand without its array. */
export function many<T>(placeholder: string, shape: Shape<T>): OptionKind<readonly T[]> {
  return { type: 'list', shape: oneOrMore(shape), codeShape: list(shape), placeholder };
}

export function words<T>(placeholder: string, shape: Shape<T>): OptionKind<T> {
  return { ...one(placeholder, shape), type: 'words' };
}

export function count(min: number, max: number, placeholder = 'N'): OptionKind<number> {
  return { ...one(placeholder, integer(min, max)), type: 'integer' };
}

export function milliseconds(min: number, max: number): OptionKind<number> {
  return count(min, max, 'MS');
}

export function inMilliseconds(
  placeholder: string,
  shape: Shape<number>,
  codeShape: Shape<number>,
): OptionKind<number> {
  return { ...one(placeholder, shape), codeShape };
}

export const SWITCH: OptionKind<boolean> = { type: 'switch', shape: FLAG, codeShape: FLAG };

export const FILE = one('FILE', text());

export const OUTPUT: OptionKind<string> = { ...FILE, writes: true };

export const KEYS = many('KEY', KEY);

/** A text with a condition. If `found` is given, messages do not show the value, as of a secret. */
export function textThat(expected: string, isRight: (value: string) => boolean, found?: string) {
  return convert(text(), (value, at, report) =>
    isRight(value) ? value : report({ at, expected, found: found ?? describe(value) }),
  );
}

/** All rows without their headings. */
export function listRows(...all: readonly OptionGroups[]): Readonly<Record<string, OptionShape>> {
  return Object.assign({}, ...all.flatMap((groups) => Object.values(groups)));
}

/** @throws RangeError that names the first wrong option */
export function checkOptionsOf(
  rows: Readonly<Record<string, OptionShape>>,
  options: object,
  nameOf: (name: string) => string = String,
): void {
  const members = Object.entries(rows).map(([name, row]) => [name, optional(row.codeShape, '')]);
  const shape = object(Object.fromEntries(members), { expectedName: 'the name of an option' });
  const reading = readAs(shape, dropUndefined(options));
  if (!reading.ok) throw new RangeError(refusalText(reading.problems, nameOf));
  const given = Object.keys(rows).filter((name) => Reflect.get(options, name) !== undefined);
  for (const name of given) {
    const other = given.find((it) => rows[name]?.excludes?.includes(it));
    if (other === undefined) continue;
    const both = `${nameOf(name)} and ${nameOf(other)}`;
    throw new RangeError(`${both} exclude each other: drop one of them`);
  }
}

/** Drops undefined members, also within `keys`, because flags set all of its members. */
function dropUndefined(options: object): object {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [
      name,
      name === 'keys' && isObject(value) ? dropUndefined(value) : value,
    ]),
  );
}

export function refusalText(
  [problem]: readonly ShapeProblem[],
  nameOf: (name: string) => string,
): string {
  if (problem === undefined) return 'a value was refused without a reason';
  const { at, ofName, expected, found } = problem;
  const steps = (ofName ? at.slice(0, -1) : at).filter((step) => typeof step === 'string');
  const [name = 'options', ...inside] = steps;
  return `${[nameOf(name), ...inside].join(' ')}: expected ${expected}, found ${found}`;
}
