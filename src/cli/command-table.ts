interface CommandShape {
  /** What can follow its name besides flags: one word that can be left out, or one or more. */
  readonly positional?: {
    readonly name: string;
    readonly description: string;
    readonly many?: boolean;
  };
  /** Whether a command to be run follows its flags, after `--`. */
  readonly runs?: true;
  /** A line of the help, in the imperative. */
  readonly summary: string;
}

/** What can be asked of the program. Without a name it serves. */
const COMMANDS = {
  serve: {
    summary: 'Start the server. The name can be left out.',
  },
  exec: {
    runs: true,
    summary: 'Run a command beside a server; tell what it was shown.',
  },
  sweep: {
    runs: true,
    summary: 'Run a command under each answer to what is left open.',
  },
  assumptions: {
    positional: { name: 'id', description: 'the assumption to explain' },
    summary: 'List what the document leaves open; explain one.',
  },
  responses: {
    positional: { name: 'operation', description: 'the operation whose replies to list' },
    summary: 'List every reply, with how to get it.',
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

/** The command that yargs brings. */
export const COMPLETION = {
  name: 'completion',
  summary: 'Print a script for your shell to complete all this.',
} as const;

/** Whether a word is the name of a command. */
export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

/** The same table seen through its general shape, for code that treats all commands alike. */
export function commandShape(name: CommandName): CommandShape {
  return COMMANDS[name];
}

/** Whether a word names a command that runs another one. */
export function isRunner(word: string): boolean {
  return isCommandName(word) && commandShape(word).runs === true;
}

/** How a command is written, with what can follow its name. */
export function usageOf(name: CommandName): string {
  const { positional, runs } = commandShape(name);
  if (runs) return `${name} -- CMD…`;
  if (positional === undefined) return name;
  const word = positional.name.toUpperCase();
  return positional.many ? `${name} ${word}…` : `${name} [${word}]`;
}
