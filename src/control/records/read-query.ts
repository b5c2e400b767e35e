import { isIntegerText, parseInt64 } from '../../contract/int64.ts';
import { FIELD_TYPES, type Field, type Fields } from '../../contract/records.ts';
import { describe, listed, suggest } from '../../words.ts';
import type { AnyRecord } from './record-kind.ts';

/*
 * The query dialect of json-server 0.17.4. A query that it understands gets its answer. One that it
 * would ignore in part, or answer with a 500, is refused: what looks like a result of the whole
 * query would be one of another query.
 */

export type Filter = (record: AnyRecord) => boolean;

/** A field and the patterns of which one must match its text; `name` is the parameter's. */
export interface Like {
  readonly name: string;
  readonly field: string;
  readonly patterns: readonly string[];
}

export interface SortKey {
  readonly field: string;
  readonly descending: boolean;
}

/** Which of the records are listed: from `start` up to `end`, `end` not included. */
export interface Slice {
  readonly start: number;
  readonly end: number;
  /** Undefined where the slice is no page. */
  readonly page?: number;
}

/** A query that can be answered: every filter and every pattern must hold. */
export interface Query {
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

/**
 * Reads a query's parameters.
 *
 * @param fields of the records that are asked for
 */
export function readQuery(
  fields: Fields,
  parameters: Iterable<readonly [string, string]>,
): QueryReading {
  return new QueryReader(fields, parameters).read();
}

const DEFAULT_PAGE_SIZE = 10;

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
      else if (operator === 'like') likes.push({ name, field, patterns: values });
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

export function isNumeric(value: unknown): value is number | bigint {
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
