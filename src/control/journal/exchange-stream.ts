import type { ServerResponse } from 'node:http';
import type { Exchange } from '../../sandbox/exchange.ts';
import { type ExchangeFilter, passes } from '../../sandbox/exchange-filter.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { exchangeText } from './exchange-text.ts';

/** Milliseconds in which events gather. A page draws as often. */
const INTERVAL_MS = 250;

/** Milliseconds between two comments, which keep the connection of an idle stream open. */
const COMMENT_INTERVAL_MS = 15_000;

/** Bytes that a client has not read, above which it is disconnected; no write is much longer. */
const MAX_UNREAD = 1024 ** 2;

/** Exchanges that gather; a client is told of further ones only how many they are. */
const MAX_GATHERED = 5_000;

const COMMENT = ':\n\n';

/** The texts of exchanges that were sent lately: each is made once for all streams. */
const texts = new WeakMap<Exchange, string>();

function textOf(exchange: Exchange): string {
  const known = texts.get(exchange);
  // The end of a hold changes it.
  if (known !== undefined && exchange.hold === undefined) return known;
  const text = exchangeText(exchange);
  texts.set(exchange, text);
  return text;
}

/**
 * Sends the exchanges of a sandbox as server-sent events, until the client disconnects, has more than
 * 1 MiB to read, or the sandbox is deleted.
 *
 * @param after the last exchange that the client has read; by default the latest one
 */
export async function openStream(
  response: ServerResponse,
  sandbox: Sandbox,
  filter: ExchangeFilter,
  after?: number,
): Promise<void> {
  let events: string[] = [];
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    timer = undefined;
    if (response.writableLength > MAX_UNREAD) {
      response.destroy();
      return;
    }
    if (dropped > 0) events.push(`event: dropped\ndata: {"count":${dropped}}\n\n`);
    if (events.length > 0) response.write(events.join(''));
    events = [];
    dropped = 0;
  };
  const add = (event: string): void => {
    if (events.length < MAX_GATHERED) events.push(event);
    else dropped += 1;
    timer ??= setTimeout(flush, INTERVAL_MS).unref();
  };
  const send = (exchange: Exchange): void => {
    const { number } = exchange;
    if (passes(exchange, filter))
      add(`id: ${number}\nevent: exchange\ndata: ${textOf(exchange)}\n\n`);
  };

  const comments = setInterval(() => response.write(COMMENT), COMMENT_INTERVAL_MS).unref();
  let isCaughtUp = false;
  let latest = 0;
  const early: Exchange[] = [];
  const cancel = sandbox.subscribe((event) => {
    if (event.kind === 'deleted') {
      flush();
      response.end();
    } else if (event.kind === 'exchange') {
      if (!isCaughtUp) early.push(event.exchange);
      else send(event.exchange);
    } else if (event.kind === 'hold' && passes(event.exchange, { ...filter, held: undefined })) {
      // Without an id: a client that reconnects goes on after the latest exchange.
      add(`event: hold\ndata: ${textOf(event.exchange)}\n\n`);
    } else if (event.kind === 'edit') add('event: edit\ndata: {}\n\n');
  });
  response.once('close', () => {
    cancel();
    clearTimeout(timer);
    clearInterval(comments);
  });
  response.write(COMMENT);

  const { number, size } = await sandbox.journal.size();
  // A higher number comes from a journal before a restart.
  const from = after === undefined ? number : after < 0 || after > number ? 0 : after;
  latest = number;
  if (from < number) {
    dropped = Math.max(0, number - size - from);
    const page = await sandbox.journal.select({ filter: { ...filter, after: from } });
    if (dropped > 0) {
      add(`event: dropped\ndata: {"count":${dropped}}\n\n`);
      dropped = 0;
    }
    latest = page.number;
    for (const exchange of page.exchanges.toReversed()) send(exchange);
  }
  isCaughtUp = true;
  for (const exchange of early) if (exchange.number > latest) send(exchange);
  flush();
}
