import { isUtf8 } from 'node:buffer';
import {
  type DocumentedReply,
  type OperationId,
  operationShape,
} from '../../core/contract/operations.ts';
import {
  knownValues,
  ORDER_STATUSES,
  RECORDS,
  type RecordName,
  textLike,
  unknownMembers,
} from '../../core/contract/records.ts';
import { isObject, toInt64, tryParseJson } from '../../core/json.ts';
import { findHeader } from '../../core/raw-http.ts';
import { type ObjectShape, object, optional } from '../../core/shape/objects.ts';
import { readAs } from '../../core/shape/shapes.ts';
import { describe } from '../../core/words.ts';

export interface DeploymentReply {
  readonly status: number;
  /** Names and values alternate, as they arrived. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

type Head = Pick<DeploymentReply, 'headers'>;

/** In seconds, by a number or a date (RFC 9110, section 10.2.3). */
export function readRetryAfter(reply: Head): number | undefined {
  const value = findHeader(reply.headers, 'retry-after') ?? '';
  if (/^\d+$/.test(value)) return Number(value);
  const now = Date.parse(findHeader(reply.headers, 'date') ?? '') || Date.now();
  const until = Date.parse(value);
  return Number.isNaN(until) ? undefined : Math.max(0, (until - now) / 1000);
}

const NEXT = /<[^>?]*(\?[^>#]*)[^>]*>\s*;[^,<]*\brel="?(?:[^",;]* )?next\b/i;

/** RFC 8288. The host of the link counts for nothing: behind a proxy it may be an inner one. */
export function findNextQuery({ headers }: Head): string | undefined {
  const links = headers.filter(
    (_, at) => headers[at - 1]?.toLowerCase() === 'link' && at % 2 === 1,
  );
  return NEXT.exec(links.join(', '))?.[1];
}

const parsed = new WeakMap<Buffer, { readonly json: unknown }>();

/** Parses a body once: that of a large store takes long. */
export function parseBody(body: Buffer): unknown {
  const known = parsed.get(body);
  if (known !== undefined) return known.json;
  const json = isUtf8(body) ? tryParseJson(body.toString()) : undefined;
  parsed.set(body, { json });
  return json;
}

function describeBody(body: Buffer): string {
  if (body.length === 0) return 'no body';
  return isUtf8(body) ? describe(body.toString()) : `${body.length} bytes that are not UTF-8`;
}

export type ReplyRecord = Readonly<Record<string, unknown>>;

export function readId(record: ReplyRecord | undefined, field = 'id'): bigint | undefined {
  const value = record?.[field]; // some deployments write ids as strings
  return toInt64(typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? BigInt(value) : value);
}

export function readIds(records: readonly ReplyRecord[] | undefined, field?: string): bigint[] {
  return (records ?? []).flatMap((record) => readId(record, field) ?? []);
}

export function findById(
  records: readonly ReplyRecord[] | undefined,
  id: bigint | undefined,
  field = 'id',
): ReplyRecord | undefined {
  return id === undefined ? undefined : records?.find((record) => readId(record, field) === id);
}

/** A status and a field that the document does not have: a check sends them. */
export const UNKNOWN_WORD = 'petstore-mock-check';

export interface Deviation {
  /** `new value`: the document neither lists nor excludes it. */
  readonly where: 'status' | 'header' | 'body' | 'field' | 'type' | 'value' | 'new value';
  /** A header, or a place in the body: `$[].id` is the id of any record of a list. */
  readonly at?: string;
  readonly expected: string;
  readonly found: string;
}

export function isViolation({ where }: Deviation): boolean {
  return where !== 'new value';
}

export interface ComparableReply extends DeploymentReply {
  readonly json: unknown;
}

/** Part 7 of the document: errors that carry a body use the Error object. */
const UNDOCUMENTED_ERROR: DocumentedReply = { description: '', body: { record: 'Error' } };

export function replyDifferences(reply: ComparableReply, operation: OperationId): Deviation[] {
  const { status } = reply;
  const replies: Readonly<Record<number, DocumentedReply>> = operationShape(operation).replies;
  const documented = replies[status] ?? (status >= 400 ? UNDOCUMENTED_ERROR : undefined);
  if (documented === undefined || documented.bodyNotShown) return [];
  if (documented === UNDOCUMENTED_ERROR && reply.body.length === 0) return [];
  return distinct(bodyDifferences(reply, documented));
}

function bodyDifferences(
  { status, headers, body: bytes, json }: ComparableReply,
  { body }: DocumentedReply,
): Deviation[] {
  const { length } = bytes;
  if (body === undefined) {
    // A client of Node reads no body after a 204, whatever its length.
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
    return [...found, { where: 'body', expected: 'JSON', found: describeBody(bytes) }];
  }
  if (list !== Array.isArray(json)) {
    return [...found, { where: 'type', at: '$', expected, found: describe(json) }];
  }
  const values: readonly unknown[] = [json].flat();
  const at = list ? '$[]' : '$';
  return [...found, ...values.flatMap((value) => recordDifferences(record, value, at, status))];
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
  // Null is no value, which an optional field may have.
  const members = Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
  const reading = readAs(record, members, root);
  const misfits = reading.ok ? [] : reading.problems;
  const newValues = Object.entries(record.members).flatMap(([field, { shape }]) => {
    const seen = knownValues(shape);
    const member = members[field];
    // A check sends the unknown word itself.
    const isText = typeof member === 'string' && member !== UNKNOWN_WORD;
    const isSeen = !isText || seen.length === 0 || seen.includes(member);
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
