import type { CommandName } from '../command-table.ts';

/** What the table of flags says of one. */
export interface FlagShape {
  /** A list can be repeated. A switch takes no value. */
  readonly type: 'text' | 'integer' | 'list' | 'switch';
  /** What the docs write for the value. */
  readonly value?: string;
  /** Bounds of an integer, both included. */
  readonly range?: readonly [number, number];
  readonly commands: readonly CommandName[];
  /** A line of the help, which adds the default. */
  readonly description: string;
  readonly default?: string | number;
  /** One letter. */
  readonly alias?: string;
  /** Replaces the description and the default for a command to which the flag means something else. */
  readonly helpOn?: Partial<Record<CommandName, { value?: string; description: string }>>;
}

type More = Pick<FlagShape, 'default' | 'alias' | 'helpOn'>;
type Commands = FlagShape['commands'];

const taking =
  <const Type extends FlagShape['type']>(type: Type) =>
  (value: string, commands: Commands, description: string, more: More = {}) => ({
    type,
    value,
    commands,
    description,
    ...more,
  });

/** A flag that takes a text, once. */
export const text = taking('text');

/** A flag that takes a text and can be repeated. */
export const list = taking('list');

/** A flag that takes an integer. */
export const integer = (
  value: string,
  range: readonly [number, number],
  ...rest: [commands: Commands, description: string, more?: More]
) => ({ ...taking('integer')(value, ...rest), range });

/** A flag that is on or off. */
export const toggle = (commands: Commands, description: string, more: More = {}) => ({
  type: 'switch' as const,
  commands,
  description,
  ...more,
});
