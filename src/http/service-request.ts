import type { ServerResponse } from 'node:http';
import type { Seen } from '../evidence/exchange.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Call } from '../service/input.ts';
import type { ConnectionRequest } from './connections.ts';
import type { Framing, Wire } from './encode.ts';

/** A request that is being answered, as the journal and the encoder read it. */
export interface ServiceRequest extends Seen, Framing {
  readonly request: ConnectionRequest;
  readonly response: ServerResponse;
  readonly sandbox: Sandbox;
  readonly wire: Wire;
  call: Call | undefined;
}
