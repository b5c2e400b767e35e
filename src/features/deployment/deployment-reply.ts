import { isUtf8 } from 'node:buffer';
import { ORDER_STATUSES, type OrderStatus } from '../../core/contract/records.ts';
import { toInt64, tryParseJson } from '../../core/json.ts';
import { findHeaders } from '../../core/raw-http.ts';

export interface DeploymentReply {
  readonly status: number;
  /** Alternating names and values, as they arrived. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

const NEXT = /<[^>?]*(\?[^>#]*)[^>]*>\s*;[^,<]*\brel="?(?:[^",;]* )?next\b/i;

/** The query of the `next` link (RFC 8288), whose host may be an inner one behind a proxy. */
export function findNextQuery({ headers }: Pick<DeploymentReply, 'headers'>): string | undefined {
  return NEXT.exec(findHeaders(headers, 'link').join(', '))?.[1];
}

export function parseBody(body: Buffer): unknown {
  return isUtf8(body) ? tryParseJson(body.toString()) : undefined;
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

/** The status of an order. One without a status that is complete has shipped. */
export function readOrderStatus({ status, complete }: ReplyRecord): OrderStatus | undefined {
  const known = ORDER_STATUSES.find((each) => each === status);
  return known ?? (complete === true ? 'shipped' : undefined);
}

/** A status and a field that the document does not have, for a check to send. */
export const UNKNOWN_WORD = 'petstore-mock-check';
