import { type Invocation, readCommandLine } from '../../src/cli/input/command-line.ts';

/** What a command line asks for; throws if it asks for the help or for completions. */
export async function invocationOf(words: readonly string[]): Promise<Invocation> {
  const asked = await readCommandLine(words, 100);
  if (typeof asked === 'string') throw new Error(`Only a text: ${asked}`);
  return asked;
}
