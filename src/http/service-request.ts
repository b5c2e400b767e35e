import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestRecord } from '../evidence/request-record.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Call } from '../service/input.ts';
import type { Wire } from './write.ts';

/** A request that is being answered, as the journal and the encoder read it. */
export interface ServiceRequest extends RequestRecord {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly sandbox: Sandbox;
  readonly wire: Wire;
  call: Call | undefined;
}
