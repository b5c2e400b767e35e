import type { Layers } from '../input/given.ts';
import type { Terminal } from '../output/terminal.ts';

/** What a command gets to work with. */
interface CommandInput {
  readonly layers: Layers;
  /** What follows the command's name. */
  readonly positionals: readonly string[];
  readonly terminal: Terminal;
}

/** Does what was asked for and tells the exit code; throws UsageError or Failure where it cannot. */
export type Command = (input: CommandInput) => number | Promise<number>;
