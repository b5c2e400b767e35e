import { joinBytes, toBytes } from '../bytes.ts';
import { type RawHeaders, withoutHeaders } from '../raw-http.ts';
import { mayHaveContent, type Reply } from '../service/reply.ts';
import type { FaultWith } from './fault-table.ts';

/** The reply to break; its body is what GET would get, also in a reply to HEAD. */
export type WireReply = Pick<Reply, 'status' | 'headers' | 'body'>;

/** What the client gets of a reply that a fault breaks. */
export interface BrokenReply {
  readonly status: number;
  /** With those that frame the body. */
  readonly headers: RawHeaders;
  /** What is sent of the body; undefined for a reply without content (RFC 9110, section 6.4.1). */
  readonly content: Uint8Array | undefined;
  /** The connection ends here: within the body, or within the head of a reply without content. */
  readonly isCut: boolean;
  /** If `content` is a chunk: the one after it, whose size is not a number. */
  readonly badChunk?: Uint8Array;
  /** Set if `content` is sent in pieces. */
  readonly pieces?: readonly SlowPiece[];
}

/** A piece of a body, and how many milliseconds after the head it is sent. */
export interface SlowPiece {
  readonly after: number;
  readonly bytes: Uint8Array;
}

/** @param hasChunks whether a body can come in chunks: not in HTTP/1.0, where it is truncated instead */
export function breakReply(
  fault: FaultWith<'spoils' | 'slows'>,
  { status, headers, body = '' }: WireReply,
  method: string,
  hasChunks = true,
): BrokenReply {
  const bytes = typeof body === 'string' ? toBytes(body) : body;
  const half = bytes.length >> 1;
  const hasContent = method !== 'HEAD' && mayHaveContent(status);
  const others = withoutHeaders(headers, FRAMING);
  const withLength = (length: number, content: Uint8Array, isCut = false): BrokenReply => {
    const framing = mayHaveContent(status) ? ['Content-Length', String(length)] : [];
    const sent = hasContent ? content : undefined;
    return { status, headers: [...others, ...framing], content: sent, isCut };
  };
  // An empty body is announced as one byte, so that it is cut too.
  const truncated = withLength(Math.max(bytes.length, 1), bytes.subarray(0, half), true);
  switch (fault.kind) {
    case 'truncate':
      return truncated;
    case 'bad-chunk':
      if (!hasChunks || !hasContent) return truncated;
      return {
        ...truncated,
        headers: [...others, 'Transfer-Encoding', 'chunked'],
        badChunk: bytes.subarray(half),
      };
    case 'malformed-json': {
      const spoilt = joinBytes([bytes.subarray(0, half), TAIL]);
      return withLength(spoilt.length, spoilt);
    }
    case 'slow-body': {
      const whole = withLength(bytes.length, bytes);
      return whole.content?.length ? { ...whole, pieces: cutEvenly(bytes, fault) } : whole;
    }
  }
}

/** A body that is shorter than the number of its pieces has fewer of them. */
function cutEvenly(bytes: Uint8Array, { chunks, over }: FaultWith<'slows'>): SlowPiece[] {
  const pieces: SlowPiece[] = [];
  let sent = 0;
  for (let number = 1; number <= chunks; number += 1) {
    const to = Math.floor((bytes.length * number) / chunks);
    const after = (number * over) / chunks;
    if (to > sent) pieces.push({ after, bytes: bytes.subarray(sent, to) });
    sent = to;
  }
  return pieces;
}

/** Headers of a whole body, which a broken one has anew. */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'trailer']);

/** Ends no JSON: outside a string a colon needs a value, and inside one the string is never closed. */
const TAIL = toBytes(':}');
