import type { Fields, Problem } from '../../contract/records.ts';
import { inTurns, type Work } from '../../store/work.ts';
import { compilePatterns } from './patterns.ts';
import { type Filter, isNumeric, readQuery, type Slice, type SortKey } from './read-query.ts';
import type { AnyRecord } from './record-kind.ts';

/** The most records that a reply to a query holds. A sorted list ends after as many. */
const MOST_RECORDS = 100_000;

/** How many records are gathered before they are sorted into the earlier ones. */
const SORTED_AT_ONCE = 8_192;

/** A source of records, such as a `Collection`. */
export interface Source<R> {
  readonly size: number;
  /** The records in their default order. */
  ascending(): Iterable<R>;
}

/** The pages that a page links to. */
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
      /** The number of records without a slice, for `X-Total-Count`. */
      readonly total: number;
      /** Undefined without `_page`. */
      readonly pages: Pages | undefined;
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Answers a query of a list in the control API, in turns with other requests. `source` must not
 * change in the meantime: pass a fork of a collection. Holds no more records than the answer has.
 *
 * @param fields of the records
 * @example await queryRecords(STORED_RECORDS.animals, animals.fork(), new URLSearchParams('status=sold'))
 */
export async function queryRecords<R extends AnyRecord>(
  fields: Fields,
  source: Source<R>,
  parameters: URLSearchParams,
): Promise<QueryAnswer<R>> {
  const query = readQuery(fields, parameters);
  if (!query.ok) return query;
  const { sort, slice, likes } = query.value;
  const patterns = await compilePatterns(likes);
  if (!patterns.ok) return patterns;
  const filters = [...query.value.filters, ...patterns.value];
  const taking =
    sort.length > 0
      ? takeSorted(source, filters, comparing(sort), slice)
      : take(source, filters, slice);
  const taken = await inTurns(taking);
  if (taken === undefined) {
    const expected = `at most ${MOST_RECORDS} records, with _limit or more filters (a sorted list ends there)`;
    return { ok: false, problems: [{ path: 'query', expected, found: 'more' }] };
  }
  return { ok: true, ...taken, pages: pagesFrom(slice, taken.records.length, taken.total) };
}

/**
 * The `Link` header of a page, as json-server writes it.
 *
 * @param target the requested URL, absolute or relative
 * @returns undefined if there is no page to link to
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
  // Clients may send these unencoded, and they would end the link early.
  return (target.slice(0, start) + paged.join('&')).replaceAll(/[<>"]/g, encodeURIComponent);
}

interface Taken<R> {
  readonly records: R[];
  readonly total: number;
}

/** The records of a slice; undefined if they are too many. */
function* take<R extends AnyRecord>(
  source: Source<R>,
  filters: readonly Filter[],
  { start, end }: Slice,
): Work<Taken<R> | undefined> {
  const { size } = source;
  const whole = filters.length === 0;
  const records: R[] = [];
  if (whole && (start >= size || start >= end)) return { records, total: size };
  let total = 0;
  for (const record of source.ascending()) {
    yield;
    if (!filters.every((passes) => passes(record))) continue;
    if (total >= start && total < end) records.push(record);
    if (records.length > MOST_RECORDS) return undefined;
    total += 1;
    // The rest is not even read.
    if (whole && total >= end) return { records, total: size };
  }
  return { records, total };
}

/** The same for a sorted list. Holds only the records up to the end of the slice. */
function* takeSorted<R extends AnyRecord>(
  source: Source<R>,
  filters: readonly Filter[],
  compare: (a: R, b: R) => number,
  { start, end }: Slice,
): Work<Taken<R> | undefined> {
  const kept = Math.min(end, MOST_RECORDS);
  const first: R[] = [];
  let sorted = 0;
  let total = 0;
  const sortIn = (): void => {
    // Stable, and fast on what is sorted already.
    first.sort(compare);
    first.length = sorted = Math.min(first.length, kept);
  };
  for (const record of source.ascending()) {
    yield;
    if (!filters.every((passes) => passes(record))) continue;
    total += 1;
    first.push(record);
    if (first.length >= sorted + SORTED_AT_ONCE) sortIn();
  }
  sortIn();
  if (Math.min(end, total) > MOST_RECORDS) return undefined;
  return { records: first.slice(start, end), total };
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

/** Orders text by code units, false before true, and absent fields last. */
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
  // json-server links to no page from a page after the last.
  const partial = count > 0 && count < total;
  return {
    first: partial ? 1 : undefined,
    prev: partial && page > 1 ? page - 1 : undefined,
    next: partial && end < total ? page + 1 : undefined,
    last: partial ? Math.ceil(total / (end - start)) : undefined,
  };
}
