interface CommandShape {
  /** What can follow its name besides flags. */
  readonly positional?: { readonly name: string; readonly description: string };
  /** A line of the help, in the imperative. */
  readonly summary: string;
}

/** What can be asked of the program. Without a name it serves. */
const COMMANDS = {
  serve: {
    summary: 'Start the server. The name can be left out.',
  },
  assumptions: {
    positional: { name: 'id', description: 'the assumption to explain' },
    summary: 'List what the document leaves open; explain one.',
  },
  openapi: {
    summary: 'Print the OpenAPI document of the service.',
  },
  generate: {
    summary: 'Write a fixture of any size.',
  },
  health: {
    summary: 'Exit with 0 if a server is up, else with 1.',
  },
} as const satisfies Record<string, CommandShape>;

export type CommandName = keyof typeof COMMANDS;

export const COMMAND_NAMES = Object.keys(COMMANDS).filter(isCommandName);

/** The command that yargs brings, which is no module of ours. */
export const COMPLETION = {
  name: 'completion',
  summary: 'Print a script for your shell to complete all this.',
} as const;

function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

/** The same table seen through its general shape, for code that treats all commands alike. */
export function commandShape(name: CommandName): CommandShape {
  return COMMANDS[name];
}
