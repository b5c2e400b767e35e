import type { ServerResponse } from 'node:http';
import { writeJson } from '../contract/json.ts';
import { type ExchangeFilter, type Observer, passes } from '../simulation/journal.ts';
import type { Sandbox } from '../simulation/sandbox.ts';
import { exchangeView } from './exchange-view.ts';

/** How often a silent stream says that it is still there, in milliseconds. */
const KEEP_ALIVE = 15_000;

/** Bytes that wait for a slow client before exchanges are dropped for it. */
const MOST_WAITING = 1024 ** 2;

/**
 * Sends the exchanges of a sandbox as server-sent events, until the client leaves or the sandbox
 * is no more.
 */
export function streamExchanges(
  response: ServerResponse,
  sandbox: Sandbox,
  filter: ExchangeFilter,
  observers: Set<Observer>,
): void {
  let dropped = 0;
  const tellDropped = (): void => {
    if (dropped === 0) return;
    response.write(`event: dropped\ndata: {"count":${dropped}}\n\n`);
    dropped = 0;
  };
  const observe: Observer = (name, exchange) => {
    if (name !== sandbox.name || !passes(exchange, filter)) return;
    if (response.writableLength > MOST_WAITING) {
      dropped += 1;
      return;
    }
    tellDropped();
    const data = writeJson(exchangeView(exchange));
    response.write(`id: ${exchange.number}\nevent: exchange\ndata: ${data}\n\n`);
  };
  const timer = setInterval(() => {
    if (response.writableLength === 0) response.write(':\n\n');
  }, KEEP_ALIVE);
  timer.unref();
  observers.add(observe);
  const forget = sandbox.onEnd(() => response.end());
  response.on('drain', tellDropped);
  response.once('close', () => {
    clearInterval(timer);
    observers.delete(observe);
    forget();
  });
  response.write(':\n\n');
}
