import type { Run } from '../store/changes.ts';
import type { Collection } from '../store/collection.ts';
import { Kept } from './kept.ts';
import { type Grounds, type Reply, reply, type ShownRecord } from './reply.ts';
import { REPRESENTATIONS } from './representation.ts';

/** The size of each cache in bytes: of lists, of their runs, and of pages. */
export const MOST_BYTES = 8 * 1024 ** 2;

/** The estimated size of a record in a cache. */
const RECORD_BYTES = 128;

/** Characters up to which a string is written to a socket faster than its bytes are. */
const LONGEST_STRING = 8192;

/** A longer list is written while it is sent, so that it does not delay other replies. */
const MOST_AT_ONCE = 10_000;

/** A JSON array and the records in it. */
export interface WrittenList {
  readonly text: string | Buffer;
  /** In groups. A group is the same object as long as its records are the same. */
  readonly records: readonly (readonly ShownRecord[])[];
  readonly bytes: number;
}

/** The JSON of consecutive records, separated by commas. */
interface WrittenRun {
  readonly text: string;
  readonly records: readonly ShownRecord[];
  readonly bytes: number;
}

/** The number of ways to write a list: all or some records in each representation. */
const WAYS = 2 * REPRESENTATIONS;

const lists = new Kept<WrittenList>(MOST_BYTES);
const runs = new Kept<WrittenRun>(MOST_BYTES);

/** How to list a collection. */
export interface Listing<R extends ShownRecord> {
  readonly collection: Collection<R>;
  /** @returns undefined for a record that is not listed */
  readonly write: (record: R) => string | undefined;
  /** Unique to this `write`, and below `WAYS`. Undefined if its result depends on more than the record. */
  readonly way: number | undefined;
}

/** Joins the JSON of records to an array. */
export function writtenList(
  texts: readonly string[],
  records: WrittenList['records'],
): WrittenList {
  const json = `[${texts.join(',')}]`;
  const text = json.length > LONGEST_STRING ? Buffer.from(json) : json;
  const count = records.reduce((sum, { length }) => sum + length, 0);
  return { text, records, bytes: Buffer.byteLength(text) + RECORD_BYTES * count };
}

/** A reply with a whole collection. */
export function listReply<R extends ShownRecord>(grounds: Grounds, listing: Listing<R>): Reply {
  const { collection, way } = listing;
  if (collection.size > MOST_AT_ONCE) return longListReply(grounds, listing);
  const key = way === undefined ? undefined : collection.version * WAYS + way;
  const { text, records } = lists.get(key) ?? lists.keep(key, writeList(listing));
  return reply(grounds, 200, { kind: 'json', text }, undefined, records);
}

function writeList<R extends ShownRecord>(listing: Listing<R>): WrittenList {
  const written = [...listing.collection.runs()].map((run) => runOf(run, listing));
  const filled = written.filter(({ records }) => records.length > 0);
  return writtenList(
    filled.map(({ text }) => text),
    filled.map(({ records }) => records),
  );
}

/** Caches runs by version, so that only changed runs are written again. */
function runOf<R extends ShownRecord>(run: Run<R>, { way, write }: Listing<R>): WrittenRun {
  const key = way === undefined ? undefined : run.version * WAYS + way;
  const known = runs.get(key);
  if (known !== undefined) return known;
  const records: R[] = [];
  const texts: string[] = [];
  for (const record of run.records()) {
    const text = write(record);
    if (text === undefined) continue;
    records.push(record);
    texts.push(text);
  }
  const text = texts.join(',');
  return runs.keep(key, { text, records, bytes: text.length + RECORD_BYTES * records.length });
}

function longListReply<R extends ShownRecord>(
  grounds: Grounds,
  { collection, write }: Listing<R>,
): Reply {
  // The list does not show changes that are made while it is sent.
  const fork = collection.fork();
  const pieces = {
    *[Symbol.iterator]() {
      let open = '[';
      for (const record of fork.ascending()) {
        const text = write(record);
        if (text === undefined) continue;
        yield open + text;
        open = ',';
      }
      yield open === '[' ? '[]' : ']';
    },
  };
  const records = {
    *[Symbol.iterator]() {
      for (const run of fork.runs()) {
        yield run.records().filter((record) => write(record) !== undefined);
      }
    },
  };
  return reply(grounds, 200, { kind: 'pieces', pieces }, undefined, records);
}
