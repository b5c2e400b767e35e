import type { AnyRecord } from '../../core/contract/records.ts';
import type { ControlReply } from '../../core/control/reply.ts';
import type { ListQuery } from '../../core/control/store/list-query.ts';
import { matchesWhere } from '../../core/shape/record-shapes.ts';
import { listText, recordText } from '../../core/store/store-text.ts';

export interface RecordSource<R> {
  readonly size: number;
  ascending(): Iterable<R>;
}

export interface Page<R> {
  readonly records: readonly R[];
  readonly total: number;
}

const DEFAULT_PAGE_SIZE = 10;

/** @param searched the fields that `q` searches */
export function selectPage<R extends AnyRecord>(
  source: RecordSource<R>,
  { where, q, sort, orders, page, limit }: ListQuery,
  searched: readonly string[],
): Page<R> {
  const size = limit ?? (page === undefined ? Number.POSITIVE_INFINITY : DEFAULT_PAGE_SIZE);
  const start = page === undefined ? 0 : (page - 1) * size;
  const end = start + size;
  const isFiltered = where.size > 0 || q !== undefined;
  const isSorted = sort.length > 0;
  const records: R[] = [];
  let total = 0;
  for (const record of source.ascending()) {
    // The page is full, and without filter and order nothing after it matters.
    if (!isFiltered && !isSorted && total >= end) return { records, total: source.size };
    if (!matchesWhere(record, where, readText)) continue;
    if (q !== undefined && !hasText(record, q, searched)) continue;
    if (isSorted || (total >= start && total < end)) records.push(record);
    total += 1;
  }
  if (!isSorted) return { records, total };
  records.sort((a, b) => {
    for (const [at, name] of sort.entries()) {
      const sooner = compare(a[name], b[name]);
      if (sooner !== 0) return /desc/i.test(orders[at] ?? '') ? -sooner : sooner;
    }
    return 0;
  });
  return { records: records.slice(start, end), total };
}

/** A value as the text that a query would have; null for an absent field. */
const readText = (value: unknown) => (value === null ? null : String(value));

function hasText(record: AnyRecord, text: string, names: readonly string[]): boolean {
  const wanted = text.toLowerCase();
  // As in json-server, 0 and false are not found.
  return names.some((name) => record[name] && String(record[name]).toLowerCase().includes(wanted));
}

type Scalar = string | number | bigint | boolean;

/** Sorts numbers by value, texts by code units, false before true, absent fields last. */
function compare(a: unknown, b: unknown): number {
  if (!isPresent(a) || !isPresent(b)) return Number(a === undefined) - Number(b === undefined);
  return a < b ? -1 : Number(a > b);
}

function isPresent(value: unknown): value is Scalar {
  return value !== undefined;
}

export function createListReply({ records, total }: Page<object>): ControlReply {
  return {
    status: 200,
    headers: { 'X-Total-Count': String(total) },
    content: listText(records, recordText),
  };
}
