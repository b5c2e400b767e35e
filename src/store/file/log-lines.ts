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
  /** The bytes of all whole lines. What follows was never acknowledged. */
  readonly size: number;
}

/** A line with entries. */
interface EntriesLine {
  /** Where it is, in bytes. */
  readonly offset: number;
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
 * Reads a log. Leaves out a torn line at its end: a server that was writing it has ended.
 *
 * @param path its name in messages
 * @throws LogError if it is damaged before its end
 */
export function readLog(path: string, bytes: Buffer): LogContent {
  const marks: Mark[] = [];
  const lines: EntriesLine[] = [];
  let [offset, number, position] = [0, 1, 0];
  const damaged = (why: string): LogError =>
    new LogError(
      `${path}:${number}: damaged at byte ${offset}: ${why}; restore the log from a copy, or delete it to start without its changes`,
    );
  for (; offset < bytes.length; number += 1) {
    const end = endOf(bytes, offset);
    if (!isWhole(bytes, offset, end)) {
      if (number > 1 && !hasWholeLine(bytes, end + 1)) break;
      throw damaged('the checksum does not match');
    }
    const reading = readAs(LINE, parseJson(bytes.toString('utf8', offset + CHECKSUM, end)));
    if (!reading.ok) throw damaged('expected a line of a log');
    const { file, at = 0, after = position, changes = [] } = reading.value;
    // The file can be ahead of the log: a large change is only in the file.
    if (file !== undefined) position = Math.max(position, at);
    if (after !== position && changes.length > 0)
      throw damaged(`expected change ${position + 1}, found ${after + 1}`);
    if (file !== undefined) marks.push({ file, at });
    if (changes.length > 0) lines.push({ offset, after, entries: changes });
    position += changes.length;
    offset = end + 1;
  }
  return { marks, lines, size: Math.min(offset, bytes.length) };
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

function hasWholeLine(bytes: Buffer, from: number): boolean {
  for (let offset = from; offset < bytes.length; ) {
    const end = endOf(bytes, offset);
    if (isWhole(bytes, offset, end)) return true;
    offset = end + 1;
  }
  return false;
}
