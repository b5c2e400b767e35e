import { parseJson } from '../contract/json.ts';
import { type Fields, isObject, RECORDS, type RecordName } from '../contract/records.ts';
import type { Reply, ShownRecord } from '../service/reply.ts';

/** What records show to whoever reads them, each a bit of a number. */
export const FACTS = {
  none: 1,
  available: 2,
  pending: 4,
  sold: 8,
  'unseen-status': 16,
  'no-status': 32,
  'large-id': 64,
  'all-fields': 128,
  'absent-fields': 256,
  complete: 512,
  incomplete: 1024,
} as const;

export type Fact = keyof typeof FACTS;

/** Records of a long list that are read: those behind them rarely show anything new. */
const MOST_READ = 10_000;

const LARGEST_EXACT = BigInt(Number.MAX_SAFE_INTEGER);

/** Beyond 2^53, where a double no longer holds every integer. */
export function isLarge(id: bigint): boolean {
  return id > LARGEST_EXACT || id < -LARGEST_EXACT;
}

/** The fields of one kind of record, sorted by what is looked for in them. */
interface Kind {
  readonly names: readonly string[];
  readonly ids: readonly string[];
  readonly seen: readonly string[];
}

function kindOf(name: RecordName): Kind {
  const fields: Fields = RECORDS[name];
  const names = Object.keys(fields);
  const ids = names.filter((it) => fields[it]?.type === 'int64');
  return { names, ids, seen: fields.status?.seen ?? [] };
}

const KINDS: Readonly<Record<RecordName, Kind>> = {
  Animal: kindOf('Animal'),
  InventoryEntry: kindOf('InventoryEntry'),
  Order: kindOf('Order'),
  Error: kindOf('Error'),
};

/** The facts of lists and of their groups, which are the same objects as long as nothing changes. */
const known = new WeakMap<object, number>();

/** The facts that a reply with records of one kind shows. */
export function factsOf({ records, body }: Reply, name: RecordName): number {
  const kind = KINDS[name];
  if (records === undefined) {
    return body.kind === 'json' ? factsOfText(body.text.toString(), kind) : 0;
  }
  let facts = known.get(records);
  if (facts === undefined) {
    facts = factsOfGroups(records, kind);
    // A long list is drawn while it is read, so its facts are not those of an object.
    if (Array.isArray(records) && records.length > 1) known.set(records, facts);
  }
  return facts;
}

/** Only a body that was forced has to be parsed: no record stands behind it. */
function factsOfText(text: string, kind: Kind): number {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return 0;
  }
  const records = Array.isArray(value) ? value.filter(isObject) : [value].filter(isObject);
  return records.length > 0 || Array.isArray(value) ? factsOfGroups([records], kind) : 0;
}

function factsOfGroups(groups: Iterable<readonly ShownRecord[]>, kind: Kind): number {
  let facts = 0;
  let read = 0;
  for (const group of groups) {
    const [only] = group;
    facts |=
      only !== undefined && group.length === 1
        ? factsOfRecord(only, kind)
        : factsOfGroup(group, kind);
    read += group.length;
    if (read >= MOST_READ) break;
  }
  return read === 0 ? FACTS.none : facts;
}

function factsOfGroup(group: readonly ShownRecord[], kind: Kind): number {
  let facts = known.get(group);
  if (facts === undefined) {
    facts = group.slice(0, MOST_READ).reduce((all, record) => all | factsOfRecord(record, kind), 0);
    known.set(group, facts);
  }
  return facts;
}

function factsOfRecord(record: ShownRecord, { names, ids, seen }: Kind): number {
  let facts: number = FACTS['all-fields'];
  for (const name of names) if (isAbsent(record[name])) facts = FACTS['absent-fields'];
  for (const name of ids) {
    const id = record[name];
    if (typeof id === 'bigint' && isLarge(id)) facts |= FACTS['large-id'];
  }
  const { status, complete } = record;
  if (isAbsent(status)) facts |= FACTS['no-status'];
  else if (typeof status === 'string') facts |= factOfStatus(seen.includes(status) ? status : '');
  if (complete === true) facts |= FACTS.complete;
  if (complete === false) facts |= FACTS.incomplete;
  return facts;
}

function factOfStatus(status: string): number {
  switch (status) {
    case 'available':
    case 'pending':
    case 'sold':
      return FACTS[status];
    default:
      return FACTS['unseen-status'];
  }
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
