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
  /** How text is read. A list can be repeated; the values of words can also be separated by commas. */
  readonly type: 'text' | 'integer' | 'list' | 'words' | 'switch';
  /** Reads the JSON value of a flag, a variable or a member of a config file. */
  readonly shape: Shape<Value>;
  /** Reads the value that code gives. */
  readonly codeShape: Shape<InCode>;
  readonly placeholder?: string;
  /** The command writes this file: a file that cannot be written is refused at the start. */
  readonly writes?: true;
}

/** An option: its flag, its environment variable, its member of a config file and of the library. */
export interface OptionShape<Value = unknown, InCode = Value, Command extends string = string>
  extends OptionKind<Value, InCode>,
    Member<Value, false> {
  readonly shape: Shape<Value>;
  readonly commands: readonly Command[];
  readonly excludes?: readonly string[];
  /** Servers that share sandboxes must have the same, as they must of each of `MOCK_OPTIONS`. */
  readonly agrees?: true;
  /** What follows `--`, unless it is the name in kebab case. */
  readonly spelling?: string;
  /** What it means without a value. */
  readonly bare?: string;
  /** Its environment variable where a server does not take it. */
  readonly variable?: string;
}

export interface OptionDetails
  extends Pick<OptionShape, 'agrees' | 'excludes' | 'spelling' | 'variable' | 'bare'> {
  readonly default?: string | number;
}

/**
 * Rows of options under the headings of the help. What only code can say is under `Code`, what code and
 * a config file can say under `Config`.
 */
export type OptionGroups = Readonly<Record<string, Readonly<Record<string, OptionShape>>>>;

/** The options of some rows, as code gives them. */
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

/** An option without a flag. */
export function inCode<T>(shape: Shape<T>): OptionShape<T, T, never> {
  return optionFor<never>()(one('', shape), '');
}

/** A function that code gives. */
export function callback<Told extends readonly unknown[]>() {
  return inCode(withTypes<(...told: Told) => void, never>(FUNCTION));
}

const FUNCTION = scalar('a function', {}, (value) =>
  typeof value === 'function' ? value : undefined,
);

export function one<T>(placeholder: string, shape: Shape<T>): OptionKind<T> {
  return { type: 'text', shape, codeShape: shape, placeholder };
}

/** Values of a flag that can be repeated. A config file can have one alone instead of an array. */
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

/** A text with a condition. The message does not show a mistyped secret, only what was `found`. */
export function textThat(expected: string, isRight: (value: string) => boolean, found?: string) {
  return convert(text(), (value, at, report) =>
    isRight(value) ? value : report({ at, expected, found: found ?? describe(value) }),
  );
}

/** The rows of some groups, without their headings. */
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

/** Drops those within `keys` too: flags make all of its members, given or not. */
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
