import { joinBytes, toBytes } from '../bytes.ts';
import { mayHaveContent, type RawHeaders, withoutHeaders } from '../raw-http.ts';
import type { Reply } from '../service/reply.ts';
import type { FaultWith } from './fault-table.ts';

/** The reply to break. To HEAD it has no body, and its headers say how long GET's would be. */
export type WireReply = Pick<Reply, 'status' | 'headers' | 'body'>;

/** What the client gets of a reply that a fault breaks. */
export interface BrokenReply {
  readonly status: number;
  /** All headers, those that frame the body too. */
  readonly headers: RawHeaders;
  /** What is sent of the body; undefined for a reply without content (RFC 9110, section 6.4.1). */
  readonly content: Uint8Array | undefined;
  /** The connection ends here: within the body, or within the head of a reply without content. */
  readonly isCut: boolean;
  /** If `content` is a chunk, the next one, whose size is not a number. */
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
  if (method === 'HEAD' || !mayHaveContent(status)) {
    // There is nothing to spoil or to slow down.
    const isCut = fault.kind === 'truncate' || fault.kind === 'bad-chunk';
    return { status, headers, content: undefined, isCut };
  }
  const bytes = typeof body === 'string' ? toBytes(body) : body;
  const half = bytes.length >> 1;
  const others = withoutHeaders(headers, FRAMING);
  const withLength = (length: number, content: Uint8Array, isCut = false): BrokenReply => {
    const framing = ['Content-Length', String(length)];
    return { status, headers: [...others, ...framing], content, isCut };
  };
  // An empty body is announced as one byte, so that it is cut too.
  const truncated = withLength(Math.max(bytes.length, 1), bytes.subarray(0, half), true);
  switch (fault.kind) {
    case 'truncate':
      return truncated;
    case 'bad-chunk':
      if (!hasChunks) return truncated;
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
      return bytes.length > 0 ? { ...whole, pieces: cutEvenly(bytes, fault) } : whole;
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
