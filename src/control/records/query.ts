import type { Fields } from '../../contract/records.ts';
import { matchingPatterns, TooSlow } from './patterns.ts';
import {
  type AnyRecord,
  type Filter,
  isNumeric,
  type Query,
  readQuery,
  type Slice,
  type SortKey,
} from './read-query.ts';

/** Where the records come from: a `Collection` is one. */
export interface Source<R> {
  readonly size: number;
  /** The records in the order in which they are listed where no other is asked for. */
  ascending(): Iterable<R>;
}

/** The pages to go to from a page; undefined where there is none to go to. */
export interface Pages {
  readonly first: number | undefined;
  readonly prev: number | undefined;
  readonly next: number | undefined;
  readonly last: number | undefined;
}

export type QueryAnswer<R> =
  | {
      readonly ok: true;
      readonly records: R[];
      /** How many there would be without a slice: `X-Total-Count`. */
      readonly total: number;
      /** Undefined where the query has no `_page`. */
      readonly pages: Pages | undefined;
    }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Answers a query of a control API's list. Memory is needed for the records of the answer only,
 * unless the query sorts.
 *
 * @param fields of the records
 * @param parameters the query's names and values, decoded, such as a `URLSearchParams`
 * @example queryRecords(STORED_RECORDS.animals, store.animals, new URLSearchParams('status=sold'))
 */
export function queryRecords<R extends AnyRecord>(
  fields: Fields,
  source: Source<R>,
  parameters: Iterable<readonly [string, string]>,
): QueryAnswer<R> {
  const query = readQuery(fields, parameters);
  if (!query.ok) return query;
  try {
    return answer(query, source);
  } catch (error) {
    if (!(error instanceof TooSlow)) throw error;
    return { ok: false, problems: [error.message] };
  }
}

/**
 * The `Link` header of a page, as json-server writes it.
 *
 * @param target the URL that was asked for, absolute or not
 * @returns undefined where there is no page to go to
 */
export function linkHeader(target: string, pages: Pages): string | undefined {
  const { first, prev, next, last } = pages;
  const links = Object.entries({ first, prev, next, last }).flatMap(([rel, page]) =>
    page === undefined ? [] : `<${withPage(target, page)}>; rel="${rel}"`,
  );
  return links.length > 0 ? links.join(', ') : undefined;
}

function withPage(target: string, page: number): string {
  const start = target.indexOf('?') + 1;
  const pairs = target.slice(start).split('&');
  const paged = pairs.map((pair) =>
    new URLSearchParams(pair).has('_page') ? `_page=${page}` : pair,
  );
  // A client may send these as they are, and they would end the link early.
  return (target.slice(0, start) + paged.join('&')).replaceAll(/[<>"]/g, encodeURIComponent);
}

function answer<R extends AnyRecord>(query: Query, source: Source<R>): QueryAnswer<R> {
  const { filters, likes, sort, slice } = query;
  const records = matching(source.ascending(), query);
  const taken =
    sort.length > 0
      ? sliceOfSorted([...records].sort(comparing(sort)), slice)
      : sliceOf(records, slice, filters.length + likes.length === 0 ? source.size : undefined);
  return { ok: true, ...taken, pages: pagesFrom(slice, taken.records.length, taken.total) };
}

interface Taken<R> {
  readonly records: R[];
  readonly total: number;
}

function sliceOfSorted<R>(sorted: R[], { start, end }: Slice): Taken<R> {
  return { records: sorted.slice(start, end), total: sorted.length };
}

/** @param size of all, where it is known: then none is drawn that lies behind the slice */
function sliceOf<R>(all: Iterable<R>, { start, end }: Slice, size: number | undefined): Taken<R> {
  const records: R[] = [];
  if (size !== undefined && (start >= size || start >= end)) return { records, total: size };
  let total = 0;
  for (const record of all) {
    if (total >= start && total < end) records.push(record);
    total += 1;
    if (size !== undefined && total >= end) return { records, total: size };
  }
  return { records, total };
}

function* matching<R extends AnyRecord>(records: Iterable<R>, query: Query): Generator<R> {
  const { filters, likes } = query;
  const filtered = passing(records, filters);
  if (likes.length === 0) yield* filtered;
  else yield* matchingPatterns(filtered, likes);
}

function* passing<R extends AnyRecord>(
  records: Iterable<R>,
  filters: readonly Filter[],
): Generator<R> {
  for (const record of records) if (filters.every((passes) => passes(record))) yield record;
}

function comparing(keys: readonly SortKey[]): (a: AnyRecord, b: AnyRecord) => number {
  return (a, b) => {
    for (const { field, descending } of keys) {
      const order = compare(a[field], b[field]);
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  };
}

/** Text by its code units, false before true, and a field that is absent behind all others. */
function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : 1;
  if (isNumeric(a) && isNumeric(b)) return a < b ? -1 : 1;
  return a === false ? -1 : 1;
}

function pagesFrom({ start, end, page }: Slice, count: number, total: number): Pages | undefined {
  if (page === undefined) return undefined;
  // json-server gives no way back from a page behind the last.
  const partial = count > 0 && count < total;
  return {
    first: partial ? 1 : undefined,
    prev: partial && page > 1 ? page - 1 : undefined,
    next: partial && end < total ? page + 1 : undefined,
    last: partial ? Math.ceil(total / (end - start)) : undefined,
  };
}
