import { type Exchange, reasonsFor, requestText, shownHeaders, shownKey } from './exchange.ts';

/** An exchange as observers see it: without secrets. It can be kept. */
export interface ObservedExchange
  extends Readonly<
    Pick<
      Exchange,
      | 'number'
      | 'at'
      | 'duration'
      | 'method'
      | 'target'
      | 'operation'
      | 'traceId'
      | 'status'
      | 'basis'
      | 'fault'
      | 'delay'
      | 'hold'
      | 'requestCut'
      | 'replyBody'
      | 'replyCut'
      | 'expected'
    >
  > {
  /** The API key's first characters; undefined if the request carried none. */
  readonly key: string | undefined;
  /** The reasons for the reply, nearest cause first. */
  readonly why: readonly string[];
  /** Names and values in turn; credentials are masked. */
  readonly requestHeaders: readonly string[];
  readonly replyHeaders: readonly string[];
  /** The first 4 KiB; undefined if the request had none. */
  readonly requestBody: string | undefined;
}

/**
 * Called after each exchange in any sandbox, with the name of the sandbox; and again when a reply that
 * was held back is let go.
 */
export type Observer = (sandbox: string, exchange: ObservedExchange) => void;

/** An exchange for observers. Reads what few of them read only when they do. */
export function observedExchange(exchange: Readonly<Exchange>): ObservedExchange {
  const { number, at, duration, method, target, operation, status, basis, fault, delay } = exchange;
  const { traceId, hold, requestCut, replyBody, replyCut, expected } = exchange;
  return {
    ...{ number, at, duration, method, target, operation, status, basis, fault, delay },
    ...{ traceId, hold, requestCut, replyBody, replyCut, expected },
    get key() {
      return shownKey(exchange);
    },
    get why() {
      return reasonsFor(exchange);
    },
    get requestHeaders() {
      return shownHeaders(exchange.requestHeaders);
    },
    get replyHeaders() {
      return shownHeaders(exchange.replyHeaders);
    },
    get requestBody() {
      return requestText(exchange);
    },
  };
}
