import { describe, joinWords, suggest } from '../core/words.ts';
import { readText, SETTINGS_LIMIT } from '../server/files.ts';
import type { Terminal } from './terminal.ts';

/** The command line, the environment or a file is wrong. Nothing was started. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The request was valid but failed: a taken port, a full disk. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

export interface CommandInput<Flags> {
  readonly flags: Flags;
  readonly positionals: readonly string[];
  readonly terminal: Terminal;
}

export interface CommandResult {
  readonly text?: string;
  /** What `--json` prints in its place; nothing if it is undefined. */
  readonly json?: object | undefined;
  readonly exitCode: number;
}

/** Runs a command, which prints only what cannot wait for its end; throws UsageError or Failure. */
export type Command<Flags> = (input: CommandInput<Flags>) => CommandResult | Promise<CommandResult>;

/** The exit code if everything worked, but a gate failed: coverage, a run of a sweep, a verdict. */
export const EXIT_GATE_FAILED = 3;

export function refusal(origin: string, expected: string, found: string): UsageError {
  return new UsageError(`${origin}: expected ${expected}, found ${found}`);
}

export async function readTextFile(
  file: string,
  origin: string,
  expected: string,
): Promise<string> {
  const read = await readText(file, SETTINGS_LIMIT);
  if (read.ok) return read.text;
  throw refusal(origin, `${expected} at ${file}`, read.found);
}

export function parseChoice<Word extends string>(
  words: readonly Word[],
  text: string | undefined,
  origin: string,
  expected = joinWords(words, 'or'),
): Word {
  const word = words.find((known) => known === text);
  if (word !== undefined) return word;
  throw refusal(origin, expected, `${describe(text)}${suggest(text ?? '', words)}`);
}

/** Of the environment. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** @param flag the name of the flag that names the file */
export async function readCertificate(
  flag: string,
  file: string | undefined,
): Promise<string | undefined> {
  return file === undefined ? undefined : readTextFile(file, `--${flag}`, 'a certificate in PEM');
}
