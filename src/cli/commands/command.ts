import type { Settings } from '../input/given.ts';
import type { Terminal } from '../output/terminal.ts';

/** The input of a command. */
interface CommandInput extends Settings {
  /** The words after the command's name. */
  readonly positionals: readonly string[];
  readonly terminal: Terminal;
}

/** What came of a command. */
interface CommandResult {
  /** What a person reads. */
  readonly text?: string;
  /** What `--json` prints in its place; nothing if it is undefined. */
  readonly json?: object | undefined;
  readonly exitCode: number;
}

/** Runs a command, which prints only what cannot wait for its end; throws UsageError or Failure. */
export type Command = (input: CommandInput) => CommandResult | Promise<CommandResult>;

/** The exit code if everything worked, but a gate failed: coverage, a run of a sweep, a verdict. */
export const EXIT_GATE_FAILED = 3;
