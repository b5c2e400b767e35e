import { type DocumentedReply, type OperationId, operationShape } from '../contract/operations.ts';
import {
  FIELD_TYPES,
  type Fields,
  isObject,
  RECORDS,
  type RecordName,
} from '../contract/records.ts';
import { describe } from '../words.ts';
import { type DeploymentReply, describeBody, type JsonRecord } from './reply-parts.ts';

/** A status and a field that the document does not have: a check sends them. */
export const UNKNOWN_WORD = 'petstore-mock-check';

/** Something about a reply that differs from the document, and the request that got it. */
export interface Difference extends Deviation {
  /** The request, and the status of its reply. */
  readonly exchange: string;
}

/** Something that differs from the document. */
export interface Deviation {
  /** `new value`: the document neither lists nor excludes it. */
  readonly where: 'status' | 'header' | 'body' | 'field' | 'type' | 'value' | 'new value';
  /** A header, or a place in the body: `$[].id` is the id of any record of a list. */
  readonly at?: string;
  readonly expected: string;
  readonly found: string;
}

/** Whether a difference breaks the document. */
export function isBreak({ where }: Deviation): boolean {
  return where !== 'new value';
}

/** The parts of a reply that are compared. */
export interface ComparableReply {
  readonly status: number;
  readonly reply: Pick<DeploymentReply, 'headers' | 'body'>;
  /** Undefined if the body is empty or not JSON. */
  readonly json: unknown;
  /** A header by its name in lower case. */
  readonly header: (name: string) => string | undefined;
}

/** Compares a reply with what the document says of its status, or of errors. */
export function replyDifferences(exchange: ComparableReply, operation: OperationId): Difference[] {
  const { status, reply } = exchange;
  const replies: Readonly<Record<number, DocumentedReply>> = operationShape(operation).replies;
  const documented = replies[status] ?? (status >= 400 ? UNDOCUMENTED_ERROR : undefined);
  if (documented === undefined || documented.bodyNotShown) return [];
  const isEmpty = reply.body.length === 0;
  if (documented === UNDOCUMENTED_ERROR && isEmpty) return [];
  const found = bodyDifferences(exchange, documented, isEmpty);
  return distinct(found).map((it) => ({ ...it, exchange: String(exchange) }));
}

/** Part 7 of the document: errors that carry a body use the Error object. */
const UNDOCUMENTED_ERROR: DocumentedReply = { description: '', body: { record: 'Error' } };

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

function bodyDifferences(
  exchange: ComparableReply,
  { body }: DocumentedReply,
  isEmpty: boolean,
): Deviation[] {
  const { reply, json, status } = exchange;
  if (body === undefined) {
    // A client of Node reads no body after a 204, whatever its length.
    const size = isEmpty ? Number(exchange.header('content-length') ?? 0) : reply.body.length;
    return size === 0 ? [] : [{ where: 'body', expected: 'no body', found: `${size} bytes` }];
  }
  if (isEmpty) return [{ where: 'body', expected: expectedBody(body), found: 'no body' }];
  const found: Deviation[] = [];
  const mediaType = exchange.header('content-type');
  if (mediaType === undefined || !JSON_TYPE.test(mediaType)) {
    const [at, expected] = ['Content-Type', 'application/json'];
    found.push({ where: 'header', at, expected, found: describe(mediaType) });
  }
  if (json === undefined) {
    return [...found, { where: 'body', expected: 'JSON', found: describeBody(reply.body) }];
  }
  const isList = body.list === true;
  if (isList !== Array.isArray(json)) {
    return [
      ...found,
      { where: 'type', at: '$', expected: expectedBody(body), found: describe(json) },
    ];
  }
  const values: readonly unknown[] = Array.isArray(json) ? json : [json];
  const at = isList ? '$[]' : '$';
  found.push(...values.flatMap((value) => recordDifferences(body.record, value, at)));
  if (body.record === 'Error' && isObject(json)) found.push(...errorDifferences(json, status));
  return found;
}

function expectedBody({ record, list }: NonNullable<DocumentedReply['body']>): string {
  return list ? `an array of ${record} objects` : `one ${record} object`;
}

function errorDifferences({ status }: JsonRecord, expected: number): Deviation[] {
  if (typeof status !== 'number' || status === expected) return [];
  return [{ where: 'value', at: '$.status', expected: String(expected), found: String(status) }];
}

/** Members beside the fields of the document that an assumption adds to a record. */
const ASSUMED_MEMBERS: Partial<Record<RecordName, Fields>> = {
  Order: {
    status: {
      type: 'string',
      required: false,
      description: '',
      seen: ['pending', 'shipped', 'cancelled'],
    },
  },
};

function recordDifferences(name: RecordName, value: unknown, at: string): readonly Deviation[] {
  if (!isObject(value)) {
    return [{ where: 'type', at, expected: `one ${name} object`, found: describe(value) }];
  }
  const documented: Fields = RECORDS[name];
  const fields: Fields = { ...documented, ...ASSUMED_MEMBERS[name] };
  const found: Deviation[] = [];
  for (const [field, { type, required, seen }] of Object.entries(fields)) {
    const { expected, read } = FIELD_TYPES[type];
    const place = { at: `${at}.${field}`, expected };
    const member = value[field];
    if (member === undefined) {
      if (required) found.push({ where: 'field', ...place, found: 'nothing' });
    } else if (member === null) {
      if (required) found.push({ where: 'type', ...place, found: 'null' });
    } else if (read(member) === undefined) {
      found.push({ where: 'type', ...place, found: describe(member) });
    } else if (seen !== undefined && typeof member === 'string' && isNew(member, seen)) {
      const expected = `one of ${seen.join(', ')}`;
      found.push({ where: 'new value', at: place.at, expected, found: describe(member) });
    }
  }
  for (const field of Object.keys(value).filter((it) => !Object.hasOwn(fields, it))) {
    const expected = `only ${Object.keys(documented).join(', ')}`;
    found.push({ where: 'field', at, expected, found: describe(field) });
  }
  return found;
}

/** Whether a value is new: in neither the document nor the requests of a check. */
function isNew(value: string, seen: readonly string[]): boolean {
  return value !== UNKNOWN_WORD && !seen.includes(value);
}

/** The first of several differences of the same kind. */
export function distinct<D extends Deviation>(found: readonly D[]): D[] {
  const kept = new Map<string, D>();
  for (const it of found) {
    const kind = `${it.where} ${it.at} ${it.expected} ${it.where === 'type' ? '' : it.found}`;
    if (!kept.has(kind)) kept.set(kind, it);
  }
  return [...kept.values()];
}
