import type { AnyRecord } from '../../contract/records.ts';
import { type Int64, parseInput, tryParseJson } from '../../json.ts';
import { LIMITS } from '../../limits.ts';
import { COUNT } from '../../sandbox/report-shapes.ts';
import { FILTER_TEXT } from '../../sandbox/search-terms.ts';
import { type Member, type ObjectMembers, object, optional } from '../../shape/objects.ts';
import { matchesWhere } from '../../shape/record-shapes.ts';
import {
  ANY,
  ANY_TEXT,
  choice,
  convert,
  integer,
  list,
  readAs,
  type Shape,
  withTypes,
} from '../../shape/shapes.ts';
import { listText, recordText } from '../../store/store-text.ts';
import { describe, joinWords } from '../../words.ts';
import type { ControlReply } from '../reply.ts';

/*
 * Equality, `q`, order and pages as json-server 0.17.4 answers them. What json-server would ignore is
 * refused: a result that leaves out a part of the query would mislead.
 */

export interface ListQuery {
  /** What it filters and sorts by, without what `q` searches. */
  readonly fields: readonly string[];
  readonly filters: readonly ((record: AnyRecord) => boolean)[];
  readonly order: readonly { readonly name: string; readonly sign: number }[];
  readonly start: number;
  readonly end: number;
}

export type RecordQuery<R> = {
  readonly [Name in keyof R & string]?: string | Int64 | boolean | undefined;
} & {
  readonly q?: string | undefined;
  readonly _sort?: string | undefined;
  readonly _order?: string | undefined;
  readonly _page?: number | undefined;
  readonly _limit?: number | undefined;
};

export interface RecordSource<R> {
  readonly size: number;
  ascending(): Iterable<R>;
}

export interface Page<R> {
  readonly records: readonly R[];
  readonly total: number;
}

const DEFAULT_PAGE_SIZE = 10;

type Wanted = ReadonlySet<string>;

/** @param searched the fields in which `q` looks */
export function createListQuery<R>(
  fields: ObjectMembers,
  searched = Object.keys(fields),
): Shape<ListQuery, RecordQuery<R>> {
  const names = Object.keys(fields);
  const byField = Object.entries(fields).map(
    ([name, { shape }]): [string, Member<Wanted, false>] => [
      name,
      optional(valueTexts(shape), 'Records with this value; repeated, with one of these.'),
    ],
  );
  const settings = {
    q: optional(FILTER_TEXT, `Those with this text in ${joinWords(searched, 'or')}, in any case.`),
    _sort: optional(separatedWords(choice(names)), 'Fields to sort by, separated by commas.'),
    _order: optional(
      separatedWords(choice(['asc', 'desc', 'ASC', 'DESC']), 'asc'),
      '`asc` or `desc` for each field in `_sort`, separated by commas.',
    ),
    _page: optional(integer(1, Number.MAX_SAFE_INTEGER), 'The page number, from 1.'),
    _limit: optional(COUNT, 'The page size (10 by default), or the maximum number of records.'),
  };
  const all = object({ ...Object.fromEntries(byField), ...settings });
  const shape = convert(all, (query): ListQuery => {
    const {
      q,
      _sort: sort = [],
      _order: orders = [],
      _page: page,
      _limit: limit,
      ...given
    } = query;
    const size = limit ?? (page === undefined ? Number.POSITIVE_INFINITY : DEFAULT_PAGE_SIZE);
    const start = page === undefined ? 0 : (page - 1) * size;
    const where = new Map(
      Object.entries(given).flatMap(([name, wanted]) =>
        wanted instanceof Set ? [[name, wanted] as const] : [],
      ),
    );
    const filters: ListQuery['filters'] =
      where.size === 0 ? [] : [(record) => matchesWhere(record, where, readText)];
    return {
      fields: [...Object.keys(given), ...sort],
      filters: q === undefined ? filters : [...filters, hasText(q, searched)],
      order: sort.map((name, at) => ({ name, sign: /desc/i.test(orders[at] ?? '') ? -1 : 1 })),
      start,
      end: start + size,
    };
  });
  return withTypes(shape);
}

/** The texts of values of a shape, as a query has them. */
function valueTexts(shape: Shape<unknown>): Shape<Wanted> {
  return convert({ ...ANY, schema: { type: 'string' } }, (given, at, report) => {
    const texts = [given].flat().map(String);
    const isValue = (value: unknown) => readAs(shape, value).ok;
    const wrong = texts.find((text) => !isValue(text) && !isValue(tryParseJson(text, parseInput)));
    if (wrong === undefined) return new Set(texts);
    return report({ at, expected: shape.expected, found: describe(wrong) });
  });
}

/** Of a value, as a query has it. An absent field has none. */
const readText = (value: unknown) => (value === null ? null : String(value));

function hasText(text: string, names: readonly string[]) {
  const wanted = text.toLowerCase();
  return (record: AnyRecord) =>
    names.some((name) => record[name] && String(record[name]).toLowerCase().includes(wanted));
}

/** Comma-separated words. An empty word becomes `empty`, or is left out. */
function separatedWords<Word extends string>(
  word: Shape<Word>,
  empty?: Word,
): Shape<readonly Word[]> {
  return convert(ANY_TEXT, (text, at, report) => {
    const parts = text.split(',').flatMap((part) => part || (empty ?? []));
    return list(word, { max: LIMITS.sortFields }).read(parts, [...at], report);
  });
}

type Scalar = string | number | bigint | boolean;

/** Orders numbers by value, text by code units, and false before true. An absent field is the greatest. */
function compare(a: unknown, b: unknown): number {
  if (!isPresent(a) || !isPresent(b)) return Number(a === undefined) - Number(b === undefined);
  return a < b ? -1 : Number(a > b);
}

function isPresent(value: unknown): value is Scalar {
  return value !== undefined;
}

export function selectPage<R extends AnyRecord>(
  source: RecordSource<R>,
  { filters, order, start, end }: ListQuery,
): Page<R> {
  const isSorted = order.length > 0;
  const records: R[] = [];
  let total = 0;
  for (const record of source.ascending()) {
    // The rest is never read.
    if (filters.length === 0 && !isSorted && total >= end) return { records, total: source.size };
    if (!filters.every((passes) => passes(record))) continue;
    if (isSorted || (total >= start && total < end)) records.push(record);
    total += 1;
  }
  if (!isSorted) return { records, total };
  records.sort((a, b) => {
    for (const { name, sign } of order) {
      const sooner = compare(a[name], b[name]);
      if (sooner !== 0) return sooner * sign;
    }
    return 0;
  });
  return { records: records.slice(start, end), total };
}

export const LIST_HEADERS = {
  'X-Total-Count': 'The number of all that match, regardless of page and limit.',
};

export function createListReply({ records, total }: Page<object>): ControlReply {
  return {
    status: 200,
    headers: { 'X-Total-Count': String(total) },
    content: listText(records, recordText),
  };
}
