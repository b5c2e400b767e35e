import type { ServerResponse } from 'node:http';
import { passes } from '../../evidence/journal.ts';
import type { ExchangeFilter } from '../../evidence/report-shapes.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { exchangeText } from './exchange-text.ts';

/** The most streams that are open at a time. */
const MOST_STREAMS = 100;

/** Exchanges that a stream can be behind its journal before it skips the oldest. */
const MOST_BEHIND = 1_000;

/** Milliseconds between two polls of the journals. */
const INTERVAL = 50;

/** The most exchanges written at one poll, for all streams together: about 2 ms. */
const MOST_AT_ONCE = 100;

/** Polls between two comments, which keep the connection of an idle stream open: 15 s. */
const IDLE = 15_000 / INTERVAL;

/** Bytes buffered for a slow client. */
const MOST_WAITING = 1024 ** 2;

/** What the OpenAPI document says of the limits. */
export const STREAM_LIMITS = `All streams together send at most ${(1000 / INTERVAL) * MOST_AT_ONCE} exchanges per second. A stream that is more than ${MOST_BEHIND} behind skips the oldest, whether they match or not.`;

export const TOO_MANY_STREAMS = `stream limit (${MOST_STREAMS}) reached; close a stream first`;

/** What a stream sends, and how far it is. */
interface Stream {
  readonly response: ServerResponse;
  readonly sandbox: Sandbox;
  readonly filter: ExchangeFilter;
  readonly plain: boolean;
  /** The number of the latest exchange that was sent, skipped or did not match. */
  last: number;
  /** The numbers of exchanges that were sent while their replies were held back. */
  readonly held: Set<number>;
}

/**
 * The open streams of the process. The journals are their buffers: streams cost requests nothing, and
 * slow clients no memory.
 */
const streams = new Set<Stream>();

let timer: NodeJS.Timeout | undefined;
let polls = 0;

export function canStream(): boolean {
  return streams.size < MOST_STREAMS;
}

/**
 * Sends the exchanges of a sandbox as server-sent events, until the client disconnects or the sandbox
 * is deleted.
 *
 * @param options.after the last exchange that the client has read; by default the latest one
 */
export function openStream(
  response: ServerResponse,
  sandbox: Sandbox,
  {
    filter,
    plain,
    after,
  }: Pick<Stream, 'filter' | 'plain'> & { readonly after?: number | undefined },
): void {
  // Others may have opened while this one was waiting.
  if (!canStream()) {
    response.end();
    return;
  }
  const { number } = sandbox.evidence.journal;
  // A higher number comes from a journal before a restart.
  const last = after === undefined ? number : after < 0 || after > number ? 0 : after;
  const stream: Stream = { response, sandbox, filter, plain, last, held: new Set() };
  response.write(':\n\n');
  streams.add(stream);
  timer ??= setInterval(poll, INTERVAL).unref();
  const close = (): void => {
    forget();
    streams.delete(stream);
    if (streams.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  // A new sandbox of the same name may exist before a slow client has read the end.
  const forget = sandbox.onEnd(() => {
    send(stream, MOST_AT_ONCE);
    close();
    response.end();
  });
  response.once('close', close);
}

function poll(): void {
  polls += 1;
  const most = Math.ceil(MOST_AT_ONCE / streams.size);
  for (const stream of streams) {
    // If servers share the sandbox, this takes over what others have answered.
    stream.sandbox.current()?.catch(() => {});
    send(stream, most);
    if (polls % IDLE === 0) stream.response.write(':\n\n');
  }
}

function send(stream: Stream, most: number): void {
  const { response, sandbox, filter, plain, last, held } = stream;
  if (response.writableLength > MOST_WAITING) return;
  const { journal } = sandbox.evidence;
  const first = Math.max(last, journal.number - Math.min(journal.size, MOST_BEHIND));
  let text = first > last ? `event: dropped\ndata: {"count":${first - last}}\n\n` : '';
  stream.last = first;
  for (let sent = 0; sent < most && stream.last < journal.number; ) {
    stream.last += 1;
    const exchange = journal.at(stream.last);
    if (exchange === undefined || !passes(exchange, filter)) continue;
    sent += 1;
    text += `id: ${exchange.number}\nevent: exchange\ndata: ${exchangeText(exchange, plain)}\n\n`;
    if (exchange.hold !== undefined) held.add(exchange.number);
  }
  for (const number of held) {
    const exchange = journal.at(number);
    if (exchange?.hold !== undefined && exchange.hold.ended === undefined) continue;
    held.delete(number);
    // Without an id: a client that reconnects goes on after the latest exchange.
    if (exchange !== undefined) text += `event: hold\ndata: ${exchangeText(exchange, plain)}\n\n`;
  }
  if (text !== '') response.write(text);
}
