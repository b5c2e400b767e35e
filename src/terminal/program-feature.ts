import type { OptionGroups } from '../server/options.ts';
import type { CommandInput, CommandResult } from './command.ts';
import type { Terminal } from './terminal.ts';

/** Words that a command takes: how the help shows them, and how many. */
export type WordUsage = readonly [usage: string, min: number, max: number];

export interface CommandShape {
  readonly aliases?: readonly string[];
  /** The words that it takes besides flags; for a command that runs another, those after `--`. */
  readonly takes: WordUsage;
  readonly runs?: true;
  readonly summary: string;
  readonly about?: string;
  readonly examples: readonly (readonly [line: string, effect: string])[];
}

export interface LoadedCommand {
  run(input: CommandInput<object>): CommandResult | Promise<CommandResult>;
}

/** A command that a feature adds to the program. */
export interface FeatureCommand extends CommandShape {
  /** The flags that it takes of those that the program has anyway. */
  readonly flags: readonly string[];
  load(): Promise<LoadedCommand>;
}

/** What a feature adds to the program. */
export interface ProgramFeature {
  /** Rows of flags that no server takes. */
  readonly flags?: OptionGroups;
  readonly commands?: Readonly<Record<string, FeatureCommand>>;
  /** Called before a server starts. Throws a UsageError to refuse. */
  beforeStart?(flags: object, terminal: Terminal): Promise<void>;
}
