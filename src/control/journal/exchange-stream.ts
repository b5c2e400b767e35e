import type { ServerResponse } from 'node:http';
import type { Exchange } from '../../sandbox/exchange.ts';
import { type ExchangeFilter, passes } from '../../sandbox/exchange-filter.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { exchangeText } from './exchange-text.ts';

/** Milliseconds in which exchanges gather. A page draws as often. */
const INTERVAL = 250;

/** Bytes that a client has not read, above which it is disconnected; no write is much longer. */
const MOST_UNREAD = 1024 ** 2;

/** Intervals between two comments, which keep the connection of an idle stream open: 15 s. */
const IDLE = 15_000 / INTERVAL;

const COMMENT = ':\n\n';

/** What sends the client of each stream what is new in its sandbox. */
const streams = new Map<() => void, Sandbox>();
let timer: NodeJS.Timeout | undefined;
let looks = 0;

/** The texts of exchanges that were sent since the last look: each is made once for all streams. */
const texts = new Map<Exchange, string>();

function look(): void {
  looks += 1;
  texts.clear();
  for (const [send, sandbox] of streams) {
    // If servers share the sandbox, this takes over what others have answered.
    sandbox.current()?.catch(() => {});
    send();
  }
}

/**
 * Sends the exchanges of a sandbox as server-sent events, until the client disconnects, has more than
 * 1 MiB to read, or the sandbox is deleted. The journal is the buffer, so streams cost requests nothing.
 *
 * @param after the last exchange that the client has read; by default the latest one
 */
export function openStream(
  response: ServerResponse,
  sandbox: Sandbox,
  filter: ExchangeFilter,
  plain: boolean,
  after: number = sandbox.evidence.journal.number,
): void {
  // A higher number comes from a journal before a restart.
  let last = after < 0 || after > sandbox.evidence.journal.number ? 0 : after;
  /** The numbers of exchanges that were sent while their replies were held back. */
  const held = new Set<number>();
  const send = (): void => {
    if (!streams.has(send)) return;
    if (response.writableLength > MOST_UNREAD) {
      response.destroy();
      return;
    }
    const { journal } = sandbox.evidence;
    const oldest = journal.number - journal.size;
    let text = looks % IDLE === 0 ? COMMENT : '';
    if (oldest > last) text += `event: dropped\ndata: {"count":${oldest - last}}\n\n`;
    last = Math.max(last, oldest);
    while (last < journal.number && text.length < MOST_UNREAD) {
      last += 1;
      const exchange = journal.at(last);
      if (exchange === undefined || !passes(exchange, filter)) continue;
      const data = texts.get(exchange) ?? exchangeText(exchange, plain);
      texts.set(exchange, data);
      text += `id: ${last}\nevent: exchange\ndata: ${data}\n\n`;
      if (exchange.hold !== undefined) held.add(last);
    }
    for (const number of held) {
      const exchange = journal.at(number);
      if (exchange?.hold !== undefined && exchange.hold.ended === undefined) continue;
      held.delete(number);
      // Without an id: a client that reconnects goes on after the latest exchange.
      if (exchange !== undefined) text += `event: hold\ndata: ${exchangeText(exchange, plain)}\n\n`;
    }
    if (text !== '') response.write(text);
    // Other requests are answered before the rest is sent.
    if (last < journal.number) setImmediate(send);
  };
  streams.set(send, sandbox);
  timer ??= setInterval(look, INTERVAL).unref();
  const forget = sandbox.onEnd(() => {
    send();
    stop();
    response.end();
  });
  const stop = (): void => {
    forget();
    streams.delete(send);
    if (streams.size > 0) return;
    clearInterval(timer);
    timer = undefined;
    texts.clear();
  };
  response.write(COMMENT);
  response.once('close', stop);
}
