import type { Call } from '../service/input.ts';
import type { ServiceState } from '../service/operation.ts';
import type { Comparison } from '../service/reply.ts';

export interface UpstreamRequest {
  readonly method: string;
  /** The path below the base URL with its query, as the client wrote them. */
  readonly target: string;
  /** Names and values alternate; without `Host`. */
  readonly headers: readonly string[];
  readonly body: Buffer | undefined;
  /** Calls back if the client disconnects. Returns how to cancel that. */
  readonly onDisconnect: (act: () => void) => () => void;
}

export interface UpstreamReply {
  readonly status: number;
  readonly phrase: string;
  /** Names and values alternate, as the deployment wrote them. */
  readonly headers: readonly string[];
  /** In its content coding. */
  readonly content: Buffer;
}

export interface CompleteReply {
  readonly status: number;
  /** Names and values alternate. */
  readonly headers: readonly string[];
  /** Without its content coding; undefined if nobody holds it. */
  readonly body: Buffer | undefined;
  readonly json: unknown;
}

export interface Upstream {
  readonly url: string;
  /** The key that it gets in place of the client's. */
  readonly key: string | undefined;
  /** Compares a reply of the deployment with what the mock would have answered. */
  compare(serviceState: ServiceState, call: Call, reply: CompleteReply): Comparison;
  /** Rejects with an UpstreamError if there is no whole reply. */
  send(request: UpstreamRequest): Promise<UpstreamReply>;
  close(): void;
}

/**
 * Opens a deployment.
 *
 * @param url its base URL, as `parseBaseUrl` reads it
 * @param key sent in place of the client's
 */
export type OpenUpstream = (url: URL, key?: string) => Promise<Upstream>;

export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  /** Whether it took too long. */
  readonly late: boolean;

  constructor(message: string, late = false, options?: ErrorOptions) {
    super(message, options);
    this.late = late;
  }
}
