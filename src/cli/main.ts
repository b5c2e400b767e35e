#!/usr/bin/env node
import './working-directory.ts';

import type { CommandName } from './command-table.ts';
import type { Command } from './commands/command.ts';
import { codeOf, Failure, isOfOutput, UsageError } from './failures.ts';
import { flagsOf } from './flags.ts';
import { type Invocation, parseArguments } from './input/arguments.ts';
import { fromEnvironment } from './input/environment.ts';
import { givenAs, isOn, type Layers, onlyText } from './input/given.ts';
import { escapedLines } from './output/escaped.ts';
import { type Terminal, terminalOf } from './output/terminal.ts';

/** Each command is loaded when it is wanted, so that none slows the start of another. */
const LOAD = {
  serve: async () => (await import('./commands/serve.ts')).serve,
  exec: async () => (await import('./commands/exec.ts')).exec,
  sweep: async () => (await import('./commands/sweep.ts')).sweep,
  assumptions: async () => (await import('./commands/assumptions.ts')).assumptions,
  responses: async () => (await import('./commands/responses.ts')).responses,
  scenarios: async () => (await import('./commands/scenarios.ts')).scenarios,
  validate: async () => (await import('./commands/validate.ts')).validate,
  openapi: async () => (await import('./commands/openapi.ts')).openapi,
  generate: async () => (await import('./commands/generate.ts')).generate,
  health: async () => (await import('./commands/health.ts')).health,
} as const satisfies Record<CommandName, () => Promise<Command>>;

/** Milliseconds that a server which has stopped waits for the reader of its log. */
const LAST_WAIT = 1000;

async function run(words: readonly string[], terminal: Terminal): Promise<number> {
  const invocation = await parseArguments(words);
  const { command, flags, positionals } = invocation;
  if (isOn([flags], 'help')) return help(invocation, terminal);
  if (isOn([flags], 'version')) return version(terminal);
  const layers = await layersOf(invocation);
  const exitCode = await (await LOAD[command]())({ layers, positionals, terminal });
  // What reads a server's log may have stopped reading, and must not keep the server from ending.
  if (command === 'serve') setTimeout(() => process.exit(exitCode), LAST_WAIT);
  return exitCode;
}

async function layersOf({ command, flags }: Invocation): Promise<Layers> {
  const layers = [flags, fromEnvironment(process.env)];
  const config = flagsOf(command).includes('config') ? givenAs(layers, 'config') : undefined;
  if (config === undefined) return layers;
  const { fromConfigFile } = await import('./input/config-file.ts');
  return [...layers, fromConfigFile(onlyText(config), config.origin)];
}

async function help({ command }: Invocation, { output, style }: Terminal): Promise<number> {
  const { renderHelp, renderCommandHelp } = await import('./input/help.ts');
  output.write(command === 'serve' ? renderHelp(style) : renderCommandHelp(command, style));
  return 0;
}

async function version({ output }: Terminal): Promise<number> {
  const { packageVersion } = await import('../package.ts');
  output.write(`${packageVersion()}\n`);
  return 0;
}

function whatWentWrong(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (isOfOutput(error)) return `standard output cannot be written (${codeOf(error)})`;
  const expected = error instanceof UsageError || error instanceof Failure;
  return expected ? error.message : (error.stack ?? error.message);
}

/** Tells what went wrong, and the exit code for it. */
function explain(error: unknown): number {
  // The reader of our output has left, as `head` does: nobody is there to be told.
  if (codeOf(error) === 'EPIPE') return 0;
  process.stderr.write(`petstore-mock: ${escapedLines(whatWentWrong(error))}\n`);
  return error instanceof UsageError ? 2 : 1;
}

// A server goes on serving when nobody reads what it prints. What writes more notices by itself.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

const terminal = terminalOf(process.stdout, process.stderr, process.env);
const exitCode = await run(process.argv.slice(2), terminal).catch(explain);
// What is still open, such as a connection that a second signal gave up on, must not hold us.
process.stdout.write('', () => {
  const { errored } = process.stdout;
  process.exit(exitCode === 0 && errored !== null ? explain(errored) : exitCode);
});
