import { crc32 } from 'node:zlib';
import { parseJson } from '../../contract/json.ts';
import { object, optional, required } from '../../shape/objects.ts';
import { readAs } from '../../shape/read-as.ts';
import { convert, integer, list } from '../../shape/shapes.ts';
import { LogError, type Position } from '../log/change-log.ts';
import type { StoreChange } from '../log/store-change.ts';
import { STORE_CHANGE, storeChangeText } from '../log/store-change-text.ts';
import type { Fingerprint } from './fingerprint.ts';

/** What the log of a file keeps of a change. */
export interface StoreEntry {
  readonly store?: StoreChange | undefined;
}

/** Says which content of the file holds the state at a position. The first line of a log is one. */
export interface Mark {
  readonly file: Fingerprint;
  readonly at: Position;
}

/** The content of a log. */
export interface LogContent {
  readonly marks: readonly Mark[];
  readonly lines: readonly EntriesLine[];
  /** The bytes of all whole lines. What follows is a damaged or cut line. */
  readonly size: number;
}

/** The place of a line. */
interface Place {
  readonly number: number;
  /** In bytes. */
  readonly offset: number;
}

/** A line with entries. */
interface EntriesLine extends Place {
  /** The position before its entries. */
  readonly after: Position;
  readonly entries: readonly StoreEntry[];
}

const COUNT = integer(0, Number.MAX_SAFE_INTEGER);

const LINE = object({
  file: optional(
    object({ size: required(COUNT, 'In bytes.'), crc32: required(COUNT, 'Of its bytes.') }),
    'The content of the file at a position.',
  ),
  at: optional(COUNT, 'That position.'),
  after: optional(COUNT, 'The position before the changes.'),
  changes: optional(
    list(convert(STORE_CHANGE, (store): StoreEntry => ({ store }))),
    'The changes of requests that were kept together.',
  ),
});

/** Hexadecimal digits of a checksum, and a space. */
const CHECKSUM = 9;
const NEWLINE = 10;
/** What follows the digits. */
const START = ' {"';

export function markLine({ file: { size, crc32: checksum }, at }: Mark): Buffer {
  return lineOf(`{"file":{"size":${size},"crc32":${checksum}},"at":${at}}`);
}

export function entriesLine(after: Position, entries: readonly StoreEntry[]): Buffer {
  const changes = entries.map(({ store = {} }) => storeChangeText(store));
  return lineOf(`{"after":${after},"changes":[${changes.join()}]}`);
}

function lineOf(text: string): Buffer {
  return Buffer.from(`${checksumOf(text)} ${text}\n`);
}

function checksumOf(text: string | Buffer): string {
  return crc32(text)
    .toString(16)
    .padStart(CHECKSUM - 1, '0');
}

/**
 * Reads a log. Leaves out its last line if that is damaged or cut: the server may have ended while it
 * wrote it.
 *
 * @param path its name in messages
 * @throws LogError if it is damaged before its last line
 */
export function readLog(path: string, bytes: Buffer): LogContent {
  const marks: Mark[] = [];
  const lines: EntriesLine[] = [];
  let offset = 0;
  for (let number = 1; offset < bytes.length; number += 1) {
    const place = { number, offset };
    const end = endOf(bytes, offset);
    if (!isWhole(bytes, offset, end)) {
      const isLast = end >= bytes.length - 1 && !hasWholeLine(bytes, offset + 1);
      if (number > 1 && isLast) break;
      throw damaged(path, place, 'the checksum does not match');
    }
    const reading = readAs(LINE, parseJson(bytes.toString('utf8', offset + CHECKSUM, end)));
    if (!reading.ok) throw damaged(path, place, 'expected a line of a log');
    const { file, at = 0, after = 0, changes = [] } = reading.value;
    if (file !== undefined) marks.push({ file, at });
    if (changes.length > 0) lines.push({ ...place, after, entries: changes });
    offset = end + 1;
  }
  return { marks, lines, size: offset };
}

/**
 * The lines with the changes since a mark.
 *
 * @param path the name of the log in messages
 * @throws LogError if one is missing: the log may lack a change that only a later file has
 */
export function linesSince(
  path: string,
  { lines }: LogContent,
  { at }: Mark,
): readonly EntriesLine[] {
  let position = at;
  const since = lines.filter(({ after }) => after >= at);
  for (const line of since) {
    const { after, entries } = line;
    if (after !== position)
      throw damaged(path, line, `expected change ${position + 1}, found ${after + 1}`);
    position += entries.length;
  }
  return since;
}

function damaged(path: string, { number, offset }: Place, why: string): LogError {
  return new LogError(
    `${path}:${number}: damaged at byte ${offset}: ${why}; restore the log from a copy, or delete it to start without its changes`,
  );
}

/** The offset of the newline that ends a line, or the end. */
function endOf(bytes: Buffer, offset: number): number {
  const end = bytes.indexOf(NEWLINE, offset);
  return end < 0 ? bytes.length : end;
}

function isWhole(bytes: Buffer, offset: number, end: number): boolean {
  if (end >= bytes.length) return false;
  const checksum = bytes.toString('latin1', offset, offset + CHECKSUM);
  return checksum === `${checksumOf(bytes.subarray(offset + CHECKSUM, end))} `;
}

/** Whether a whole line begins at an offset or after it, even if the newline before it is damaged. */
function hasWholeLine(bytes: Buffer, from: number): boolean {
  let start = bytes.indexOf(START, from + CHECKSUM - 1);
  while (start >= 0) {
    if (isWhole(bytes, start - CHECKSUM + 1, endOf(bytes, start))) return true;
    start = bytes.indexOf(START, start + 1);
  }
  return false;
}
