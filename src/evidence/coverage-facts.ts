import { parseJson } from '../contract/json.ts';
import { type Fields, isObject, RECORDS, type RecordName } from '../contract/records.ts';
import type { Reply, ShownRecord } from '../service/reply.ts';

/** What records can show a client, one bit each. */
export const RECORD_FACTS = {
  empty: 1 << 0,
  available: 1 << 1,
  pending: 1 << 2,
  sold: 1 << 3,
  'unseen-status': 1 << 4,
  'without-status': 1 << 5,
  'large-id': 1 << 6,
  'all-fields': 1 << 7,
  'absent-fields': 1 << 8,
  complete: 1 << 9,
  incomplete: 1 << 10,
} as const;

const STATUS_FACTS: ReadonlyMap<string, number> = new Map(
  (['available', 'pending', 'sold'] as const).map((status) => [status, RECORD_FACTS[status]]),
);

/** Records read of a long list, in one step that takes up to 10 ms; later ones rarely show anything new. */
const MOST_READ = 2000;

const LARGEST_EXACT = BigInt(Number.MAX_SAFE_INTEGER);

/** Beyond 2^53, where a double no longer holds every integer. */
export function isLarge(id: bigint): boolean {
  return id > LARGEST_EXACT || id < -LARGEST_EXACT;
}

/** The facts of lists and groups; these stay the same objects until a record changes. */
const known = new WeakMap<object, number>();

const ALL_FACTS = -1;
const FIELD_FACTS = RECORD_FACTS['all-fields'] | RECORD_FACTS['absent-fields'];

/** The facts that a reply with records of one kind shows. May leave out those not in `wanted`. */
export function recordFacts({ records, body }: Reply, name: RecordName, wanted: number): number {
  const fields = RECORDS[name];
  if (records === undefined) {
    return body.kind === 'json' ? factsOfText(body.text.toString(), fields) : 0;
  }
  // A long list is generated as it is read: there is no object to keep its facts by.
  if (!Array.isArray(records) || records.length <= 1) return factsOfGroups(records, fields, wanted);
  let facts = known.get(records);
  if (facts === undefined) {
    facts = factsOfGroups(records, fields, ALL_FACTS);
    known.set(records, facts);
  }
  return facts;
}

/** Only forced bodies are parsed: they come without records. */
function factsOfText(text: string, fields: Fields): number {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return 0;
  }
  const records = Array.isArray(value) ? value.filter(isObject) : [value].filter(isObject);
  return records.length > 0 || Array.isArray(value)
    ? factsOfGroups([records], fields, ALL_FACTS)
    : 0;
}

function factsOfGroups(
  groups: Iterable<readonly ShownRecord[]>,
  fields: Fields,
  wanted: number,
): number {
  let facts = 0;
  let read = 0;
  for (const group of groups) {
    const [only] = group;
    facts |=
      only !== undefined && group.length === 1
        ? factsOfRecord(only, fields, wanted)
        : factsOfGroup(group, fields);
    read += group.length;
    if (read >= MOST_READ) break;
  }
  return read === 0 ? RECORD_FACTS.empty : facts;
}

function factsOfGroup(group: readonly ShownRecord[], fields: Fields): number {
  let facts = known.get(group);
  if (facts === undefined) {
    facts = 0;
    for (const record of group.slice(0, MOST_READ))
      facts |= factsOfRecord(record, fields, ALL_FACTS);
    known.set(group, facts);
  }
  return facts;
}

function factsOfRecord(record: ShownRecord, fields: Fields, wanted: number): number {
  let facts = 0;
  if ((wanted & FIELD_FACTS) !== 0) {
    const lacksField = Object.keys(fields).some((name) => isAbsent(record[name]));
    facts |= RECORD_FACTS[lacksField ? 'absent-fields' : 'all-fields'];
  }
  if ((wanted & RECORD_FACTS['large-id']) !== 0) {
    for (const name in fields) {
      const value = record[name];
      if (typeof value === 'bigint' && fields[name]?.type === 'int64' && isLarge(value)) {
        facts |= RECORD_FACTS['large-id'];
      }
    }
  }
  const { status, complete } = record;
  if (isAbsent(status)) facts |= RECORD_FACTS['without-status'];
  else if (typeof status === 'string') {
    const fact = fields.status?.seen?.includes(status) ? STATUS_FACTS.get(status) : undefined;
    facts |= fact ?? RECORD_FACTS['unseen-status'];
  }
  if (complete === true) facts |= RECORD_FACTS.complete;
  if (complete === false) facts |= RECORD_FACTS.incomplete;
  return facts;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
