import { isUtf8 } from 'node:buffer';
import { toInt64 } from '../contract/int64.ts';
import { parseJson } from '../contract/json.ts';
import { headerOf } from '../http/raw-headers.ts';
import { describe } from '../words.ts';

export interface DeploymentReply {
  readonly status: number;
  /** Names and values alternate, as they arrived. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

type Head = Pick<DeploymentReply, 'headers'>;

/** The seconds that `Retry-After` asks for, by a number or a date (RFC 9110, section 10.2.3). */
export function secondsToWait(reply: Head): number | undefined {
  const value = headerOf(reply.headers, 'retry-after') ?? '';
  if (/^\d+$/.test(value)) return Number(value);
  const now = Date.parse(headerOf(reply.headers, 'date') ?? '') || Date.now();
  const until = Date.parse(value);
  return Number.isNaN(until) ? undefined : Math.max(0, (until - now) / 1000);
}

const NEXT = /<[^>?]*(\?[^>#]*)[^>]*>\s*;[^,<]*\brel="?(?:[^",;]* )?next\b/i;

/**
 * The query of the link to the next page (RFC 8288); undefined without one. Its host counts for
 * nothing: behind a proxy it may be an inner one.
 */
export function nextQuery({ headers }: Head): string | undefined {
  const links = headers.filter(
    (_, at) => headers[at - 1]?.toLowerCase() === 'link' && at % 2 === 1,
  );
  return NEXT.exec(links.join(', '))?.[1];
}

/** The JSON value of a body; undefined if it has none or that is not JSON. */
export function jsonOf(body: Buffer): unknown {
  try {
    return isUtf8(body) ? parseJson(body.toString()) : undefined;
  } catch {
    return undefined;
  }
}

/** What a body is that is not what was expected, for messages. */
export function describeBody(body: Buffer): string {
  if (body.length === 0) return 'no body';
  return isUtf8(body) ? describe(body.toString()) : `${body.length} bytes that are not UTF-8`;
}

export type JsonRecord = Readonly<Record<string, unknown>>;

/** The id in a field, also of a deployment that writes it as a string. */
export function idIn(record: JsonRecord | undefined, field = 'id'): bigint | undefined {
  const value = record?.[field];
  return toInt64(typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? BigInt(value) : value);
}

export function idsOf(records: readonly JsonRecord[] | undefined, field?: string): bigint[] {
  return (records ?? []).flatMap((record) => idIn(record, field) ?? []);
}

/** The record of a list with this id. */
export function withId(
  records: readonly JsonRecord[] | undefined,
  id: bigint | undefined,
  field = 'id',
): JsonRecord | undefined {
  return id === undefined ? undefined : records?.find((it) => idIn(it, field) === id);
}
