import { isIntegerText, parseInt64 } from '../../contract/int64.ts';
import {
  FIELD_TYPES,
  type Field,
  type Fields,
  type Problem,
  type Reading,
} from '../../contract/records.ts';
import { object, optional } from '../../shape/objects.ts';
import { ANY_TEXT, integer, type ValueOf } from '../../shape/shapes.ts';
import { describe, listed, MOST_HINTS, suggest } from '../../words.ts';
import { readQueryAs } from '../query-shape.ts';
import type { AnyRecord } from './record-kind.ts';

/*
 * The query dialect of json-server 0.17.4. Queries that json-server would ignore in part, or answer
 * with a 500, are refused: a result that leaves out a part of the query would mislead.
 */

export type Filter = (record: AnyRecord) => boolean;

/** A field whose text must match one of the patterns. `name` is that of the parameter. */
export interface Like {
  readonly name: string;
  readonly field: string;
  readonly patterns: readonly string[];
}

export interface SortKey {
  readonly field: string;
  readonly descending: boolean;
}

/** The positions of the listed records: from `start` up to `end`, which is not included. */
export interface Slice {
  readonly start: number;
  readonly end: number;
  /** Undefined without `_page`. */
  readonly page?: number;
}

/** A query: a record must pass every filter and match every pattern. */
interface Query {
  readonly filters: readonly Filter[];
  readonly likes: readonly Like[];
  readonly sort: readonly SortKey[];
  readonly slice: Slice;
}

const WHOLE = integer(0, Number.MAX_SAFE_INTEGER, 'an integer from 0 to 2^53-1');
const POSITIVE = integer(1, Number.MAX_SAFE_INTEGER, 'an integer from 1 to 2^53-1');

const SETTING_MEMBERS = {
  q: optional(ANY_TEXT, 'Records with this text in any field.'),
  _sort: optional(ANY_TEXT, 'Fields to sort by, separated by commas.'),
  _order: optional(ANY_TEXT, '`asc` or `desc` for each field in `_sort`, separated by commas.'),
  _page: optional(POSITIVE, 'The page number, from 1.'),
  _limit: optional(WHOLE, 'The page size (10 by default), or the maximum number of records.'),
  _start: optional(WHOLE, 'The position of the first record, from 0.'),
  _end: optional(WHOLE, 'The position after the last record.'),
};

/** The parameters that are not fields. */
export const SETTINGS = object(SETTING_MEMBERS);
type Settings = ValueOf<typeof SETTINGS>;

const SETTING_NAMES = Object.keys(SETTING_MEMBERS);

/** Settings that cannot be combined. */
const EXCLUSIVE = [
  ['_start', '_page'],
  ['_end', '_page'],
  ['_end', '_limit'],
] as const;

const DEFAULT_PAGE_SIZE = 10;

const OPERATORS = ['_gte', '_lte', '_ne', '_like'];
const WITH_OPERATOR = /^(.+)(_gte|_lte|_ne|_like)$/;

/** A parameter that jQuery adds to bypass caches. */
const CACHE_BUSTER = '_';

type Tell = (name: string, expected: string, found: string) => void;

/**
 * Reads a query's parameters.
 *
 * @param fields of the listed records
 */
export function readQuery(fields: Fields, parameters: URLSearchParams): Reading<Query> {
  const problems: Problem[] = [];
  const tell: Tell = (name, expected, found) =>
    problems.push({ path: `query ${name}`, expected, found });
  const given = new URLSearchParams();
  const filters: Filter[] = [];
  const likes: Like[] = [];
  for (const [name, values] of valuesByName(parameters)) {
    const [, field = name, operator] = WITH_OPERATOR.exec(name) ?? [];
    const type = Object.hasOwn(fields, field) ? fields[field]?.type : undefined;
    if (name === CACHE_BUSTER) continue;
    if (SETTING_NAMES.includes(name)) {
      // An empty setting counts as absent.
      if (values.join('') !== '') for (const value of values) given.append(name, value);
    } else if (type === undefined) {
      const hinted = problems.length < MOST_HINTS;
      problems.push({ path: 'query', ...unknownName(name, Object.keys(fields), hinted) });
    } else if (operator === '_like') likes.push({ name, field, patterns: values });
    else filters.push(filterOf({ name, field, type, values, operator }, tell));
  }
  const settings = readQueryAs(SETTINGS, given);
  if (!settings.ok) return { ok: false, problems: [...problems, ...settings.problems] };
  const { q } = settings.value;
  if (q !== undefined) filters.push(containing(q.toLowerCase()));
  const sort = sortKeys(settings.value, Object.keys(fields), tell);
  const slice = sliceOf(settings.value, tell);
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, value: { filters, likes, sort, slice } };
}

function valuesByName(parameters: URLSearchParams): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of parameters) {
    const others = values.get(name);
    if (others === undefined) values.set(name, [value]);
    else others.push(value);
  }
  return values;
}

function unknownName(
  name: string,
  fields: readonly string[],
  hinted: boolean,
): Omit<Problem, 'path'> {
  const withOperators = fields.flatMap((it) => OPERATORS.map((operator) => it + operator));
  const names = [...fields, ...withOperators, ...SETTING_NAMES];
  return {
    expected: `${fields.join(', ')}, one of these followed by ${listed(OPERATORS, 'or')}, or ${listed(SETTING_NAMES, 'or')}`,
    found: `${describe(name)}${hinted ? suggest(name, names) : ''}`,
  };
}

interface FieldTest {
  readonly name: string;
  readonly field: string;
  readonly type: Field['type'];
  readonly values: readonly string[];
  readonly operator: string | undefined;
}

function filterOf({ name, field, type, values, operator }: FieldTest, tell: Tell): Filter {
  const ranged = operator === '_gte' || operator === '_lte';
  const numeric = type === 'int64' || type === 'integer';
  if (ranged && type === 'boolean') tell(name, 'a field that has an order', 'a boolean');
  else if (numeric || !ranged) {
    for (const value of values) {
      if (!isValue(type, value)) tell(name, FIELD_TYPES[type].expected, describe(value));
    }
  }
  if (ranged) {
    // Like json-server, compares dates as text, so that 2031 is before 2031-01-01.
    const bounds = numeric ? values.filter(isIntegerText).map((it) => BigInt(it)) : values;
    return (record) => bounds.some((bound) => isWithin(record[field], bound, operator));
  }
  const wanted = new Set(values);
  const different = operator === '_ne';
  // Like json-server, `_ne` also leaves out records without the field.
  return ({ [field]: value }) => value !== undefined && wanted.has(String(value)) !== different;
}

/** Whether a text spells a value of a field's type. */
function isValue(type: Field['type'], text: string): boolean {
  switch (type) {
    case 'int64':
      return parseInt64(text) !== undefined;
    case 'integer':
      return isIntegerText(text) && Number.isSafeInteger(Number(text));
    case 'boolean':
      return text === 'true' || text === 'false';
    default:
      return FIELD_TYPES[type].read(text) !== undefined;
  }
}

/** Compares a number and a bigint exactly: neither is rounded. */
function isWithin(value: unknown, bound: string | bigint, operator: '_gte' | '_lte'): boolean {
  const [high, low] = operator === '_gte' ? [value, bound] : [bound, value];
  if (typeof high === 'string' && typeof low === 'string') return high >= low;
  return isNumeric(high) && isNumeric(low) && high >= low;
}

/** Whether a value of a record is a number. */
export function isNumeric(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** Like json-server's full-text search, finds no 0 and no false. */
function containing(text: string): Filter {
  return (record) =>
    Object.values(record).some(
      (value) => Boolean(value) && String(value).toLowerCase().includes(text),
    );
}

function sortKeys({ _sort, _order }: Settings, fields: readonly string[], tell: Tell): SortKey[] {
  const names = _sort?.split(',') ?? [];
  const orders = _order?.toLowerCase().split(',') ?? [];
  for (const [index, name] of names.filter((it) => !fields.includes(it)).entries()) {
    const hint = index < MOST_HINTS ? suggest(name, fields) : '';
    tell('_sort', listed(fields, 'or'), `${describe(name)}${hint}`);
  }
  for (const order of orders.filter((it) => !['', 'asc', 'desc'].includes(it))) {
    tell('_order', 'asc or desc', describe(order));
  }
  if (orders.length > names.length) {
    tell('_order', `at most one order for each field in _sort`, `${orders.length} orders`);
  }
  return names.map((field, index) => ({ field, descending: orders[index] === 'desc' }));
}

function sliceOf(settings: Settings, tell: Tell): Slice {
  const { _page: page, _limit: limit, _start: start = 0, _end: end } = settings;
  for (const [name, other] of EXCLUSIVE) {
    if (settings[name] !== undefined && settings[other] !== undefined) {
      tell(name, `no ${name} beside ${other}`, 'both');
    }
  }
  if (page !== undefined) {
    const size = limit ?? DEFAULT_PAGE_SIZE;
    if (size === 0) tell('_limit', 'an integer from 1, with _page', '0');
    return { start: (page - 1) * size, end: page * size, page };
  }
  if (settings._start !== undefined && end === undefined && limit === undefined) {
    tell('_start', '_end or _limit beside it', 'neither');
  }
  return { start, end: limit === undefined ? (end ?? Number.POSITIVE_INFINITY) : start + limit };
}
