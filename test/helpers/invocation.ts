import { PassThrough } from 'node:stream';
import { renderError, run } from '../../src/cli/dispatch.ts';
import { createTerminal } from '../../src/terminal/terminal.ts';
import type { CommandResult } from './command.ts';
import type { Environment } from './program.ts';

/** Runs `petstore-mock` in this process, up to where its process would end: much faster. */
export async function runInProcess(
  words: readonly string[],
  env: Environment = {},
): Promise<Omit<CommandResult, 'signal'>> {
  const [output, notices] = [new PassThrough(), new PassThrough()];
  const printed = [output, notices].map(textOf);
  const before = SIGNALS.map((signal) => process.listeners(signal));
  const ended = await run(words, env, createTerminal(output, notices, env)).then(
    (code) => ({ code, text: '' }),
    renderError,
  );
  // Its process would end here, and take along what listens.
  for (const [at, signal] of SIGNALS.entries()) {
    const added = process.listeners(signal).filter((it) => !before[at]?.includes(it));
    for (const listener of added) process.off(signal, listener);
  }
  output.end();
  notices.end(ended.text);
  const [stdout = '', stderr = ''] = await Promise.all(printed);
  return { code: ended.code, stdout, stderr };
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

async function textOf(stream: PassThrough): Promise<string> {
  return (await stream.setEncoding('utf8').toArray()).join('');
}
