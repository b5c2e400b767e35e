import type { Call } from '../service/input.ts';
import type { ServiceState } from '../service/operation.ts';
import type { Comparison } from '../service/reply.ts';

export interface UpstreamRequest {
  readonly method: string;
  /** Below the base URL, as the client wrote it. */
  readonly target: string;
  /** Without `Host`. */
  readonly headers: readonly string[];
  readonly body: Buffer | undefined;
  /** Returns how to cancel. */
  readonly onDisconnect: (act: () => void) => () => void;
}

export interface UpstreamReply {
  readonly status: number;
  readonly phrase: string;
  readonly headers: readonly string[];
  /** In its content coding. */
  readonly content: Buffer;
}

export interface CompleteReply {
  readonly status: number;
  readonly headers: readonly string[];
  /** Decoded. */
  readonly body: Buffer | undefined;
  readonly json: unknown;
}

export interface Upstream {
  readonly url: string;
  /** Sent in place of the client's. */
  readonly key: string | undefined;
  compare(serviceState: ServiceState, call: Call, reply: CompleteReply): Comparison;
  /** Throws an UpstreamError if no whole reply comes. */
  send(request: UpstreamRequest): Promise<UpstreamReply>;
  close(): void;
}

export type OpenUpstream = (url: URL, key?: string) => Promise<Upstream>;

export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly late: boolean;

  constructor(message: string, late = false, options?: ErrorOptions) {
    super(message, options);
    this.late = late;
  }
}
