import type { CommandName } from './command-table.ts';
import type { FlagShape } from './flags/flag-shape.ts';
import { FLAG_GROUPS } from './flags/flag-table.ts';

/** Every flag. The command line, the environment, config files, the help and the docs follow from it. */
const FLAGS = {
  ...FLAG_GROUPS.Address,
  ...FLAG_GROUPS.Store,
  ...FLAG_GROUPS.Simulation,
  ...FLAG_GROUPS.Answers,
  ...FLAG_GROUPS.Keys,
  ...FLAG_GROUPS['Control API'],
  ...FLAG_GROUPS.Output,
  ...FLAG_GROUPS.Evidence,
  ...FLAG_GROUPS.Other,
};

export type FlagName = keyof typeof FLAGS;

/** The flags of a type, so that each is read as what it is. */
export type FlagOf<Type extends FlagShape['type']> = {
  [Name in FlagName]: (typeof FLAGS)[Name]['type'] extends Type ? Name : never;
}[FlagName];

export const FLAG_NAMES = Object.keys(FLAGS).filter(isFlagName);

export function isFlagName(name: string): name is FlagName {
  return Object.hasOwn(FLAGS, name);
}

/** A row of the table in its general shape, for code that treats all flags alike. */
export function flagShape(name: FlagName): FlagShape {
  return FLAGS[name];
}

/** What a flag means to a command. */
export function flagOn(name: FlagName, command: CommandName): FlagShape {
  const shape = flagShape(name);
  const own = shape.helpOn?.[command];
  if (own === undefined) return shape;
  const { default: _ofOtherCommands, ...rest } = shape;
  return { ...rest, ...own };
}

/** The heading of a flag in the help. */
export function groupOf(name: FlagName): string {
  return Object.entries(FLAG_GROUPS).find(([, flags]) => Object.hasOwn(flags, name))?.[0] ?? '';
}

export function flagsOf(command: CommandName): FlagName[] {
  return FLAG_NAMES.filter((name) => flagShape(name).commands.includes(command));
}

/** Flags of `serve` that make sense only in one place. */
const NOT_FROM: Record<'environment' | 'config', readonly FlagName[]> = {
  environment: ['help', 'version'],
  config: ['help', 'version', 'config'],
};

/** The flags that can also be environment variables, or stand in a config file. */
export function flagsFrom(place: 'environment' | 'config'): FlagName[] {
  return flagsOf('serve').filter((name) => !NOT_FROM[place].includes(name));
}
