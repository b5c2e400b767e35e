import type { Settings } from '../input/given.ts';
import type { Terminal } from '../output/terminal.ts';

/** The input of a command. */
interface CommandInput extends Settings {
  /** The words after the command's name. */
  readonly positionals: readonly string[];
  readonly terminal: Terminal;
}

/** Runs a command and returns the exit code; throws UsageError or Failure. */
export type Command = (input: CommandInput) => number | Promise<number>;
