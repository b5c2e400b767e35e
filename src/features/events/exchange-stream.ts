import type { ControlCall } from '../../core/control/endpoint.ts';
import { type AWAITED_FILTER, EVENT_STREAM } from '../../core/control/journal/journal-endpoints.ts';
import { formatExchange } from '../../core/control/journal/recorded-exchange.ts';
import { type ControlReply, type EventSink, json, refuse } from '../../core/control/reply.ts';
import { INTEGER_TEXT } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import type { Exchange } from '../../core/sandbox/exchange.ts';
import { type ExchangeFilter, passes } from '../../core/sandbox/exchange-filter.ts';
import type { Sandbox } from '../../core/sandbox/sandbox.ts';
import { StorageError } from '../../core/sandbox/storage-error.ts';
import type { ValueOf } from '../../core/shape/shapes.ts';

export const EVENT_HANDLERS = {
  async countRequests(call: ControlCall<ValueOf<typeof AWAITED_FILTER>>) {
    const { atLeast, within, ...filter } = call.body;
    const wait = { atLeast: atLeast ?? 1, within: within ?? (atLeast === undefined ? 0 : 10_000) };
    const refusal = wait.within > 0 ? refuseListener(call.sandbox) : undefined;
    return refusal ?? json(await waitForCount(call, filter, wait));
  },
  async streamRequests(call: ControlCall<unknown, ExchangeFilter>): Promise<ControlReply> {
    const { sandbox, headers, query } = call;
    const { after, ...filter } = query;
    const lastId = String(headers['last-event-id'] ?? '');
    const from = INTEGER_TEXT.test(lastId) ? Number(lastId) : after;
    const content = (sink: EventSink) => void openStream(sink, call, filter, from);
    return refuseListener(sandbox) ?? { status: 200, mediaType: EVENT_STREAM, content };
  },
};

function refuseListener({ listeners }: Sandbox): ControlReply | undefined {
  const message = `at most ${LIMITS.listeners} streams and waiting counts may be open in a sandbox`;
  return listeners < LIMITS.listeners ? undefined : refuse('too_many_listeners', 409, message);
}

/** Events are sent together at this interval, which is as often as the page redraws. */
const INTERVAL_MS = 250;

const MAX_WAITING = 500;

/** Comments keep an idle stream from being closed by proxies. */
const COMMENT_INTERVAL_MS = 15_000;

/** In characters, for one write. A client that does not read holds two of these in memory. */
const MAX_WRITE = 64 * 1024;

/** In characters: events that wait besides the journal's exchanges. The oldest are dropped. */
const MAX_NOTES = 1024 * 1024;

const COMMENT = ':\n\n';

/** The JSON of exchanges that were sent lately, which all streams share. */
const texts = new WeakMap<Exchange, string>();

function eventText(exchange: Exchange): string {
  const text = texts.get(exchange) ?? formatExchange(exchange);
  texts.set(exchange, text);
  return text;
}

/** What a stream needs from the call that opens it. */
interface Listening extends Pick<ControlCall, 'sandbox' | 'journal'> {
  readonly parts: Pick<ControlCall['parts'], 'persistence' | 'platform'>;
}

/**
 * Streams exchanges. The journal is the buffer: a slow client is told how many it has dropped.
 *
 * @param after the last exchange that the client has read; by default, the latest one
 */
export async function openStream(
  sink: EventSink,
  { sandbox, journal, parts: { persistence, platform } }: Listening,
  filter: ExchangeFilter,
  after?: number,
): Promise<void> {
  /** Events of edits and of ended holds, which are not read from the journal. */
  let notes: string[] = [];
  let notesLength = 0;
  let sent = Number.POSITIVE_INFINITY;
  let latest = 0;
  let isDeleted = false;
  let cancelTimer: (() => void) | undefined;
  let isSending = false;

  const schedule = (): void => {
    cancelTimer ??= platform.after(INTERVAL_MS, () => void sendAll());
  };
  /** Skips exchanges that the journal has dropped. There may be more with each one that is read. */
  const skipDropped = async (): Promise<string> => {
    const { number, size } = await journal.size();
    const before = sent;
    const dropped = number - size;
    // If the journal's storage has lost its data, go on after the latest exchange.
    sent = dropped > sent ? dropped : latest;
    return `event: dropped\ndata: {"count":${sent - before}}\n\n`;
  };
  let text = '';
  const readNext = async (): Promise<void> => {
    while (sent < latest && text.length < MAX_WRITE) {
      const exchange = await journal.find(sent + 1);
      if (exchange === undefined) text += await skipDropped();
      else {
        sent += 1;
        if (!passes(exchange, filter)) continue;
        text += `id: ${sent}\nevent: exchange\ndata: ${eventText(exchange)}\n\n`;
      }
    }
    text += notes.join('');
    notes = [];
    notesLength = 0;
  };
  const note = (event: string): void => {
    notes.push(event);
    notesLength += event.length;
    while (notesLength > MAX_NOTES && notes.length > 1) notesLength -= notes.shift()?.length ?? 0;
  };
  const sendAll = async (): Promise<void> => {
    cancelTimer?.();
    cancelTimer = undefined;
    if (isSending) return;
    isSending = true;
    const isDone = await attempt(async () => {
      while ((sent < latest || notes.length > 0) && !sink.isClosed) {
        await readNext();
        const read = text;
        text = '';
        if (read !== '' && !sink.write(read)) await sink.drained();
      }
    });
    if (!isDone && !sink.isClosed && !isDeleted) schedule();
    isSending = false;
    if (isDeleted) sink.end();
  };

  const stopComments = platform.every(COMMENT_INTERVAL_MS, () => sink.write(COMMENT));
  const stop = (): void => {
    cancel();
    stopComments();
    cancelTimer?.();
  };
  const cancel = persistence.subscribe(sandbox, (event) => {
    if (event.kind === 'deleted') {
      isDeleted = true;
      stop();
      void sendAll();
      return;
    }
    if (event.kind === 'exchange') latest = Math.max(latest, event.exchange.number);
    else if (event.kind === 'edit') note('event: edit\ndata: {}\n\n');
    else if (event.kind === 'hold' && passes(event.exchange, { ...filter, held: undefined })) {
      // It has no id, so that a client that reconnects continues after the latest exchange.
      note(`event: hold\ndata: ${eventText(event.exchange)}\n\n`);
    }
    if (latest - sent >= MAX_WAITING) void sendAll();
    else schedule();
  });
  sink.onClose(stop);

  const isReady = await attempt(async () => {
    const { number } = await journal.size();
    latest = Math.max(latest, number);
    // A higher number comes from the journal of an earlier process, so send everything.
    sent = after === undefined ? number : after < 0 || after > number ? 0 : after;
  });
  if (!isReady) sink.end(); // the client connects again
  if (!isReady || sink.isClosed || isDeleted) return;
  // From now on, this server hears of other servers' exchanges.
  sink.write(COMMENT);
  await sendAll();
}

/** Returns false if the journal cannot be read at the moment. */
async function attempt(read: () => Promise<void>): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    if (error instanceof StorageError) return false;
    throw error;
  }
}

/** Waits for enough exchanges, the timeout, the client's leaving or the sandbox's deletion. */
async function waitForCount(
  { sandbox, journal, parts, onDisconnect }: ControlCall,
  filter: ExchangeFilter,
  { atLeast, within }: { readonly atLeast: number; readonly within: number },
): Promise<{ readonly count: number; readonly complete: boolean }> {
  // `Promise.withResolvers` needs Node 22.
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const arrived = new Set<number>();
  const cancels = [
    parts.persistence.subscribe(sandbox, (event) => {
      if (event.kind === 'deleted') end();
      if (event.kind !== 'exchange' && event.kind !== 'hold') return;
      if (passes(event.exchange, filter)) arrived.add(event.exchange.number);
      if (arrived.size >= atLeast) end();
    }),
    onDisconnect(end),
    parts.platform.after(within, end),
  ];
  try {
    // Collects numbers, because the journal may drop some exchanges while others arrive.
    const page = await journal.select({ filter, heads: true });
    for (const { number } of page.exchanges) arrived.add(number);
    if (arrived.size >= atLeast) end();
    if (within === 0) return { count: page.total, complete: page.isComplete };
    await ended;
    const { isComplete } = await journal.select({ filter, limit: 0, heads: true });
    return { count: Math.max(page.total, arrived.size), complete: isComplete };
  } finally {
    for (const cancel of cancels) cancel();
  }
}
