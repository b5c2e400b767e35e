import yargs from 'yargs';
import { describe, listed, suggest } from '../../words.ts';
import { refusal } from '../input/given.ts';
import type { Command } from './command.ts';

/** The shells that yargs has a script for. */
const SHELLS = ['bash', 'zsh', 'fish'];

/** Prints the script with which a shell completes commands and flags. */
export const completion: Command = ({ positionals: [shell] }) => {
  if (shell !== undefined) {
    if (!SHELLS.includes(shell)) {
      const found = `${describe(shell)}${suggest(shell, SHELLS)}`;
      throw refusal('completion', listed(SHELLS, 'or'), found);
    }
    // Where yargs looks. Nothing else is done in this process.
    process.env.SHELL = shell;
    process.env.ZSH_NAME = '';
  }
  yargs().scriptName('petstore-mock').showCompletionScript();
  return 0;
};
