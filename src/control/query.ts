import { isIntegerText, parseInt64 } from '../contract/int64.ts';
import { describe, FIELD_TYPES, type Field, type Fields, isObject } from '../contract/records.ts';
import { listed, suggest } from '../store/read-store.ts';

/*
 * The query dialect of json-server 0.17.4. A query that it understands gets its answer. One that it
 * would ignore in part, or answer with a 500, is refused: what looks like a result of the whole
 * query would be one of another query.
 */

type AnyRecord = Readonly<Record<string, unknown>>;

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

/** How long patterns may be matched in one query: a pattern can need years for a short text. */
const MATCHING_MS = 1000;
const DEFAULT_PAGE_SIZE = 10;

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
  const query = new QueryReader(fields, parameters).read();
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

type Filter = (record: AnyRecord) => boolean;

interface Like {
  readonly name: string;
  readonly field: string;
  readonly patterns: readonly RegExp[];
}

interface SortKey {
  readonly field: string;
  readonly descending: boolean;
}

interface Slice {
  readonly start: number;
  readonly end: number;
  /** Undefined where the slice is no page. */
  readonly page?: number;
}

interface Query {
  readonly ok: true;
  readonly filters: readonly Filter[];
  readonly likes: readonly Like[];
  readonly sort: readonly SortKey[];
  readonly slice: Slice;
}

type QueryReading = Query | { readonly ok: false; readonly problems: readonly string[] };

const WHOLE: Slice = { start: 0, end: Number.POSITIVE_INFINITY };

const SETTINGS = ['q', '_sort', '_order', '_page', '_limit', '_start', '_end'] as const;
type Setting = (typeof SETTINGS)[number];

const OPERATORS = ['gte', 'lte', 'ne', 'like'] as const;
const WITH_OPERATOR = /^(.+)_(gte|lte|ne|like)$/;

/** jQuery adds it so that nothing answers from a cache. */
const CACHE_BUSTER = '_';

class QueryReader {
  readonly #fields: Fields;
  readonly #names: readonly string[];
  readonly #values = new Map<string, string[]>();
  readonly #problems: string[] = [];

  constructor(fields: Fields, parameters: Iterable<readonly [string, string]>) {
    this.#fields = fields;
    this.#names = Object.keys(fields);
    for (const [name, value] of parameters) {
      const values = this.#values.get(name);
      if (values === undefined) this.#values.set(name, [value]);
      else values.push(value);
    }
  }

  read(): QueryReading {
    const filters: Filter[] = [];
    const likes: Like[] = [];
    for (const [name, values] of this.#values) {
      if (name === CACHE_BUSTER || SETTINGS.some((setting) => setting === name)) continue;
      const [, stem, operator] = WITH_OPERATOR.exec(name) ?? [];
      const field = stem ?? name;
      const type = this.#typeOf(field);
      if (type === undefined) this.#unknown(name);
      else if (operator === 'like') likes.push(this.#like(name, field, values));
      else if (operator === 'gte' || operator === 'lte') {
        filters.push(this.#range({ name, field, type, values, least: operator === 'gte' }));
      } else filters.push(this.#equal({ name, field, type, values, different: operator === 'ne' }));
    }
    const text = this.#setting('q');
    if (text !== undefined) filters.push(containing(text.toLowerCase()));
    const sort = this.#sort();
    const slice = this.#slice();
    const problems = this.#problems;
    return problems.length > 0
      ? { ok: false, problems }
      : { ok: true, filters, likes, sort, slice };
  }

  #typeOf(field: string): Field['type'] | undefined {
    return Object.hasOwn(this.#fields, field) ? this.#fields[field]?.type : undefined;
  }

  #problem(name: string, expected: string, found: string): void {
    this.#problems.push(`${name}: expected ${expected}, found ${found}`);
  }

  #unknown(name: string): void {
    const names = this.#names;
    const operators = listed(
      OPERATORS.map((operator) => `_${operator}`),
      'or',
    );
    const all = names.flatMap((it) => [it, ...OPERATORS.map((operator) => `${it}_${operator}`)]);
    this.#problem(
      'query',
      `${names.join(', ')}, one of these with ${operators} behind it, ${listed(SETTINGS, 'or')}`,
      `${describe(name)}${suggest(name, [...all, ...SETTINGS])}`,
    );
  }

  #equal({ name, field, type, values, different }: ValueTest & { different: boolean }): Filter {
    for (const value of values) {
      if (readValue(type, value) === undefined) {
        this.#problem(name, FIELD_TYPES[type].expected, describe(value));
      }
    }
    const wanted = new Set(values);
    // Like json-server, `_ne` too leaves out the records that have no such field.
    return (record) => {
      const value = record[field];
      return value !== undefined && wanted.has(String(value)) !== different;
    };
  }

  #range({ name, field, type, values, least }: ValueTest & { least: boolean }): Filter {
    const bounds = values.map((value) => this.#bound(name, type, value));
    // A date is compared as json-server does it: as text, so that 2031 is before 2031-01-01.
    return (record) => {
      const value = record[field];
      return bounds.some((bound) => (least ? notBelow(value, bound) : notAbove(value, bound)));
    };
  }

  #bound(name: string, type: Field['type'], text: string): string | bigint {
    switch (type) {
      case 'int64':
      case 'integer':
        if (readValue(type, text) !== undefined) return BigInt(text);
        this.#problem(name, FIELD_TYPES[type].expected, describe(text));
        return text;
      case 'boolean':
        this.#problem(name, 'a field that has an order', 'one that is true or false');
        return text;
      default:
        return text;
    }
  }

  #like(name: string, field: string, values: readonly string[]): Like {
    const patterns = values.flatMap((value) => {
      try {
        return new RegExp(value, 'i');
      } catch {
        this.#problem(name, 'a regular expression', describe(value));
        return [];
      }
    });
    return { name, field, patterns };
  }

  /** The value of a setting. An empty one counts as none. */
  #setting(name: Setting): string | undefined {
    const values = this.#values.get(name) ?? [];
    if (values.length > 1) this.#problem(name, 'one value', `${values.length} of them`);
    return values[0] === '' ? undefined : values[0];
  }

  #sort(): SortKey[] {
    const names = this.#setting('_sort')?.split(',') ?? [];
    const orders = this.#setting('_order')?.toLowerCase().split(',') ?? [];
    for (const name of names) {
      if (this.#typeOf(name) !== undefined) continue;
      const found = `${describe(name)}${suggest(name, this.#names)}`;
      this.#problem('_sort', listed(this.#names, 'or'), found);
    }
    for (const order of orders) {
      if (!['', 'asc', 'desc'].includes(order)) {
        this.#problem('_order', 'asc or desc', describe(order));
      }
    }
    if (orders.length > names.length) {
      this.#problem('_order', 'no more orders than _sort has fields', `${orders.length} of them`);
    }
    return names.map((field, index) => ({ field, descending: orders[index] === 'desc' }));
  }

  #slice(): Slice {
    const paged = this.#setting('_page') !== undefined;
    const page = this.#whole('_page', 1);
    const limit = this.#whole('_limit', paged ? 1 : 0);
    const start = this.#whole('_start', 0);
    const end = this.#whole('_end', 0);
    if (start !== undefined && paged) this.#problem('_start', 'no _page beside it', 'both');
    if (end !== undefined && paged) this.#problem('_end', 'no _page beside it', 'both');
    if (end !== undefined && limit !== undefined) {
      this.#problem('_end', 'no _limit beside it', 'both');
    }
    if (start !== undefined && !paged && end === undefined && limit === undefined) {
      this.#problem('_start', '_end or _limit beside it', 'neither');
    }
    if (page !== undefined) {
      const size = limit ?? DEFAULT_PAGE_SIZE;
      return { start: (page - 1) * size, end: page * size, page };
    }
    const from = start ?? 0;
    if (limit !== undefined) return { start: from, end: from + limit };
    return { ...WHOLE, start: from, ...(end !== undefined && { end }) };
  }

  #whole(name: Setting, least: 0 | 1): number | undefined {
    const text = this.#setting(name);
    if (text === undefined) return undefined;
    const value = isIntegerText(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(value) && value >= least) return value;
    this.#problem(name, `an integer from ${least} to 2^53-1`, describe(text));
    return undefined;
  }
}

interface ValueTest {
  readonly name: string;
  readonly field: string;
  readonly type: Field['type'];
  readonly values: readonly string[];
}

/** What a text says as a value of a field's type, or undefined where it says none. */
function readValue(type: Field['type'], text: string): unknown {
  switch (type) {
    case 'int64':
      return parseInt64(text);
    case 'integer':
      return isIntegerText(text) ? FIELD_TYPES.integer.read(Number(text)) : undefined;
    case 'boolean':
      return text === 'true' || text === 'false' ? text : undefined;
    default:
      return FIELD_TYPES[type].read(text);
  }
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

// A number beside a bigint is compared exactly: neither is rounded.
function notBelow(value: unknown, bound: string | bigint): boolean {
  if (typeof bound === 'string') return typeof value === 'string' && value >= bound;
  return isNumeric(value) && value >= bound;
}

function notAbove(value: unknown, bound: string | bigint): boolean {
  if (typeof bound === 'string') return typeof value === 'string' && value <= bound;
  return isNumeric(value) && value <= bound;
}

/** json-server's full text search finds no 0 and no false, since it skips what counts as nothing. */
function containing(text: string): Filter {
  return (record) =>
    Object.values(record).some(
      (value) => Boolean(value) && String(value).toLowerCase().includes(text),
    );
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

/** Records that are matched at once, since the watch over each batch has its price. */
const BATCH = 1000;

class TooSlow extends Error {}

function* matchingPatterns<R extends AnyRecord>(
  records: Iterable<R>,
  likes: readonly Like[],
): Generator<R> {
  const watched = new WatchedMatching(likes);
  let batch: R[] = [];
  for (const record of records) {
    batch.push(record);
    if (batch.length < BATCH) continue;
    yield* watched.matches(batch);
    batch = [];
  }
  yield* watched.matches(batch);
}

/** Matches patterns as the engine does, and gives up where they take too long altogether. */
class WatchedMatching {
  readonly #likes: readonly Like[];
  // Loaded late: a static import would cost every start.
  readonly #vm = process.getBuiltinModule('node:vm');
  readonly #script = new this.#vm.Script('match()');
  readonly #context = this.#vm.createContext({ match: () => this.#match() });
  #left = MATCHING_MS;
  #values: readonly (readonly unknown[])[] = [];
  #matched: boolean[] = [];

  constructor(likes: readonly Like[]) {
    this.#likes = likes;
  }

  matches<R extends AnyRecord>(records: readonly R[]): R[] {
    // Read before the watch starts, which may stop what it runs anywhere.
    this.#values = records.map((record) => this.#likes.map(({ field }) => record[field]));
    this.#matched = [];
    const started = performance.now();
    try {
      this.#script.runInContext(this.#context, { timeout: Math.max(1, Math.ceil(this.#left)) });
    } catch (error) {
      if (!isTimeout(error)) throw error;
      const names = listed(
        this.#likes.map(({ name }) => name),
        'and',
      );
      throw new TooSlow(`${names}: expected patterns that match within ${MATCHING_MS} ms`);
    }
    this.#left -= performance.now() - started;
    return records.filter((_, index) => this.#matched[index]);
  }

  #match(): void {
    this.#matched = this.#values.map((values) =>
      this.#likes.every(({ patterns }, index) => {
        const value = values[index];
        return value !== undefined && patterns.some((pattern) => pattern.test(String(value)));
      }),
    );
  }
}

/** The error belongs to the context, so it is no `Error` of this one. */
function isTimeout(error: unknown): boolean {
  return isObject(error) && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
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
