import type { SavedVerdicts } from '../deployment/check/verdict-shapes.ts';
import { object } from '../shape/objects.ts';
import type { ValueOf } from '../shape/shapes.ts';
import { namesOf } from '../tables.ts';
import type { CommandName } from './command-table.ts';
import { FLAG_GROUPS, type FlagShape } from './flag-table.ts';

/**
 * Every flag, by the name of the option that it sets. The command line, the environment, config files,
 * the help and the docs follow from it.
 */
export const FLAGS = {
  ...FLAG_GROUPS.Address,
  ...FLAG_GROUPS.Store,
  ...FLAG_GROUPS.Simulation,
  ...FLAG_GROUPS.Answers,
  ...FLAG_GROUPS.Keys,
  ...FLAG_GROUPS['Control API'],
  ...FLAG_GROUPS.Deployment,
  ...FLAG_GROUPS.Output,
  ...FLAG_GROUPS.Evidence,
  ...FLAG_GROUPS.Other,
};

export type FlagName = keyof typeof FLAGS;

/** Reads the JSON values of options by name. */
export const FLAG_VALUES = object(FLAGS);

/** The flags that were given in any place, each as its shape reads it. */
export interface Flags extends ValueOf<typeof FLAG_VALUES> {
  /** What a check of a deployment found out, if it saved the config file. */
  readonly checked?: SavedVerdicts | undefined;
}

export const FLAG_NAMES = namesOf(FLAGS);

/** The entry of a flag, for code that treats all flags alike. */
export function flagShape(name: FlagName): FlagShape {
  return FLAGS[name];
}

export function isSwitch(name: FlagName): boolean {
  return flagShape(name).type === 'switch';
}

/** Spellings that are not the name of the option in kebab case. */
const SPELLINGS: Partial<Record<FlagName, string>> = { scenarios: 'scenario', frozen: 'freeze' };

/** What follows `--` on the command line: the name in a config file, and in the docs. */
export function spellingOf(name: FlagName): string {
  return SPELLINGS[name] ?? name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

const BY_SPELLING = new Map(FLAG_NAMES.map((name) => [spellingOf(name), name]));

/** The flag that is spelled so. */
export function flagSpelled(spelling: string): FlagName | undefined {
  return BY_SPELLING.get(spelling);
}

/** The switch that is turned off so, as `--no-plain` does. */
export function switchedOff(spelling: string): FlagName | undefined {
  const name = spelling.startsWith('no-') ? flagSpelled(spelling.slice('no-'.length)) : undefined;
  return name !== undefined && isSwitch(name) ? name : undefined;
}

export function flagsOf(command: CommandName): FlagName[] {
  return FLAG_NAMES.filter((name) => flagShape(name).commands.includes(command));
}

/** Flags of `serve` that make sense only in one place. */
const NOT_FROM: Record<'environment' | 'config', readonly FlagName[]> = {
  environment: ['help', 'version'],
  config: ['help', 'version', 'config'],
};

/** The flags that can also be environment variables, or members of a config file. */
export function flagsFrom(place: 'environment' | 'config'): FlagName[] {
  return flagsOf('serve').filter((name) => !NOT_FROM[place].includes(name));
}
