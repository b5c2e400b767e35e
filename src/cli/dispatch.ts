import { writeJson } from '../contract/json.ts';
import { codeOf } from '../error-code.ts';
import { packageVersion } from '../package.ts';
import type { CommandName } from './command-table.ts';
import type { Command } from './commands/command.ts';
import { serve } from './commands/serve.ts';
import { Failure, isOfOutput, UsageError } from './failures.ts';
import { flagsOf } from './flags.ts';
import { type Invocation, readCommandLine } from './input/command-line.ts';
import { ctlFromEnvironment, fromEnvironment } from './input/environment.ts';
import { readSettings, type Settings } from './input/given.ts';
import { escapedLines } from './output/escaped.ts';
import { requireWritable } from './output/output-files.ts';
import type { Terminal } from './output/terminal.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** Commands other than `serve` load on demand, to keep the start of a server fast. */
const LOAD = {
  serve: async () => serve,
  exec: async () => (await import('./commands/exec.ts')).exec,
  sweep: async () => (await import('./commands/sweep.ts')).sweep,
  assumptions: async () => (await import('./commands/assumptions.ts')).assumptions,
  responses: async () => (await import('./commands/responses.ts')).responses,
  scenarios: async () => (await import('./commands/scenarios.ts')).scenarios,
  validate: async () => (await import('./commands/validate.ts')).validate,
  openapi: async () => (await import('./commands/openapi.ts')).openapi,
  generate: async () => (await import('./commands/generate.ts')).generate,
  check: async () => (await import('./commands/check.ts')).check,
  record: async () => (await import('./commands/record.ts')).record,
  health: async () => (await import('./commands/health.ts')).health,
  ctl: async () => (await import('./commands/ctl.ts')).ctl,
  completion: async () => (await import('./commands/completion.ts')).completion,
} as const satisfies Record<CommandName, () => Promise<Command>>;

/** Milliseconds that a stopped server waits for the reader of its log. */
const LAST_WAIT = 1000;

/** Runs a command line and returns its exit code; throws what `whatWentWrong` puts into words. */
export async function run(
  words: readonly string[],
  variables: Variables,
  terminal: Terminal,
): Promise<number> {
  const asked = await readCommandLine(words, terminal.style.width);
  if (typeof asked === 'string') return print(asked, terminal);
  const { command, flags, positionals } = asked;
  if (flags.get('version')?.value === true) return print(`${packageVersion()}\n`, terminal);
  const settings = await settingsOf(asked, variables);
  requireWritable(command, settings);
  const loaded = await LOAD[command]();
  const { text = '', json, exitCode } = await loaded({ ...settings, positionals, terminal });
  if (!settings.flags.json) terminal.output.write(text);
  else if (json !== undefined) terminal.output.write(`${writeJson(json, 2)}\n`);
  // A reader who no longer reads the log must not keep the server from ending.
  if (command === 'serve') setTimeout(() => process.exit(exitCode), LAST_WAIT);
  return exitCode;
}

/** The flags of a command from the command line, the environment and a config file, in this order. */
export async function settingsOf(
  { command, flags }: Invocation,
  variables: Variables,
): Promise<Settings> {
  const read = command === 'ctl' ? ctlFromEnvironment : fromEnvironment;
  const layers = [flags, read(variables)];
  const config = flagsOf(command).includes('config')
    ? layers.map((layer) => layer.get('config')).find((it) => it !== undefined)
    : undefined;
  if (typeof config?.value !== 'string') return readSettings(command, layers);
  const { fromConfigFile } = await import('./input/config-file.ts');
  const { layer, checked } = await fromConfigFile(config.value, config.origin);
  return { ...readSettings(command, [...layers, layer]), checked };
}

function print(text: string, { output }: Terminal): number {
  output.write(text);
  return 0;
}

/** The lines that explain an error, and the exit code for it. */
export function whatWentWrong(error: unknown): { readonly text: string; readonly code: 1 | 2 } {
  const text = `petstore-mock: ${escapedLines(messageOf(error))}\n`;
  return { text, code: error instanceof UsageError ? 2 : 1 };
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (isOfOutput(error)) return `standard output cannot be written (${codeOf(error)})`;
  const expected = error instanceof UsageError || error instanceof Failure;
  return expected ? error.message : (error.stack ?? error.message);
}
