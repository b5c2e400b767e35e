import { parseJson } from '../contract/json.ts';
import type { OperationId } from '../contract/operations.ts';
import { isObject } from '../contract/records.ts';
import { describe } from '../words.ts';
import { ASKS, type AskName } from './asks.ts';
import type { Difference } from './reply-differences.ts';
import { idIn, type JsonRecord, type Seen } from './seen.ts';

export type Broken = Omit<Difference, 'exchange'>;

/** What the document prescribes of a reply beyond its status and its records. */
export interface Rule {
  readonly reply: readonly [OperationId, status: number];
  /** The requests that show it. */
  readonly asks: readonly AskName[];
  /** What is wrong with the reply to one of them. */
  readonly broken: (seen: Seen, name: AskName) => readonly Broken[];
}

export function wrong(at: string, expected: string, found: string): Broken {
  return { where: 'value', at, expected, found };
}

/** No two records of a list have the same id. */
export function unique(reply: Rule['reply'], asks: readonly AskName[], field: string): Rule {
  const broken = (seen: Seen, name: AskName) => {
    const ids = (seen.list(name) ?? []).flatMap((it) => idIn(it, field) ?? []);
    const twice = ids.find((id, at) => ids.indexOf(id) !== at);
    return twice === undefined ? [] : [wrong(`$[].${field}`, 'each once', `${twice} twice`)];
  };
  return { reply, asks, broken };
}

/** The fields of a record that differ from another one. */
export function unlike(
  found: JsonRecord,
  expected: JsonRecord | undefined,
  fields = Object.keys(expected ?? {}),
  at = '$',
): Broken[] {
  return fields
    .filter((field) => String(found[field] ?? '') !== String(expected?.[field] ?? ''))
    .map((field) => wrong(`${at}.${field}`, describe(expected?.[field]), describe(found[field])));
}

export function sentBy(name: AskName): JsonRecord {
  const sent: unknown = parseJson(ASKS[name].body ?? '{}');
  return isObject(sent) ? sent : {};
}
