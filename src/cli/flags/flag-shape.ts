import type { Member } from '../../shape/objects.ts';
import {
  FLAG,
  integer as integerShape,
  oneOrMore,
  type Shape,
  text as textShape,
} from '../../shape/shapes.ts';
import type { CommandName } from '../command-table.ts';

/** A row of the table of flags. Its shape reads the flag's JSON value. */
export interface FlagShape extends Member<unknown, false> {
  /** A list can be repeated; the values of words can also be separated by commas. */
  readonly type: 'text' | 'integer' | 'list' | 'words' | 'switch';
  /** The placeholder for the value in the docs. */
  readonly value?: string;
  /** Bounds of an integer, both included. */
  readonly range?: readonly [number, number];
  readonly commands: readonly CommandName[];
  /** One line for the help, which adds the default. */
  readonly description: string;
  readonly default?: string | number;
  /** What follows `--`, unless it is the name of the option in kebab case. */
  readonly spelling?: string;
  /** One letter. */
  readonly alias?: string;
  /** A plain word is the name of something that ships, not a path. */
  readonly ships?: true;
  /** It names a file that the command writes. */
  readonly writes?: true;
  /** Descriptions for commands to which the flag means something else; they have no default. */
  readonly helpOn?: Partial<Record<CommandName, string>>;
}

type More = Pick<FlagShape, 'default' | 'spelling' | 'alias' | 'ships' | 'writes' | 'helpOn'>;
type Rest = [commands: FlagShape['commands'], description: string, more?: More];

function flag<const Type extends FlagShape['type'], T>(
  type: Type,
  shape: Shape<T>,
  value: string,
  ...[commands, description, more = {}]: Rest
) {
  return { type, shape, required: false as const, value, commands, description, ...more };
}

/** A flag that takes one text. */
export const one = <T>(shape: Shape<T>, value: string, ...rest: Rest) =>
  flag('text', shape, value, ...rest);

/** Any non-empty text. */
export const TEXT = textShape();

export const text = (value: string, ...rest: Rest) => one(TEXT, value, ...rest);

/** A flag that can be repeated. A config file can have a value alone instead of an array. */
export const list = <T>(shape: Shape<T>, value: string, ...rest: Rest) =>
  flag('list', oneOrMore(shape, 0), value, ...rest);

/** A flag that takes several words. */
export const words = <T>(shape: Shape<T>, value: string, ...rest: Rest) =>
  flag('words', shape, value, ...rest);

/** A flag that takes an integer. */
export const integer = (value: string, range: readonly [number, number], ...rest: Rest) => ({
  ...flag('integer', integerShape(...range), value, ...rest),
  range,
});

/** A flag that is on or off and takes no value. */
export const toggle = (...[commands, description, more = {}]: Rest) => ({
  type: 'switch' as const,
  shape: FLAG,
  required: false as const,
  commands,
  description,
  ...more,
});
