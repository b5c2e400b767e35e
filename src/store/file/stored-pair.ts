import { readFileSync } from 'node:fs';
import { codeOf } from '../../error-code.ts';
import { LogError } from '../log/change-log.ts';
import type { Store } from '../store.ts';
import { fingerprintOf, isSame } from './fingerprint.ts';
import { type LogContent, linesSince, type Mark, readLog, type StoreEntry } from './log-lines.ts';
import { StoreJson } from './store-json.ts';
import { unwritable } from './unwritable.ts';

/** The content of a store file and its log. */
export interface StoredPair {
  readonly store: Store;
  /** What the file holds. */
  readonly mark: Mark;
  /** The changes since. */
  readonly entries: readonly StoreEntry[];
  /** The lines of the log with these changes. */
  readonly lines: Buffer;
  /** Bytes of a damaged or cut line at the end of the log. */
  readonly torn: number;
  /** Whether the log was folded into a file that had more changes. */
  readonly isOlder: boolean;
}

/** The path of the log of a file. */
export function logPathOf(path: string): string {
  return `${path}.log`;
}

/**
 * Reads a file and its log.
 *
 * @returns undefined if there is no file
 * @throws FixtureError if the file does not hold a store, LogError if the log is damaged or
 *   belongs to another content of the file
 */
export async function readPair(path: string): Promise<StoredPair | undefined> {
  const store = await new StoreJson(path).read();
  const logPath = logPathOf(path);
  const bytes = bytesOf(logPath);
  const log = readLog(logPath, bytes);
  if (store === null) {
    if (log.lines.length > 0) throw new LogError(withoutFile(path, log));
    return undefined;
  }
  const mark = await markOf(path, log);
  const since = linesSince(logPath, log, mark);
  const from = since[0]?.offset ?? log.size;
  const entries = since.flatMap((line) => line.entries);
  return {
    store,
    mark,
    entries,
    lines: bytes.subarray(from, log.size),
    torn: bytes.length - log.size,
    isOlder: mark.at + entries.length < (log.marks.at(-1)?.at ?? 0),
  };
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return Buffer.alloc(0);
    throw unwritable(path, error);
  }
}

/** The position at which the state was what the file holds. */
async function markOf(path: string, { marks, lines }: LogContent): Promise<Mark> {
  const file = await fingerprintOf(path);
  const mark = marks.findLast((it) => isSame(it.file, file));
  if (mark !== undefined) return mark;
  if (lines.length === 0) return { file, at: 0 };
  const log = logPathOf(path);
  throw new LogError(
    `${path} was edited, but ${log} holds ${countOf(lines)} to its former content; to use the edited file without them, delete ${log}; to keep them, restore the file`,
  );
}

function withoutFile(path: string, { lines }: LogContent): string {
  const log = logPathOf(path);
  return `${path} is missing, but ${log} holds ${countOf(lines)} to it; restore the file, or delete ${log} to start with a new one`;
}

function countOf(lines: LogContent['lines']): string {
  const count = lines.reduce((sum, { entries }) => sum + entries.length, 0);
  return count === 1 ? '1 change' : `${count} changes`;
}
