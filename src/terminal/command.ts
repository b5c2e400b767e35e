import type { FindingsReport } from '../core/sandbox/coverage.ts';
import type { Exchange } from '../core/sandbox/exchange.ts';
import type { CoverageReport } from '../core/sandbox/report-shapes.ts';
import type { OptionGroups } from '../core/shape/option-kinds.ts';
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

/** Words that a command takes: how the help shows them, and how many. */
export type WordUsage = readonly [usage: string, min: number, max: number];

export interface CommandShape {
  readonly aliases?: readonly string[];
  /** The words that it takes besides flags; for a command that runs another, those after `--`. */
  readonly takes: WordUsage;
  readonly runs?: true;
  readonly summary: string;
  readonly about?: string;
  readonly examples: readonly (readonly [line: string, effect: string])[];
}

export interface LoadedCommand {
  run(input: CommandInput<object>): CommandResult | Promise<CommandResult>;
}

/** A command that a feature adds to the program. */
export interface FeatureCommand extends CommandShape {
  /** The flags that it takes of those that the program has anyway. */
  readonly flags: readonly string[];
  load(): Promise<LoadedCommand>;
}

/** What a run has shown to a client, and found in what it did. */
export interface RunEvidence {
  readonly coverage: CoverageReport;
  readonly findings: FindingsReport;
  /** The newest ones, in their order. */
  readonly exchanges?: readonly RanExchange[] | undefined;
  readonly sweep?: SweepReport | undefined;
}

/** What became of the command under each option, or each fault. */
export interface SweepReport {
  readonly title: string;
  readonly rows: readonly {
    readonly what: string;
    readonly change: string;
    readonly verdict: string;
    readonly isBad: boolean;
    readonly detail: string;
  }[];
}

export interface RanExchange {
  readonly sandbox: string;
  readonly exchange: Exchange;
}

/** What a feature adds to the program. */
export interface ProgramFeature {
  /** Rows of flags that no server takes. */
  readonly flags?: OptionGroups;
  readonly commands?: Readonly<Record<string, FeatureCommand>>;
  /** Files that `--coverage` can write, by the ending of their names. */
  readonly reports?: Readonly<Record<string, (evidence: RunEvidence) => string>>;
  /** Called before a server starts. Throws a UsageError to refuse. */
  beforeStart?(flags: object, terminal: Terminal): Promise<void>;
}

/** The exit code if everything worked, but a gate failed: coverage, a run of a sweep, a verdict. */
export const EXIT_GATE_FAILED = 3;

export function misuse(origin: string, expected: string, found: string): UsageError {
  return new UsageError(`${origin}: expected ${expected}, found ${found}`);
}

export async function readTextFile(
  file: string,
  origin: string,
  expected: string,
): Promise<string> {
  const read = await readText(file, SETTINGS_LIMIT);
  if (read.ok) return read.text;
  throw misuse(origin, `${expected} at ${file}`, read.found);
}

export function parseChoice<Word extends string>(
  words: readonly Word[],
  text: string | undefined,
  origin: string,
  expected = joinWords(words, 'or'),
): Word {
  const word = words.find((known) => known === text);
  if (word !== undefined) return word;
  throw misuse(origin, expected, `${describe(text)}${suggest(text ?? '', words)}`);
}

/** The variables of the environment. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** @param flag the name of the flag that names the file */
export async function readCertificate(
  flag: string,
  file: string | undefined,
): Promise<string | undefined> {
  return file === undefined ? undefined : readTextFile(file, `--${flag}`, 'a certificate in PEM');
}
