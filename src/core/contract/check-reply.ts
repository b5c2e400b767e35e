import { isUtf8, toText } from '../bytes.ts';
import { isObject } from '../json.ts';
import { findHeader, type RawHeaders } from '../raw-http.ts';
import { type ObjectShape, object, optional } from '../shape/objects.ts';
import { readAs } from '../shape/shapes.ts';
import { describe, joinWords } from '../words.ts';
import { type DocumentedReply, type OperationId, operationShape } from './operations.ts';
import {
  knownValues,
  ORDER_STATUSES,
  RECORDS,
  type RecordName,
  textLike,
  unknownMembers,
} from './records.ts';

/** How a reply differs from what the document says. */
export interface Deviation {
  /** `new value`: the document neither lists nor excludes it. */
  readonly where: 'status' | 'header' | 'body' | 'field' | 'type' | 'value' | 'new value';
  /** A header, or a place in the body: `$[].id` is the id of any record of a list. */
  readonly at?: string;
  readonly expected: string;
  readonly found: string;
}

export function deviationText({ where, at = where, expected, found }: Deviation): string {
  return `${at}: expected ${expected}, found ${found}`;
}

export function isViolation({ where }: Deviation): boolean {
  return where !== 'new value';
}

export interface CheckedReply {
  readonly status: number;
  readonly headers: RawHeaders;
  /** The body after its content coding is removed. */
  readonly body: string | Uint8Array | undefined;
  /** The parsed body; undefined if it is not JSON. */
  readonly json: unknown;
}

/** Part 7 of the document: errors that carry a body use the Error object. */
const UNDOCUMENTED_ERROR: DocumentedReply = { description: '', body: { record: 'Error' } };

/** The document does not show every error, so it allows any status from 400 up. */
export function checkStatus(status: number, operation: OperationId): readonly Deviation[] {
  const { replies } = operationShape(operation);
  const isAllowed = status >= 400 || replies[status] !== undefined;
  const expected = `${joinWords(Object.keys(replies), 'or')}, or an Error from 400 on`;
  return isAllowed ? [] : [{ where: 'status', expected, found: String(status) }];
}

/** Deviations in the body of a reply with this status, and in its media type. */
export function checkBody(reply: CheckedReply, operation: OperationId): readonly Deviation[] {
  const { status } = reply;
  const replies: Readonly<Record<number, DocumentedReply>> = operationShape(operation).replies;
  const documented = replies[status] ?? (status >= 400 ? UNDOCUMENTED_ERROR : undefined);
  if (documented === undefined || documented.bodyNotShown) return [];
  if (documented === UNDOCUMENTED_ERROR && !reply.body?.length) return [];
  return distinct(bodyDifferences(reply, documented));
}

function bodyDifferences(
  { status, headers, body: content = '', json }: CheckedReply,
  { body }: DocumentedReply,
): Deviation[] {
  const { length } = content;
  if (body === undefined) {
    // Node's HTTP client reads no body after a 204, so only Content-Length tells of one.
    const size = length || Number(findHeader(headers, 'content-length') ?? 0);
    return size === 0 ? [] : [{ where: 'body', expected: 'no body', found: `${size} bytes` }];
  }
  const { record, list = false } = body;
  const expected = list ? `an array of ${record} objects` : `one ${record} object`;
  if (length === 0) return [{ where: 'body', expected, found: 'no body' }];
  const type = findHeader(headers, 'content-type');
  const isJson = /^application\/json\s*(?:;|$)/i.test(type ?? '');
  const found = unless(isJson, 'Content-Type', 'application/json', describe(type), 'header');
  if (json === undefined) {
    return [...found, { where: 'body', expected: 'JSON', found: describeContent(content) }];
  }
  if (list !== Array.isArray(json)) {
    return [...found, { where: 'type', at: '$', expected, found: describe(json) }];
  }
  const values: readonly unknown[] = [json].flat();
  const at = list ? '$[]' : '$';
  return [...found, ...values.flatMap((value) => recordDifferences(record, value, at, status))];
}

function describeContent(content: string | Uint8Array): string {
  if (typeof content === 'string') return describe(content);
  return isUtf8(content) ? describe(toText(content)) : `${content.length} bytes that are not UTF-8`;
}

const COMPARED: Readonly<Record<RecordName, ObjectShape>> = {
  ...RECORDS,
  Order: object(
    { ...RECORDS.Order.members, status: optional(textLike(ORDER_STATUSES), '') },
    { open: true },
  ),
};

function recordDifferences(
  name: RecordName,
  value: unknown,
  root: string,
  status: number,
): readonly Deviation[] {
  if (!isObject(value)) {
    return [{ where: 'type', at: root, expected: `one ${name} object`, found: describe(value) }];
  }
  const record = COMPARED[name];
  // Null counts as absent, which an optional field may be.
  const members = Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
  const reading = readAs(record, members, root);
  const misfits = reading.ok ? [] : reading.problems;
  const newValues = Object.entries(record.members).flatMap(([field, { shape }]) => {
    const seen = knownValues(shape);
    const member = members[field];
    const isSeen = typeof member !== 'string' || seen.length === 0 || seen.includes(member);
    const expected = `one of ${seen.join(', ')}`;
    return unless(isSeen, `${root}.${field}`, expected, describe(member), 'new value');
  });
  const known = `only ${Object.keys(RECORDS[name].members).join(', ')}`;
  const isOther =
    name === 'Error' && typeof members.status === 'number' && members.status !== status;
  return [
    ...misfits.map(({ path, expected, found }) => {
      return { where: found === 'nothing' ? 'field' : 'type', at: path, expected, found } as const;
    }),
    ...newValues,
    ...unknownMembers(record.members, value).map((field) => {
      return { where: 'field', at: root, expected: known, found: describe(field) } as const;
    }),
    ...unless(!isOther, `${root}.status`, `${status}`, `${members.status}`),
  ];
}

function unless(
  holds: boolean,
  at: string,
  expected: string,
  found: string,
  where: Deviation['where'] = 'value',
): readonly Deviation[] {
  return holds ? [] : [{ where, at, expected, found }];
}

export function distinct<D extends Deviation>(deviations: readonly D[]): D[] {
  const firsts = new Map<string, D>();
  for (const deviation of deviations) {
    const { where, at, expected, found } = deviation;
    const kind = `${where} ${at} ${expected} ${where === 'type' ? '' : found}`;
    if (!firsts.has(kind)) firsts.set(kind, deviation);
  }
  return [...firsts.values()];
}
