import type { Fields, Problem } from '../../contract/records.ts';
import { compilePatterns } from './patterns.ts';
import { type Filter, isNumeric, readQuery, type Slice, type SortKey } from './read-query.ts';
import type { AnyRecord } from './record-kind.ts';

/** The most records that a reply to a query holds. A sorted list ends there. */
const MOST_RECORDS = 100_000;

/** A source of records, such as `Records`. */
export interface Source<R> {
  readonly size: number;
  /** The records in their default order. */
  ascending(): Iterable<R>;
}

/** The numbers of the pages that a page links to. */
export type Pages = Readonly<Record<'first' | 'prev' | 'next' | 'last', number | undefined>>;

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
 * Answers a list query of the control API.
 *
 * @param fields of the records
 * @example await queryRecords(STORED_RECORDS.animals, animals, new
 * URLSearchParams('status=sold'))
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
  const taken = take(source, filters, sort, slice);
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
  const links = Object.entries(pages).flatMap(([rel, page]) =>
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

/** The records of a slice, and how many there are without it; undefined if they are too many. */
function take<R extends AnyRecord>(
  source: Source<R>,
  filters: readonly Filter[],
  sort: readonly SortKey[],
  { start, end }: Slice,
): { readonly records: R[]; readonly total: number } | undefined {
  const isSorted = sort.length > 0;
  const isWhole = filters.length === 0 && !isSorted;
  const records: R[] = [];
  let total = 0;
  for (const record of source.ascending()) {
    if (!filters.every((passes) => passes(record))) continue;
    if (isSorted || (total >= start && total < end)) records.push(record);
    total += 1;
    // The rest is never read.
    if (isWhole && (total >= end || start >= source.size)) return { records, total: source.size };
    if (!isSorted && records.length > MOST_RECORDS) return undefined;
  }
  if (!isSorted) return { records, total };
  if (Math.min(end, total) > MOST_RECORDS) return undefined;
  // Stable, and fast on sorted input.
  return { records: records.sort(comparing(sort)).slice(start, end), total };
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
