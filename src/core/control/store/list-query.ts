import type { Int64 } from '../../json.ts';
import { LIMITS } from '../../limits.ts';
import { COUNT } from '../../sandbox/report-shapes.ts';
import { FILTER_TEXT } from '../../sandbox/search-terms.ts';
import { readTextAs } from '../../service/input.ts';
import { type Member, type ObjectMembers, object, optional } from '../../shape/objects.ts';
import type { Where } from '../../shape/record-shapes.ts';
import {
  ANY,
  ANY_TEXT,
  choice,
  convert,
  integer,
  list,
  type Shape,
  withTypes,
} from '../../shape/shapes.ts';
import { describe, joinWords } from '../../words.ts';

/*
 * Filters, `q`, sorting and pages work as in json-server 0.17.4. What json-server ignores is
 * refused here, because a result that leaves out a part of the query would mislead.
 */

export interface ListQuery {
  /** The accepted texts of each field. */
  readonly where: Where;
  readonly q?: string | undefined;
  readonly sort: readonly string[];
  /** `asc` or `desc`, in any case, for the field of `sort` at the same position. */
  readonly orders: readonly string[];
  /** The number of the page, from 1. */
  readonly page?: number | undefined;
  readonly limit?: number | undefined;
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

export const LIST_HEADERS = {
  'X-Total-Count': 'The number of all that match, regardless of page and limit.',
};

/** @param searched the fields that `q` searches */
export function createListQuery<R>(
  fields: ObjectMembers,
  searched = Object.keys(fields),
): Shape<ListQuery, RecordQuery<R>> {
  const byField = Object.entries(fields).map(
    ([name, { shape }]): [string, Member<ReadonlySet<string>, false>] => [
      name,
      optional(valueTexts(shape), 'Records with this value; repeated, with one of these.'),
    ],
  );
  const settings = {
    q: optional(FILTER_TEXT, `Those with this text in ${joinWords(searched, 'or')}, in any case.`),
    _sort: optional(
      separatedWords(choice(Object.keys(fields))),
      'Fields to sort by, separated by commas.',
    ),
    _order: optional(
      separatedWords(choice(['asc', 'desc', 'ASC', 'DESC']), 'asc'),
      '`asc` or `desc` for each field in `_sort`, separated by commas.',
    ),
    _page: optional(integer(1, Number.MAX_SAFE_INTEGER), 'The page number, from 1.'),
    _limit: optional(COUNT, 'The page size (10 by default), or the maximum number of records.'),
  };
  const all = object({ ...Object.fromEntries(byField), ...settings });
  const shape = convert(all, (query): ListQuery => {
    const { q, _sort: sort = [], _order: orders = [], _page: page, _limit: limit, ...by } = query;
    const where = Object.entries(by).flatMap(([name, wanted]) =>
      wanted instanceof Set ? [[name, wanted] as const] : [],
    );
    return { where: new Map(where), q, sort, orders, page, limit };
  });
  return withTypes(shape);
}

/** Reads values from a query as the texts that the JSON of a record would show. */
function valueTexts(shape: Shape<unknown>): Shape<ReadonlySet<string>> {
  return convert({ ...ANY, schema: { type: 'string' } }, (given, at, report) => {
    const texts = [given].flat().map(String);
    const wrong = texts.find((text) => readTextAs(shape, text) === undefined);
    if (wrong === undefined) return new Set(texts);
    return report({ at, expected: shape.expected, found: describe(wrong) });
  });
}

/** Reads comma-separated words. An empty word becomes `empty` if that is given, or is left out. */
function separatedWords<Word extends string>(
  word: Shape<Word>,
  empty?: Word,
): Shape<readonly Word[]> {
  return convert(ANY_TEXT, (text, at, report) => {
    const parts = text.split(',').flatMap((part) => part || (empty ?? []));
    return list(word, { max: LIMITS.sortFields }).read(parts, [...at], report);
  });
}
