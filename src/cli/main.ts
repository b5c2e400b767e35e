import './working-directory.ts';

import { codeOf } from '../error-code.ts';
import type { CommandName } from './command-table.ts';
import type { Command } from './commands/command.ts';
import { Failure, isOfOutput, UsageError } from './failures.ts';
import { flagsOf } from './flags.ts';
import { type Invocation, readCommandLine } from './input/command-line.ts';
import { fromEnvironment } from './input/environment.ts';
import { givenAs, isOn, type Layers, onlyText } from './input/given.ts';
import { escapedLines } from './output/escaped.ts';
import { type Terminal, terminalOf } from './output/terminal.ts';

/** Each command is loaded on demand, so that none slows the start of another. */
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
  completion: async () => (await import('./commands/completion.ts')).completion,
} as const satisfies Record<CommandName, () => Promise<Command>>;

/** Milliseconds that a stopped server waits for the reader of its log. */
const LAST_WAIT = 1000;

async function run(words: readonly string[], terminal: Terminal): Promise<number> {
  const asked = await readCommandLine(words, terminal.style.width);
  if (typeof asked === 'string') return print(asked, terminal);
  const { command, flags, positionals } = asked;
  if (isOn([flags], 'version')) return version(terminal);
  const layers = await layersOf(asked);
  const exitCode = await (await LOAD[command]())({ layers, positionals, terminal });
  // A reader who no longer reads the log must not keep the server from ending.
  if (command === 'serve') setTimeout(() => process.exit(exitCode), LAST_WAIT);
  return exitCode;
}

async function layersOf({ command, flags }: Invocation): Promise<Layers> {
  const layers = [flags, fromEnvironment(process.env)];
  const config = flagsOf(command).includes('config') ? givenAs(layers, 'config') : undefined;
  if (config === undefined) return layers;
  const { fromConfigFile } = await import('./input/config-file.ts');
  return [...layers, await fromConfigFile(onlyText(config), config.origin)];
}

function print(text: string, { output }: Terminal): number {
  output.write(text);
  return 0;
}

async function version(terminal: Terminal): Promise<number> {
  const { packageVersion } = await import('../package.ts');
  return print(`${packageVersion()}\n`, terminal);
}

function whatWentWrong(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (isOfOutput(error)) return `standard output cannot be written (${codeOf(error)})`;
  const expected = error instanceof UsageError || error instanceof Failure;
  return expected ? error.message : (error.stack ?? error.message);
}

/** Prints what went wrong and returns the exit code for it. */
function explain(error: unknown): number {
  // The reader of our output has left, as `head` does.
  if (codeOf(error) === 'EPIPE') return 0;
  process.stderr.write(`petstore-mock: ${escapedLines(whatWentWrong(error))}\n`);
  return error instanceof UsageError ? 2 : 1;
}

// A server keeps serving when nobody reads what it prints. Commands that print more notice it themselves.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

const terminal = terminalOf(process.stdout, process.stderr, process.env);
const exitCode = await run(process.argv.slice(2), terminal).catch(explain);
// Whatever is still open, such as a connection that a second signal gave up on, must not delay the exit.
process.stdout.write('', () => {
  const { errored } = process.stdout;
  process.exit(exitCode === 0 && errored !== null ? explain(errored) : exitCode);
});
