import type { Call } from '../service/input.ts';

/** A request as the journal records it. */
export interface RequestRecord {
  readonly method: string;
  /** The request's target, as the client wrote it. */
  readonly target: string;
  readonly authorization: string | undefined;
  /** Names and values in turn, as the client sent them. */
  readonly headers: readonly string[];
  /** The header of this name, as the client sent it. */
  readonly traceparent?: string | readonly string[] | undefined;
  /** Whether it has an `Origin`, as those of a page have. */
  readonly crossOrigin: boolean;
  /** Undefined if no operation was called, for example because no such path exists. */
  readonly call: Call | undefined;
  /** The connection that it came on. */
  readonly connection: { readonly remotePort?: number | undefined };
  /** When the request was received, by `performance.now()`. */
  readonly receivedAt: number;
}
