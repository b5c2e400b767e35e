import { isIntegerText } from '../../contract/json.ts';
import type { Exchange } from '../../sandbox/exchange.ts';
import type { RememberedStates } from '../../sandbox/storage.ts';
import { describe } from '../../words.ts';
import type { ControlCall } from '../endpoint.ts';
import { type ControlReply, refuse } from '../reply.ts';

type Handler<Body, Query, Found extends readonly unknown[]> = (
  call: ControlCall<Body, Query>,
  ...found: Found
) => ControlReply | Promise<ControlReply>;

/** Handles a call that names an exchange in its path. */
export function handleExchange<Body, Query>(
  handle: Handler<Body, Query, [exchange: Exchange]>,
): Handler<Body, Query, []> {
  return async (call) => {
    const { journal } = call.sandbox;
    const { number = '' } = call.params;
    const exchange = isIntegerText(number) ? await journal.find(Number(number)) : undefined;
    if (exchange !== undefined) return handle(call, exchange);
    const { number: latest, size } = await journal.size();
    const oldest = latest - size + 1;
    const one = oldest === latest ? `only exchange ${latest} is` : 'none is';
    const left = oldest < latest ? `exchanges ${oldest} to ${latest} are` : one;
    const isCleared = /^[1-9]\d*$/.test(number) && Number(number) < oldest;
    const what = isCleared
      ? `exchange ${number} was cleared`
      : `there is no exchange ${describe(number)}`;
    return refuse('not_found', 404, `${what}; ${left} left`);
  };
}

/** The same with the states before the exchange and after it. */
export function handleStates<Body, Query>(
  handle: Handler<Body, Query, [exchange: Exchange, states: RememberedStates]>,
): Handler<Body, Query, []> {
  return handleExchange((call, exchange) => {
    if (call.sandbox.isShared) return refuseInFleet();
    const states = call.sandbox.journal.remembered(exchange.number);
    if (states !== undefined) return handle(call, exchange, states);
    const message = `the states around exchange ${exchange.number} are no longer kept: later changes wrote too many records`;
    return refuse('not_found', 404, message);
  });
}

export function refuseInFleet(): ControlReply {
  const message = 'servers that share sandboxes (--shared) keep no earlier states';
  return refuse('not_found', 404, message);
}
