import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeJson } from '../core/json.ts';
import { asError, errorCode } from '../core/thrown.ts';
import { findFeatureCommand } from '../features.ts';
import {
  Failure,
  type LoadedCommand,
  misuse,
  UsageError,
  type Variables,
} from '../terminal/command.ts';
import { escapeLines, type Terminal } from '../terminal/terminal.ts';
import { parseCommandLine } from './command-parser.ts';
import { type CommandName, isOwnCommand, type OwnCommandName } from './command-table.ts';
import { serve } from './commands/serve.ts';
import { readFlags } from './flag-sources.ts';
import { type Flags, flagShape, listFlags, type ProgramCommand, spell } from './flags.ts';

/** Commands other than `serve` load on demand, to keep the start of a server fast. */
const COMMAND_LOADERS = {
  serve: async () => serve,
  exec: async () => (await import('./commands/exec.ts')).exec,
  sweep: async () => (await import('./commands/sweep.ts')).sweep,
  gate: async () => (await import('./commands/gate.ts')).gate,
  assumptions: async () => (await import('./commands/assumptions.ts')).assumptions,
  responses: async () => (await import('./commands/responses.ts')).responses,
  scenarios: async () => (await import('./commands/print.ts')).scenarios,
  validate: async () => (await import('./commands/validate.ts')).validate,
  generate: async () => (await import('./commands/print.ts')).generate,
  health: async () => (await import('./commands/health.ts')).health,
  ctl: async () => (await import('./commands/ctl.ts')).ctl,
  completion: async () => (await import('./commands/print.ts')).completion,
} as const satisfies Record<OwnCommandName, () => Promise<ProgramCommand>>;

/** Loads a command of the program or of a feature. */
async function loadCommand(name: CommandName): Promise<LoadedCommand> {
  if (isOwnCommand(name)) return { run: await COMMAND_LOADERS[name]() };
  return findFeatureCommand(name).load();
}

/** Runs a command line. Whatever it throws becomes a message. */
export async function run(
  words: readonly string[],
  variables: Variables,
  terminal: Terminal,
): Promise<{ readonly exitCode: number; readonly command?: CommandName }> {
  try {
    const parsed = await parseCommandLine(words, terminal.style.width);
    if (typeof parsed === 'string') {
      terminal.output.write(parsed);
      return { exitCode: 0 };
    }
    const { command, positionals } = parsed;
    const flags = await readFlags(command, parsed.flags, variables);
    requireWritable(command, flags);
    const { run: runCommand } = await loadCommand(command);
    const { text = '', json, exitCode } = await runCommand({ flags, positionals, terminal });
    if (!flags.json) terminal.output.write(text);
    else if (json !== undefined) terminal.output.write(`${writeJson(json, 2)}\n`);
    return { exitCode, command };
  } catch (error) {
    return { exitCode: printError(error, terminal) };
  }
}

/** Says what went wrong, and returns the exit code. */
export function printError(error: unknown, { notices }: Pick<Terminal, 'notices'>): 0 | 1 | 2 {
  // The reader closed the pipe, as `head` does.
  if (errorCode(error) === 'EPIPE') return 0;
  const isUsage = error instanceof UsageError;
  let message = String(error);
  if (isUsage || error instanceof Failure) message = error.message;
  else if (error instanceof Error) {
    // Only writing to standard output fails without a path: a full disk.
    const isOfOutput = 'syscall' in error && error.syscall === 'write' && !('path' in error);
    message = isOfOutput
      ? `standard output cannot be written (${errorCode(error)})`
      : (error.stack ?? error.message);
  }
  notices.write(`petstore-mock: ${escapeLines(message)}\n`);
  return isUsage ? 2 : 1;
}

/** Refuses a file that cannot be written before the command runs: after a long run, it would be too late. */
function requireWritable(command: CommandName, flags: Flags): void {
  for (const name of listFlags(command).filter((flag) => flagShape(flag).writes)) {
    for (const file of [flags[name]].flat()) {
      const obstacle = typeof file === 'string' ? findObstacle(file) : undefined;
      if (obstacle === undefined) continue;
      throw misuse(`--${spell(name)}`, 'a file that can be written', obstacle);
    }
  }
}

function findObstacle(file: string): string | undefined {
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) return `a folder at ${file}`;
    let existing = file;
    while (!existsSync(existing)) existing = dirname(existing);
    accessSync(existing, constants.W_OK);
    return undefined;
  } catch (error) {
    return asError(error).message;
  }
}
