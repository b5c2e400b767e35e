import type { Fields } from '../../contract/records.ts';
import { inTurns, type Work } from '../../store/work.ts';
import { compilePatterns } from './patterns.ts';
import { type Filter, isNumeric, readQuery, type Slice, type SortKey } from './read-query.ts';
import type { AnyRecord } from './record-kind.ts';

/** Records that a reply to a query holds at most, and that a sorted list reaches. */
const MOST_RECORDS = 100_000;

/** Records that are gathered before they are sorted into those that came before. */
const SORTED_AT_ONCE = 8_192;

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
 * Answers a query of a control API's list. Other requests are answered in between, so `source` must
 * not change: pass a fork of a collection. Memory is bounded by the records of the answer.
 *
 * @param fields of the records
 * @param parameters the query's names and values, decoded, such as a `URLSearchParams`
 * @example await queryRecords(STORED_RECORDS.animals, animals.fork(), new URLSearchParams('status=sold'))
 */
export async function queryRecords<R extends AnyRecord>(
  fields: Fields,
  source: Source<R>,
  parameters: Iterable<readonly [string, string]>,
): Promise<QueryAnswer<R>> {
  const query = readQuery(fields, parameters);
  if (!query.ok) return query;
  const patterns = await compilePatterns(query.likes);
  if (!patterns.ok) return patterns;
  const { sort, slice } = query;
  const filters = [...query.filters, ...patterns.filters];
  const taking =
    sort.length > 0
      ? takeSorted(source, filters, comparing(sort), slice)
      : take(source, filters, slice);
  const taken = await inTurns(taking);
  if (taken === undefined) {
    const problem = `query: a reply holds at most ${MOST_RECORDS} records, and a sorted list ends there; add _limit, or filter more`;
    return { ok: false, problems: [problem] };
  }
  return { ok: true, ...taken, pages: pagesFrom(slice, taken.records.length, taken.total) };
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
    // The rest need not even be drawn.
    if (whole && total >= end) return { records, total: size };
  }
  return { records, total };
}

/** The same of a sorted list. Holds no more of it than up to the end of the slice. */
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
    // Quick for what is sorted already, and stable.
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
