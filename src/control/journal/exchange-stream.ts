import type { ServerResponse } from 'node:http';
import { passes } from '../../evidence/journal.ts';
import type { ExchangeFilter } from '../../evidence/report-shapes.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { exchangeText } from './exchange-text.ts';

/** Milliseconds between two looks at a journal. */
const INTERVAL = 50;

/** How many exchanges all streams together send at a look: about 2 ms. */
const AT_ONCE = 100;

/** Bytes that a client has not read, above which its stream waits. */
const MOST_UNREAD = 1024 ** 2;

/** Looks between two comments, which keep the connection of an idle stream open: 15 s. */
const IDLE = 15_000 / INTERVAL;

const COMMENT = ':\n\n';

/** What the OpenAPI document says of the pace. */
export const STREAM_PACE = `All streams together send at most ${(1000 / INTERVAL) * AT_ONCE} exchanges per second. A stream that is further behind than the journal skips what that has dropped, whether it matches or not.`;

/** How many streams the process has. */
let open = 0;

/**
 * Sends the exchanges of a sandbox as server-sent events, until the client disconnects or the sandbox
 * is deleted. The journal is the buffer: streams cost requests nothing, and slow clients no memory.
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
    if (response.writableLength > MOST_UNREAD) return;
    const { journal } = sandbox.evidence;
    const oldest = journal.number - journal.size;
    let text = oldest > last ? `event: dropped\ndata: {"count":${oldest - last}}\n\n` : '';
    last = Math.max(last, oldest);
    for (let left = Math.ceil(AT_ONCE / open); left > 0 && last < journal.number; ) {
      last += 1;
      const exchange = journal.at(last);
      if (exchange === undefined || !passes(exchange, filter)) continue;
      left -= 1;
      text += `id: ${last}\nevent: exchange\ndata: ${exchangeText(exchange, plain)}\n\n`;
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
  };
  open += 1;
  response.write(COMMENT);
  let looks = 0;
  const timer = setInterval(() => {
    // If servers share the sandbox, this takes over what others have answered.
    sandbox.current()?.catch(() => {});
    send();
    looks += 1;
    if (looks % IDLE === 0) response.write(COMMENT);
  }, INTERVAL).unref();
  const forget = sandbox.onEnd(() => {
    clearInterval(timer);
    send();
    response.end();
  });
  response.once('close', () => {
    open -= 1;
    clearInterval(timer);
    forget();
  });
}
