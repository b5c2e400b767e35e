import { DEFAULTS } from '../core/limits.ts';
import { describe, joinWords, suggest } from '../core/words.ts';
import { readText, SETTINGS_LIMIT } from '../server/files.ts';
import type { WordUsage } from './command-table.ts';
import type { Flags } from './flags.ts';
import type { Terminal } from './terminal.ts';

/** The command line, the environment or a file is wrong. Nothing was started. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The request was valid but failed: a taken port, a full disk. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

interface CommandInput {
  readonly flags: Flags;
  readonly positionals: readonly string[];
  readonly terminal: Terminal;
}

interface CommandResult {
  readonly text?: string;
  /** What `--json` prints in its place; nothing if it is undefined. */
  readonly json?: object | undefined;
  readonly exitCode: number;
}

/** Runs a command, which prints only what cannot wait for its end; throws UsageError or Failure. */
export type Command = (input: CommandInput) => CommandResult | Promise<CommandResult>;

/** The exit code if everything worked, but a gate failed: coverage, a run of a sweep, a verdict. */
export const EXIT_GATE_FAILED = 3;

export function refusal(origin: string, expected: string, found: string): UsageError {
  return new UsageError(`${origin}: expected ${expected}, found ${found}`);
}

export function requireWords(
  name: string,
  [usage, min, max]: WordUsage,
  words: readonly string[],
): void {
  if (words.length >= min && words.length <= max) return;
  const needs = `${name} ${words.length < min ? 'needs' : 'takes'} ${usage || 'no words'}`;
  throw new UsageError(words.length > 0 ? `${needs}; found ${describe(words.join(' '))}` : needs);
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

export async function readCertificate(
  flag: 'ca' | 'cacert',
  { [flag]: file }: Flags,
): Promise<string | undefined> {
  return file === undefined ? undefined : readTextFile(file, `--${flag}`, 'a certificate in PEM');
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

/** Callable addresses for those that mean every interface. */
const CALLABLE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Where `health` and `ctl` look for a server. */
export function findServerUrl(flags: Flags): string {
  const { url, host = DEFAULTS.host, port = DEFAULTS.port, tls = false } = flags;
  if (url !== undefined) return url;
  if (port === 0) {
    throw refusal('--port', 'the port of the server', '0, which means any free port');
  }
  const callable = CALLABLE[host] ?? host;
  const name = callable.includes(':') ? `[${callable}]` : callable;
  const origin = `${tls ? 'https' : 'http'}://${name}:${port}`;
  if (URL.canParse(origin)) return origin;
  throw refusal('--host', 'a host name', describe(host));
}
