interface CommandShape {
  /** What can follow its name besides flags: one word that can be left out, or one or more. */
  readonly positional?: {
    readonly name: string;
    readonly description: string;
    readonly many?: boolean;
  };
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
  scenarios: {
    summary: 'List the scenarios that ship.',
  },
  validate: {
    positional: { name: 'file', description: 'scenario and fixture files', many: true },
    summary: 'Check files that you wrote.',
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

/** How a command is written, with what can follow its name. */
export function usageOf(name: CommandName): string {
  const { positional } = commandShape(name);
  if (positional === undefined) return name;
  const word = positional.name.toUpperCase();
  return positional.many ? `${name} ${word}…` : `${name} [${word}]`;
}
