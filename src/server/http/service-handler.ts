import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseTarget, type Target } from '../../core/contract/target.ts';
import { type Exchange, isWaiting } from '../../core/sandbox/exchange.ts';
import { isWireFault } from '../../core/scenario/fault-table.ts';
import { NO_BODY, type RequestBody } from '../../core/service/input.ts';
import type { Reply } from '../../core/service/reply.ts';
import {
  bodyLimit,
  completeArrival,
  loseReply,
  openArrival,
  type ServiceParts,
} from '../arrival.ts';
import { applyFault, makeStale, resetStale } from './faults.ts';
import { readHead, receiveBody } from './receive-request.ts';
import { onDisconnect, type PendingResponses, sendFailure, sendReply } from './write.ts';

/** Answers requests for the service's paths, and all others with 404. */
export type ServiceHandler = (
  incoming: IncomingMessage,
  response: ServerResponse,
  target?: Target,
  /** Of a request that HTTP forbids. */
  refusal?: Reply,
) => void;

export function createServiceHandler(
  parts: ServiceParts,
  pending: PendingResponses,
): ServiceHandler {
  return (incoming, response, target = parseTarget(incoming.url ?? '/'), refused) => {
    if (resetStale(response)) return;
    const listenForDisconnect = (act: () => void) => onDisconnect(incoming.socket, act);
    const arrival = openArrival(parts, readHead(incoming), target, listenForDisconnect, refused);
    const { sandbox } = arrival.location;
    const fail = (error: unknown): void => sendFailure(response, error, sandbox.state);
    const send = (exchange: Exchange): void => {
      try {
        sendExchange(exchange, response, pending);
      } catch (error) {
        fail(error);
      }
    };
    const sendDue = (exchange: Exchange): void => {
      const sendNow = (): void => send(exchange);
      const { delay, hold } = exchange;
      if (delay > 0 || hold !== undefined) {
        response.once('close', () => {
          if (!response.headersSent) void loseReply(parts, sandbox, exchange);
        });
      }
      const sendWithDelay = (): void =>
        delay === 0 ? sendNow() : pending.delay(response, delay, sendNow);
      if (!isWaiting(exchange)) sendWithDelay();
      else {
        sandbox.holds.add(exchange, { send: sendWithDelay, onDisconnect: listenForDisconnect });
      }
    };
    const complete = (body: RequestBody): void => {
      try {
        const exchange = completeArrival(parts, arrival, body);
        if (exchange instanceof Promise) exchange.then(sendDue).catch(fail);
        else sendDue(exchange);
      } catch (error) {
        fail(error);
      }
    };
    const limit = bodyLimit(arrival);
    if (limit === undefined) complete(NO_BODY);
    else {
      response.once('close', sandbox.beginCall());
      // A callback, since a promise costs a PATCH 3 %.
      receiveBody(incoming, limit, complete);
    }
  };
}

function sendExchange(
  { fault, reply }: Exchange,
  response: ServerResponse,
  pending: PendingResponses,
): void {
  if (fault?.kind === 'stale-connection') makeStale(response);
  if (fault !== undefined && isWireFault(fault)) applyFault(fault, response, reply, pending);
  else if (reply !== undefined) sendReply(response, reply);
  else throw new Error('An exchange has neither a reply nor a fault.');
}
