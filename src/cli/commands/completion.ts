import yargs from 'yargs';
import { packageRoot } from '../../files.ts';
import { type Command, parseChoice } from '../command.ts';

const SHELLS = ['bash', 'zsh', 'fish'];

export const completion: Command = async ({ positionals: [shell] }) => {
  if (shell !== undefined) {
    // yargs reads these variables. This process does nothing else.
    process.env.SHELL = parseChoice(SHELLS, shell, 'completion');
    process.env.ZSH_NAME = '';
  }
  let text = '';
  const parser = yargs([], packageRoot).scriptName('petstore-mock').completion('completion');
  await parser.parse(['completion'], {}, (_error, _argv, output) => {
    text = output;
  });
  return { text: `${text}\n`, exitCode: 0 };
};
