import type { RequestBody } from '../service/input.ts';
import type { ServiceState } from '../service/operation.ts';
import type { Reply } from '../service/reply.ts';
import type { ServiceRequest } from './exchange.ts';

/** A request to a sandbox that a responder answers. */
export interface ResponderCall {
  readonly request: ServiceRequest;
  /** The path below the service's base path, and the query, as the client wrote them. */
  readonly target: string;
  readonly body: RequestBody;
  /** The name of the sandbox. */
  readonly sandbox: string;
  readonly state: ServiceState;
  /** Calls back once the client has left. Returns how to cancel. */
  readonly onDisconnect: (act: () => void) => () => void;
}

/** Answers a sandbox's calls in place of the service, such as a deployment. */
export interface Responder {
  /** A base URL. */
  readonly url: string;
  /** Sent in place of the client's. */
  readonly key: string | undefined;
  readonly respond: (call: ResponderCall) => Promise<Reply>;
}
