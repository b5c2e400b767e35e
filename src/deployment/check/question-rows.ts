import { type OperationId, operationShape } from '../../contract/operations.ts';
import { describe } from '../../words.ts';
import { type Deviation, idsOf, type JsonRecord } from '../deployment-reply.ts';
import type { CheckRequest, ProbeReply } from './check-transcript.ts';
import type { DocumentRule, Need, Question, QuestionDetails } from './question.ts';

/** The id that a body must not have. */
export const SENT_ID = 7_777_777_777_777_777n;

/** What a row adds to its request. */
export type More = Partial<CheckRequest> & QuestionDetails;

/** @param query appended to the operation's path, in which braces stand for an id */
export function call(
  operation: OperationId,
  query: string,
  why: string,
  more: More = {},
): Question {
  const { method, path } = operationShape(operation);
  return { operation, method, path: path.replace(/\{\w+\}/, '{}') + query, why, ...more };
}

export const listPets = (query: string, why: string, more?: More) =>
  call('listPets', query, why, more);
export const readPet = (needs: Need, why: string, more?: More) =>
  call('getPet', '', why, {
    needs,
    excuse: ({ status }, check) => (status === 410 || status === 404) && check.hasPassedSunset,
    ...more,
  });
export const listInventory = (why: string, more?: More) => call('listInventory', '', why, more);
export const listOrders = (query: string, why: string, more?: More) =>
  call('listOrders', query, why, more);

export const NO_KEY = { key: 'none', status: 401 } as const;

/** An id that is not among these. */
export function unusedId(used: readonly bigint[]): bigint {
  let id = SENT_ID + 1n;
  while (used.includes(id)) id += 1n;
  return id;
}

export const accepted = (reply: ProbeReply): boolean => reply.accepted;

/** The input is refused. */
export const refused = (reply: ProbeReply): boolean => reply.refused;

/** The reply has this status. */
export function status(expected: number) {
  return (reply: ProbeReply): boolean => reply.status === expected;
}

/** How a value deviates from what the document prescribes, unless it does not. */
export function unless(
  holds: boolean,
  at: string,
  expected: string,
  found: string,
  where: Deviation['where'] = 'value',
): readonly Deviation[] {
  return holds ? [] : [{ where, at, expected, found }];
}

/** The fields of a record that differ from another one. */
export function unlike(
  found: JsonRecord | undefined,
  expected: JsonRecord | undefined,
  fields = Object.keys(expected ?? {}),
): readonly Deviation[] {
  return fields.flatMap((field) => {
    const [is, wanted] = [found?.[field], expected?.[field]];
    const holds = found === undefined || String(is ?? '') === String(wanted ?? '');
    return unless(holds, `$.${field}`, describe(wanted), describe(is));
  });
}

/** No two records of a list have the same id. */
export function uniqueIds(field: string): DocumentRule {
  return ({ records }) => {
    const ids = idsOf(records, field);
    const twice = ids.find((id, at) => ids.indexOf(id) !== at);
    return unless(twice === undefined, `$[].${field}`, 'each once', `${twice} twice`);
  };
}

/** A body without a required field, or with one of another type, is not accepted. */
export function refuses(field: string): readonly [DocumentRule] {
  return [
    ({ accepted, status, question }) => {
      const found = `${status} for ${question.why}`;
      return unless(!accepted, `$.${field}`, 'a refusal', found, 'field');
    },
  ];
}
