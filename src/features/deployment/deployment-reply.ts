import { isUtf8 } from 'node:buffer';
import { toInt64, tryParseJson } from '../../core/json.ts';

export interface DeploymentReply {
  readonly status: number;
  /** Names and values alternate, as they arrived. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

const NEXT = /<[^>?]*(\?[^>#]*)[^>]*>\s*;[^,<]*\brel="?(?:[^",;]* )?next\b/i;

/** RFC 8288. The host of the link counts for nothing: behind a proxy it may be an inner one. */
export function findNextQuery({ headers }: Pick<DeploymentReply, 'headers'>): string | undefined {
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
