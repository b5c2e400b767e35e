import { joinBytes, toBytes } from '../bytes.ts';
import { mayHaveContent, type RawHeaders, withoutHeaders } from '../raw-http.ts';
import type { Reply } from '../service/reply.ts';
import { effectOf, type MessageFault } from './fault-table.ts';

/** What is sent of a reply that a fault breaks. */
export interface BrokenReply {
  readonly status: number;
  /** All headers, including those that frame the body. */
  readonly headers: RawHeaders;
  /** What is sent of the body; undefined for a status without content (RFC 9110, section 6.4.1). */
  readonly content: Uint8Array | undefined;
  /** Whether the connection ends within the body or, if there is no content, within the head. */
  readonly isCut: boolean;
  /** What follows `content` if that is a chunk: a chunk whose size is not a number. */
  readonly badChunk?: Uint8Array;
  /** Set if the body is sent slowly, in pieces. */
  readonly pieces?: readonly SlowPiece[];
}

/** A piece of a body, and its delay after the head in milliseconds. */
export interface SlowPiece {
  readonly after: number;
  readonly bytes: Uint8Array;
}

/** @param hasChunks whether chunks are possible. HTTP/1.0 has none, so the body is truncated. */
export function breakReply(
  fault: MessageFault,
  { status, headers, body = '' }: Reply,
  method: string,
  hasChunks = true,
): BrokenReply {
  if (method === 'HEAD' || !mayHaveContent(status)) {
    // Without content, there is nothing to spoil or slow down. For HEAD, Content-Length is GET's.
    return { status, headers, content: undefined, isCut: !effectOf(fault).keepsConnection };
  }
  const bytes = typeof body === 'string' ? toBytes(body) : body;
  const half = bytes.length >> 1;
  const others = withoutHeaders(headers, FRAMING);
  const withLength = (length: number, content: Uint8Array, isCut = false): BrokenReply => {
    const framing = ['Content-Length', String(length)];
    return { status, headers: [...others, ...framing], content, isCut };
  };
  // The head announces at least one byte, so that an empty body is truncated, too.
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
      if (bytes.length === 0) return whole;
      return { ...whole, pieces: cutEvenly(bytes, fault.chunks, fault.over) };
    }
  }
}

/** Cuts a body into pieces. A body with fewer bytes than pieces gets fewer pieces. */
function cutEvenly(bytes: Uint8Array, chunks: number, over: number): SlowPiece[] {
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

/** Headers that describe the whole body, and that a broken one gets anew. */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'trailer']);

/** Breaks any JSON: outside a string a colon needs a value, inside one the string never ends. */
const TAIL = toBytes(':}');
