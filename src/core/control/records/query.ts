import type { AnyRecord, Field, Fields } from '../../contract/records.ts';
import { type Int64, isIntegerText, parseInt64 } from '../../json.ts';
import { LIMITS } from '../../limits.ts';
import { FILTER_TEXT } from '../../sandbox/exchange-filter.ts';
import { COUNT } from '../../sandbox/report-shapes.ts';
import { type Member, object, optional } from '../../shape/objects.ts';
import { FIELD_SHAPES } from '../../shape/record-shapes.ts';
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
 * The query dialect of json-server 0.17.4, but that `_like` finds text instead of a pattern. What
 * json-server would ignore is refused: a result that leaves out a part of the query would mislead.
 */

type Filter = (record: AnyRecord) => boolean;

export interface ListQuery {
  /** What it filters and sorts by, without what `q` searches. */
  readonly fields: readonly string[];
  readonly filters: readonly Filter[];
  readonly order: ((a: AnyRecord, b: AnyRecord) => number) | undefined;
  readonly start: number;
  readonly end: number;
}

export type RecordQuery<R> = {
  readonly [Name in keyof R & string as Name | `${Name}_${'ne' | 'gte' | 'lte' | 'like'}`]?:
    | string
    | Int64
    | boolean
    | undefined;
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

type Test = (value: unknown) => boolean;

/** What follows the name of a field, and the test that it makes of a text. */
const COMPARISONS: Readonly<Record<string, (wanted: string, isNumber: boolean) => Test>> = {
  '': (wanted) => (value) => String(value) === wanted,
  _ne: (wanted) => (value) => String(value) !== wanted,
  _gte: (wanted, isNumber) => compareWith(wanted, isNumber, (order) => order >= 0),
  _lte: (wanted, isNumber) => compareWith(wanted, isNumber, (order) => order <= 0),
  _like: contains,
};

/** Like json-server, compares dates as text, so that 2031 is before 2031-01-01. */
function compareWith(wanted: string, isNumber: boolean, isRight: (order: number) => boolean): Test {
  const bound = isNumber ? BigInt(wanted) : wanted;
  return (value) => isRight(compare(isNumber ? value : String(value), bound));
}

const OPERATORS = Object.keys(COMPARISONS).slice(1);

/** @param searched the fields in which `q` looks */
export function createListQuery<R>(
  fields: Fields,
  searched = Object.keys(fields),
): Shape<ListQuery, RecordQuery<R>> {
  const names = Object.keys(fields);
  const byField = Object.entries(fields).flatMap(([name, field]) =>
    Object.keys(COMPARISONS).map((operator): [string, Member<FieldFilter, false>] => {
      const others = OPERATORS.map((other) => `\`${name}${other}\``);
      const description = `Records with this value. ${joinWords(others, 'and')} compare in other ways.`;
      const shape = createFilterShape(name, field.type, operator);
      return [name + operator, optional(shape, operator === '' ? description : '')];
    }),
  );
  const settings = {
    q: optional(FILTER_TEXT, `Those with this text in ${joinWords(searched, 'or')}, in any case.`),
    _sort: optional(words(choice(names)), 'Fields to sort by, separated by commas.'),
    _order: optional(
      words(choice(['asc', 'desc', 'ASC', 'DESC']), 'asc'),
      '`asc` or `desc` for each field in `_sort`, separated by commas.',
    ),
    _page: optional(integer(1, Number.MAX_SAFE_INTEGER), 'The page number, from 1.'),
    _limit: optional(COUNT, 'The page size (10 by default), or the maximum number of records.'),
  };
  const all = { ...Object.fromEntries(byField), ...settings };
  const expectedName = `${names.join(', ')}, one of these followed by ${joinWords(OPERATORS, 'or')}, or ${joinWords(Object.keys(settings), 'or')}`;
  const shape = convert(object(all, { expectedName }), (query, at, report) => {
    const { q, _sort: sort = [], _order: orders = [], ...others } = query;
    const { _page: page, _limit: limit, ...given } = others;
    const size = limit ?? (page === undefined ? Number.POSITIVE_INFINITY : DEFAULT_PAGE_SIZE);
    const start = page === undefined ? 0 : (page - 1) * size;
    const fieldFilters = Object.values(given).filter(isFieldFilter);
    const count = fieldFilters.reduce((sum, filter) => sum + filter.count, 0);
    if (count > LIMITS.filters.max) {
      return report({ at, expected: `at most ${LIMITS.filters.max} filters`, found: `${count}` });
    }
    const filters = fieldFilters.map(({ passes }) => passes);
    if (q !== undefined) filters.push(createSearch(q, searched));
    return {
      fields: [...Object.keys(given).map((member) => member.replace(/_[a-z]+$/, '')), ...sort],
      filters,
      order: sort.length === 0 ? undefined : compareBy(sort, orders),
      start,
      end: start + size,
    };
  });
  return withTypes(shape);
}

interface FieldFilter {
  readonly passes: Filter;
  readonly count: number;
}

function isFieldFilter(value: unknown): value is FieldFilter {
  return typeof value === 'object' && value !== null && 'passes' in value;
}

function createSearch(text: string, names: readonly string[]): Filter {
  const isFound = contains(text);
  return (record) => names.some((name) => Boolean(record[name]) && isFound(record[name]));
}

/** An absent field never matches. */
function createFilterShape(
  name: string,
  type: Field['type'],
  operator: string,
): Shape<FieldFilter> {
  return convert({ ...ANY, schema: { type: 'string' } }, (given, at, report) => {
    const texts = [given].flat().map(String);
    const wrong = texts.find((text) => !canCompare(type, operator, text));
    if (wrong !== undefined) {
      return report({ at, expected: FIELD_SHAPES[type].expected, found: describe(wrong) });
    }
    const long = texts.find((text) => !readAs(FILTER_TEXT, text).ok);
    if (long !== undefined) {
      return report({ at, expected: FILTER_TEXT.expected, found: `${long.length}` });
    }
    const isNumber = type === 'int64' || type === 'integer';
    const tests = texts.flatMap((text) => COMPARISONS[operator]?.(text, isNumber) ?? []);
    const passes: Filter = ({ [name]: value }) => {
      if (value === undefined) return false;
      return operator === '_ne'
        ? tests.every((test) => test(value))
        : tests.some((test) => test(value));
    };
    return { passes, count: texts.length };
  });
}

/** Whether a text can be compared with values of a type: any text with texts, or as a part of one. */
function canCompare(type: Field['type'], operator: string, text: string): boolean {
  if (operator === '_like') return true;
  if (type === 'int64') return parseInt64(text) !== undefined;
  if (type === 'integer') return isIntegerText(text) && Number.isSafeInteger(Number(text));
  if (type === 'boolean') return text === 'true' || text === 'false';
  return operator === '_gte' || operator === '_lte' || readAs(FIELD_SHAPES[type], text).ok;
}

/** Comma-separated words. An empty word becomes `empty`, or is left out. */
function words<Word extends string>(word: Shape<Word>, empty?: Word): Shape<readonly Word[]> {
  return convert(ANY_TEXT, (text, at, report) => {
    const parts = text.split(',').flatMap((part) => part || (empty ?? []));
    return list(word, { max: LIMITS.sortFields.max }).read(parts, [...at], report);
  });
}

function contains(text: string): Test {
  const wanted = text.toLowerCase();
  return (value) => String(value).toLowerCase().includes(wanted);
}

function compareBy(names: readonly string[], orders: readonly string[]): ListQuery['order'] {
  const keys = names.map((name, index) => ({
    name,
    sign: /desc/i.test(orders[index] ?? '') ? -1 : 1,
  }));
  return (a, b) => {
    for (const { name, sign } of keys) {
      const order = compare(a[name], b[name]);
      if (order !== 0) return order * sign;
    }
    return 0;
  };
}

type Scalar = string | number | bigint | boolean;

/** Orders numbers by value, text by code units, and false before true. Absent fields come last. */
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
  const isWhole = filters.length === 0 && order === undefined;
  const records: R[] = [];
  let total = 0;
  for (const record of source.ascending()) {
    // The rest is never read.
    if (isWhole && total >= end) return { records, total: source.size };
    if (!filters.every((passes) => passes(record))) continue;
    if (order !== undefined || (total >= start && total < end)) records.push(record);
    total += 1;
  }
  return { records: order === undefined ? records : records.sort(order).slice(start, end), total };
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
