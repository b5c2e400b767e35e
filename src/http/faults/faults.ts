import type { ServerResponse } from 'node:http';
import type { Fault, FaultName } from '../../scenario/fault-table.ts';
import type { PendingResponses } from '../pending-responses.ts';
import { badChunk } from './bad-chunk.ts';
import { endConnection, type WireReply } from './breaking.ts';
import { hang } from './hang.ts';
import { html } from './html.ts';
import { malformedJson } from './malformed-json.ts';
import { reset } from './reset.ts';
import { slowBody } from './slow-body.ts';
import { truncate } from './truncate.ts';

type FaultOf = { readonly [K in FaultName]: Extract<Fault, { kind: K }> };

interface FaultContext {
  readonly response: ServerResponse;
  /** @throws Error if there is no reply */
  readonly reply: () => WireReply;
  readonly pending: PendingResponses;
}

const CARRY_OUT: {
  readonly [K in FaultName]: (exchange: FaultContext, fault: FaultOf[K]) => void;
} = {
  reset: ({ response }) => reset(response),
  close: ({ response }) => endConnection(response),
  hang: ({ response, pending }) => hang(response, pending),
  html: ({ response }) => html(response),
  truncate: ({ response, reply }) => truncate(response, reply()),
  'malformed-json': ({ response, reply }) => malformedJson(response, reply()),
  'bad-chunk': ({ response, reply }) => badChunk(response, reply()),
  'slow-body': ({ response, reply, pending }, pace) => slowBody(response, reply(), pace, pending),
};

function dispatch<K extends FaultName>(kind: K, fault: FaultOf[K], exchange: FaultContext): void {
  CARRY_OUT[kind](exchange, fault);
}

/**
 * Breaks an exchange.
 *
 * @param reply the reply to break; only a fault that replaces the reply needs none
 */
export function carryOut(
  fault: Fault,
  response: ServerResponse,
  reply: WireReply | undefined,
  pending: PendingResponses,
): void {
  const needed = (): WireReply => {
    if (reply === undefined) throw new Error(`${fault.kind} needs a reply to break`);
    return reply;
  };
  if (response.req.socket.destroyed) return;
  dispatch(fault.kind, fault, { response, reply: needed, pending });
}
