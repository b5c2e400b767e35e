import { joinBytes, toBytes } from '../bytes.ts';
import { type RawHeaders, withoutHeaders } from '../raw-http.ts';
import { mayHaveContent, type Reply } from '../service/reply.ts';
import { rowNames } from '../words.ts';

/**
 * What each does to the reply. After `replaces`, the client has none, and after `substitutes` that of a
 * proxy; neither runs the operation by itself. After `spoils`, it has a status and no usable reply.
 */
export const FAULTS = {
  reset: 'replaces',
  close: 'replaces',
  hang: 'replaces',
  html: 'substitutes',
  truncate: 'spoils',
  'malformed-json': 'spoils',
  'bad-chunk': 'spoils',
  'slow-body': 'delivers',
  'stale-connection': 'delivers',
} as const satisfies Record<string, 'replaces' | 'substitutes' | 'spoils' | 'delivers'>;

type FaultName = keyof typeof FAULTS;

/** A slow body comes in `chunks` pieces over so many milliseconds. */
export type Fault = {
  readonly [K in FaultName]: K extends 'slow-body'
    ? { readonly kind: K; readonly chunks: number; readonly over: number }
    : { readonly kind: K };
}[FaultName];

export const FAULT_NAMES = rowNames(FAULTS);

/** Whether the client gets the reply as it is meant. */
export function isDelivered(fault: Fault | undefined): boolean {
  return fault === undefined || FAULTS[fault.kind] === 'delivers';
}

/** A fault that breaks the reply on its way. After the others, a reply is written like any other. */
export type WireFault = Exclude<Fault, { readonly kind: 'html' | 'stale-connection' }>;

export function isWireFault(fault: Fault): fault is WireFault {
  return fault.kind !== 'html' && fault.kind !== 'stale-connection';
}

/** A fault that leaves the client without any reply. */
type Replacing = { [K in FaultName]: (typeof FAULTS)[K] extends 'replaces' ? K : never }[FaultName];

type BreakingFault = Exclude<WireFault, { readonly kind: Replacing }>;

export function isReplacing(fault: WireFault): fault is Exclude<WireFault, BreakingFault> {
  return FAULTS[fault.kind] === 'replaces';
}

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
  /** If `content` comes slowly. */
  readonly pace?: Pick<Extract<Fault, { kind: 'slow-body' }>, 'chunks' | 'over'>;
}

/** @param hasChunks whether a body can come in chunks: not in HTTP/1.0, where it is truncated instead */
export function breakReply(
  fault: BreakingFault,
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
    case 'slow-body':
      return { ...withLength(bytes.length, bytes), pace: fault };
  }
}

/** Headers of a whole body, which a broken one has anew. */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'trailer']);

/** Ends no JSON: outside a string a colon needs a value, and inside one the string is never closed. */
const TAIL = toBytes(':}');
