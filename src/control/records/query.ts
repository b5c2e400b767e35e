import { isIntegerText, parseInt64 } from '../../contract/json.ts';
import type { AnyRecord, Field, Fields, Reading } from '../../contract/records.ts';
import { object, optional } from '../../shape/objects.ts';
import { FIELD_SHAPES } from '../../shape/record-shapes.ts';
import { ANY_TEXT, integer, readAs, type ValueOf } from '../../shape/shapes.ts';
import { describe, joinWords, type Problem, suggest } from '../../words.ts';
import { readQueryAs } from '../endpoint.ts';

/*
 * The query dialect of json-server 0.17.4, but that `_like` finds text instead of a pattern. What
 * json-server would ignore is refused: a result that leaves out a part of the query would mislead.
 */

/** A source of records, such as `Records`. */
export interface Source<R> {
  readonly size: number;
  /** The records in their default order. */
  ascending(): Iterable<R>;
}

/** The records on a page, and how many there are on all pages. */
export interface Page<R> {
  readonly records: R[];
  readonly total: number;
}

type Filter = (record: AnyRecord) => boolean;
type RecordOrder = (a: AnyRecord, b: AnyRecord) => number;

const WHOLE = integer(0, Number.MAX_SAFE_INTEGER, 'an integer from 0 to 2^53-1');
const POSITIVE = integer(1, Number.MAX_SAFE_INTEGER, 'an integer from 1 to 2^53-1');

const SETTING_MEMBERS = {
  q: optional(ANY_TEXT, 'Records with this text in any field, in any case.'),
  _sort: optional(ANY_TEXT, 'Fields to sort by, separated by commas.'),
  _order: optional(ANY_TEXT, '`asc` or `desc` for each field in `_sort`, separated by commas.'),
  _page: optional(POSITIVE, 'The page number, from 1.'),
  _limit: optional(WHOLE, 'The page size (10 by default), or the maximum number of records.'),
};

/** The parameters that are not fields. */
export const SETTINGS = object(SETTING_MEMBERS);
type QuerySettings = ValueOf<typeof SETTINGS>;

const SETTING_NAMES = Object.keys(SETTING_MEMBERS);

const DEFAULT_PAGE_SIZE = 10;

/** How a value compares with a text, by what follows the name of the field. */
const COMPARISONS: Readonly<Record<string, (value: unknown, text: string) => boolean>> = {
  '': (value, text) => String(value) === text,
  _ne: (value, text) => String(value) !== text,
  _gte: (value, text) => compare(value, boundOf(value, text)) >= 0,
  _lte: (value, text) => compare(value, boundOf(value, text)) <= 0,
  _like: (value, text) => String(value).toLowerCase().includes(text.toLowerCase()),
};

/** Like json-server, compares dates as text, so that 2031 is before 2031-01-01. */
function boundOf(value: unknown, text: string): string | bigint {
  return typeof value === 'string' ? text : BigInt(text);
}

export const OPERATORS = Object.keys(COMPARISONS).slice(1);

const WITH_OPERATOR = /^(.+)(_ne|_gte|_lte|_like)$/;

/**
 * Answers a list query of the control API.
 *
 * @param fields of the records
 * @example queryRecords(STORED_RECORDS.animals, animals, new URLSearchParams('status=sold'))
 */
export function queryRecords<R extends AnyRecord>(
  fields: Fields,
  source: Source<R>,
  parameters: URLSearchParams,
): Reading<Page<R>> {
  const problems: Problem[] = [];
  const given = new URLSearchParams();
  const filters: Filter[] = [];
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    const [, field = name, operator = ''] = WITH_OPERATOR.exec(name) ?? [];
    const type = Object.hasOwn(fields, field) ? fields[field]?.type : undefined;
    if (SETTING_NAMES.includes(name)) for (const value of values) given.append(name, value);
    else if (type === undefined) problems.push(unknownName(name, fields));
    else {
      const wrong = values.find((value) => !canCompare(type, operator, value));
      if (wrong === undefined) filters.push(filterOf(field, operator, values));
      else problems.push(problem(name, FIELD_SHAPES[type].expected, describe(wrong)));
    }
  }
  const settings = readQueryAs(SETTINGS, given);
  if (!settings.ok) return { ok: false, problems: [...problems, ...settings.problems] };
  const { q, _page: page, _limit: limit } = settings.value;
  if (q !== undefined) filters.push(containing(q.toLowerCase()));
  const order = orderOf(settings.value, fields, problems);
  if (problems.length > 0) return { ok: false, problems };
  const size = limit ?? (page === undefined ? Number.POSITIVE_INFINITY : DEFAULT_PAGE_SIZE);
  const start = page === undefined ? 0 : (page - 1) * size;
  return { ok: true, value: pageOf(source, filters, order, start, start + size) };
}

function problem(name: string, expected: string, found: string): Problem {
  return { path: `query ${name}`, expected, found };
}

function unknownName(name: string, fields: Fields): Problem {
  const own = Object.keys(fields);
  const withOperators = own.flatMap((it) => OPERATORS.map((operator) => it + operator));
  const names = [...own, ...withOperators, ...SETTING_NAMES];
  return {
    path: 'query',
    expected: `${own.join(', ')}, one of these followed by ${joinWords(OPERATORS, 'or')}, or ${joinWords(SETTING_NAMES, 'or')}`,
    found: `${describe(name)}${suggest(name, names)}`,
  };
}

/** Whether a text can be compared with values of a type: any text with texts, or as a part of one. */
function canCompare(type: Field['type'], operator: string, text: string): boolean {
  if (operator === '_like') return true;
  const isRange = operator === '_gte' || operator === '_lte';
  if (type === 'int64') return parseInt64(text) !== undefined;
  if (type === 'integer') return isIntegerText(text) && Number.isSafeInteger(Number(text));
  if (type === 'boolean') return !isRange && (text === 'true' || text === 'false');
  return isRange || readAs(FIELD_SHAPES[type], text).ok;
}

/** Records of which a field compares so with one of the texts. An absent field never does. */
function filterOf(field: string, operator: string, texts: readonly string[]): Filter {
  const test = COMPARISONS[operator] ?? (() => false);
  return ({ [field]: value }) => {
    if (value === undefined) return false;
    const compares = (text: string) => test(value, text);
    return operator === '_ne' ? texts.every(compares) : texts.some(compares);
  };
}

/** Like json-server's full-text search, finds no 0 and no false. */
function containing(text: string): Filter {
  return (record) =>
    Object.values(record).some(
      (value) => Boolean(value) && String(value).toLowerCase().includes(text),
    );
}

/** Undefined without `_sort`. */
function orderOf(
  { _sort = '', _order = '' }: QuerySettings,
  fields: Fields,
  problems: Problem[],
): RecordOrder | undefined {
  const names = _sort.split(',').filter((name) => name !== '');
  const orders = _order.toLowerCase().split(',');
  const wrong = names.find((it) => !Object.hasOwn(fields, it));
  if (wrong !== undefined) {
    const known = Object.keys(fields);
    problems.push(
      problem('_sort', joinWords(known, 'or'), describe(wrong) + suggest(wrong, known)),
    );
  }
  if (orders.some((it) => !['', 'asc', 'desc'].includes(it))) {
    problems.push(problem('_order', 'asc or desc for each field in _sort', describe(_order)));
  }
  if (names.length === 0) return undefined;
  const keys = names.map((field, index) => ({ field, sign: orders[index] === 'desc' ? -1 : 1 }));
  return (a, b) => {
    for (const { field, sign } of keys) {
      const order = compare(a[field], b[field]);
      if (order !== 0) return order * sign;
    }
    return 0;
  };
}

/**
 * Orders numbers exactly, also a number and a bigint; text by code units; false before true; and absent
 * fields last.
 */
function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : 1;
  if (isNumeric(a) && isNumeric(b)) return a < b ? -1 : a > b ? 1 : 0;
  return a === false ? -1 : 1;
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function pageOf<R extends AnyRecord>(
  source: Source<R>,
  filters: readonly Filter[],
  order: RecordOrder | undefined,
  start: number,
  end: number,
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
  // Stable, and fast on sorted input.
  return { records: order === undefined ? records : records.sort(order).slice(start, end), total };
}
