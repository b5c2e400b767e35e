import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from './error-code.ts';
import { firstProblems } from './words.ts';

const MEBIBYTE = 1024 ** 2;

/** Bytes of a fixture or a `--db` file: V8 holds at most 512 MiB in a string. */
export const STORE_LIMIT = 500 * MEBIBYTE;

/** Bytes of a scenario or a config file. */
export const SETTINGS_LIMIT = 16 * MEBIBYTE;

/** Milliseconds between two reads of an empty pipe. */
const PAUSE = 10;

/** Reads of a pipe that nobody has opened for writing before giving up: 5 seconds. */
const PATIENCE = 500;

/** Bytes read at once if the size is unknown: the capacity of a pipe. */
const CHUNK = 64 * 1024;

/** The text of a file, or what was found instead, such as `a device`. */
export type TextReading =
  | { readonly ok: true; readonly text: string; readonly pipe: boolean }
  | { readonly ok: false; readonly found: string };

/** The content of a file cannot be used. The message has a line for each of the first 20 problems. */
export class ContentError extends Error {
  /** Every problem, each as `FILE:LINE:COLUMN: PATH: expected …, found …`. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(firstProblems(problems, String).join('\n'));
    this.problems = problems;
  }
}

/**
 * Reads text from a regular file or a pipe. Every file that a flag names is read here. Signals and
 * requests are handled while it waits for a pipe.
 *
 * @param limit in bytes; longer text is refused
 */
export async function readText(path: string, limit: number): Promise<TextReading> {
  const steps = reading(path, limit);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await sleep(step.value);
  }
}

/** `readText` for callers that cannot wait: refuses a pipe whose text has not arrived. */
export function readTextSync(path: string, limit: number): TextReading {
  const steps = reading(path, limit);
  const step = steps.next();
  if (step.done === true) return step.value;
  const refusal = { ok: false, found: 'a pipe, which this call cannot wait for' } as const;
  steps.return(refusal);
  return refusal;
}

/** Reads text. Yields how many milliseconds to wait for more. */
function* reading(path: string, limit: number): Generator<number, TextReading> {
  let descriptor: number | undefined;
  try {
    // Without the flag, opening a pipe blocks the process until another one writes to it.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(descriptor);
    if (!stats.isFile() && !stats.isFIFO()) return { ok: false, found: kindOf(stats) };
    if (stats.size > limit) return { ok: false, found: tooLong(limit) };
    return yield* readAll(descriptor, stats, limit);
  } catch (error) {
    return { ok: false, found: whyUnreadable(error) };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function* readAll(descriptor: number, stats: Stats, limit: number): Generator<number, TextReading> {
  const pipe = stats.isFIFO();
  const chunks: Buffer[] = [];
  let length = 0;
  let hadWriter = !pipe;
  let looks = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(Math.max(stats.size - length + 1, CHUNK));
    const count = readSome(descriptor, chunk);
    if (count === undefined || count > 0) hadWriter = true;
    if (count === undefined || !hadWriter) {
      looks += 1;
      if (!hadWriter && looks > PATIENCE) return { ok: false, found: 'a pipe without a writer' };
      // A writer that was just active probably has more.
      yield looks === 1 ? 0 : PAUSE;
      continue;
    }
    if (count === 0) {
      const [first, ...others] = chunks;
      // A whole file is one chunk, and can be large.
      const bytes = first && others.length === 0 ? first : Buffer.concat(chunks, length);
      return { ok: true, text: bytes.toString(), pipe };
    }
    looks = 0;
    // Copied from pipes: a slow writer would leave most of each chunk empty.
    chunks.push(pipe ? Buffer.from(chunk.subarray(0, count)) : chunk.subarray(0, count));
    length += count;
    if (length > limit) return { ok: false, found: tooLong(limit) };
  }
}

/** @returns the number of bytes, 0 at the end, or undefined if a pipe is empty for now */
function readSome(descriptor: number, chunk: Buffer): number | undefined {
  try {
    return readSync(descriptor, chunk);
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return undefined;
    throw error;
  }
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory';
  return stats.isSocket() ? 'a socket' : 'a device';
}

function tooLong(limit: number): string {
  return `more than ${limit / MEBIBYTE} MiB`;
}

function whyUnreadable(error: unknown): string {
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'nothing';
    case 'EISDIR':
      return 'a directory';
    case 'ENXIO':
      return 'a socket or a device';
    default:
      return `something that cannot be read (${codeOf(error) ?? String(error)})`;
  }
}
