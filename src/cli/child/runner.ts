import type { CommandName } from '../command-table.ts';
import { UsageError } from '../failures.ts';

/** @throws UsageError if there is no command to run */
export function requireCommand(runner: CommandName, words: readonly string[]): void {
  if (words[0] !== undefined && words[0] !== '') return;
  throw new UsageError(
    `${runner}: expected -- and a command, as in petstore-mock ${runner} -- npm test`,
  );
}
