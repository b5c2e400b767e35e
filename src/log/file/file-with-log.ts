import { existsSync, readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { parseJson, writeJson } from '../../contract/json.ts';
import { codeOf } from '../../node-errors.ts';
import { readText, STORE_LIMIT } from '../../read-text.ts';
import { KeeperError } from '../../sandbox/keeper.ts';
import { internal, object } from '../../shape/objects.ts';
import { integer, list, readAs, type ValueOf } from '../../shape/shapes.ts';
import { contentOf, type FileContent } from '../../store/file/files.ts';
import { parseFixture } from '../../store/fixture/parse-fixture.ts';
import { applyStoreChange, STORE_CHANGE, type Store, type StoreChange } from '../../store/store.ts';
import { writeError } from './log-file.ts';

/** What a store file and its log hold together. */
export interface FileWithLog {
  readonly store: Store;
  /** What the file alone holds, and how many changes that has. */
  readonly file: FileContent;
  readonly at: number;
  /** How many changes the store has. */
  readonly position: number;
  /** A log with the changes that the file lacks. */
  readonly log: Buffer;
  /** Notices of what the store may lack. */
  readonly losses: readonly string[];
}

const { required, optional } = internal;
const COUNT = integer(0, Number.MAX_SAFE_INTEGER);

/**
 * A line of a log: changes that were kept together, or which content of the file has the changes of all
 * lines before. The first line is of the second kind.
 */
const LINE = object({
  /** How many changes there were before this line. */
  after: required(COUNT),
  changes: optional(list(STORE_CHANGE)),
  file: optional(object({ size: required(COUNT), crc32: required(COUNT) })),
});

/** Hexadecimal digits of a checksum, and a space. */
const CHECKSUM = 9;
const NEWLINE = 10;
/** What follows the digits. No record has it: JSON escapes the quotes in a text. */
const START = ' {"after":';

export function fileLine(after: number, { size, crc32: checksum }: FileContent): Buffer {
  return lineOf({ after, file: { size, crc32: checksum } });
}

export function changesLine(after: number, changes: readonly StoreChange[]): Buffer {
  return lineOf({ after, changes });
}

function lineOf(line: ValueOf<typeof LINE>): Buffer {
  const text = writeJson(line);
  return Buffer.from(`${checksumOf(text)} ${text}\n`);
}

function checksumOf(text: string | Buffer): string {
  return crc32(text)
    .toString(16)
    .padStart(CHECKSUM - 1, '0');
}

/** The path of the log of a file. */
export function logPathOf(path: string): string {
  return `${path}.log`;
}

/**
 * Reads a file and its log.
 *
 * @returns undefined if there is no file
 * @throws FixtureError if the file does not hold a store, KeeperError if the log is damaged or
 *   belongs to another content of the file
 */
export async function readFileWithLog(path: string): Promise<FileWithLog | undefined> {
  const reading = existsSync(path) ? await readText(path, STORE_LIMIT) : undefined;
  const stored = reading && parseFixture(path, reading);
  const log = logPathOf(path);
  const bytes = bytesOf(log);
  const lines = readLines(log, bytes);
  const count = lines.reduce((sum, { changes }) => sum + changes.length, 0);
  const held = `${log} holds ${count === 1 ? '1 change' : `${count} changes`}`;
  if (stored === undefined) {
    if (count === 0) return undefined;
    throw new KeeperError(
      `${path} is missing, but ${held} to it; restore the file, or delete ${log} to start with a new one`,
    );
  }
  const file = contentOf(reading?.ok ? reading.text : '');
  const { after: latest = 0, end = 0 } = lines.at(-1) ?? {};
  const losses: string[] = [];
  if (end < bytes.length) {
    const torn = bytes.length - end;
    losses.push(`${log}: the last line was damaged or cut; it is left out (${torn} bytes)`);
  }
  const index = lines.findLastIndex(
    (line) => line.file?.size === file.size && line.file.crc32 === file.crc32,
  );
  const known = lines[index];
  if (known !== undefined) {
    const changes = lines.slice(index).flatMap((line) => line.changes);
    const store = changes.reduce(applyStoreChange, stored);
    const position = known.after + changes.length;
    const rest = bytes.subarray(known.offset, end);
    return { store, file, at: known.after, position, log: rest, losses };
  }
  if (count > 0) {
    throw new KeeperError(
      `${path} was edited, but ${held} to its former content; to use the edited file without them, delete ${log}; to keep them, restore the file`,
    );
  }
  if (latest > 0) {
    losses.push(
      `${path} is older than what ${log} was folded into, or was edited: it lacks changes`,
    );
  }
  return { store: stored, file, at: 0, position: 0, log: fileLine(0, file), losses };
}

/**
 * Reads the lines of a log. Leaves out the last one if it is damaged or cut.
 *
 * @param path the name of the log in messages
 * @throws KeeperError if it is damaged before its last line
 */
function readLines(path: string, bytes: Buffer) {
  const lines = [];
  let [offset, position] = [0, 0];
  for (let number = 1; offset < bytes.length; number += 1) {
    const damaged = (why: string): KeeperError =>
      new KeeperError(
        `${path}:${number}: damaged at byte ${offset}: ${why}; restore the log from a copy, or delete it to start without its changes`,
      );
    const found = bytes.indexOf(NEWLINE, offset);
    const newline = found < 0 ? bytes.length : found;
    if (!isWhole(bytes, offset, newline)) {
      // More lines may follow without a newline before them, if that is what is damaged.
      const isLast = newline >= bytes.length - 1 && !bytes.includes(START, offset + CHECKSUM);
      if (number > 1 && isLast) break;
      throw damaged('the checksum does not match');
    }
    const reading = readAs(LINE, parseJson(bytes.toString('utf8', offset + CHECKSUM, newline)));
    if (!reading.ok) {
      throw new KeeperError(
        `${path}:${number}: another version of petstore-mock wrote this log; start and stop that version once to have its changes in the file, or delete the log to start without them`,
      );
    }
    const { after, changes = [], file } = reading.value;
    if (number > 1 && after !== position) {
      throw damaged(`expected change ${position + 1}, found ${after + 1}`);
    }
    const end = newline + 1;
    lines.push({ after, changes, file, offset, end });
    position = after + changes.length;
    offset = end;
  }
  return lines;
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return Buffer.alloc(0);
    throw writeError(path, error);
  }
}

function isWhole(bytes: Buffer, offset: number, end: number): boolean {
  if (end >= bytes.length) return false;
  const checksum = bytes.toString('latin1', offset, offset + CHECKSUM);
  return checksum === `${checksumOf(bytes.subarray(offset + CHECKSUM, end))} `;
}
