import type { ServerResponse } from 'node:http';
import type { Exchange } from '../../evidence/exchange.ts';
import { passes } from '../../evidence/journal.ts';
import type { ExchangeFilter } from '../../evidence/report-shapes.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { Sandboxes } from '../../sandbox/sandboxes.ts';
import type { ControlParts } from '../parts.ts';
import { MOST_BEHIND, MOST_PER_SECOND } from './exchange-filter.ts';
import { exchangeText } from './exchange-text.ts';

/** The most streams that a server has open at a time. */
export const MOST_STREAMS = 100;

/** Milliseconds between two polls of the journals. */
const INTERVAL = 50;

/** The most exchanges written at one poll, for all streams together: about 2 ms. */
const MOST_AT_ONCE = (MOST_PER_SECOND * INTERVAL) / 1000;

/** Polls without an exchange after which a comment keeps the connection open: 15 s. */
const MOST_IDLE = 15_000 / INTERVAL;

/** Bytes buffered for a slow client. */
const MOST_WAITING = 1024 ** 2;

const servers = new WeakMap<Sandboxes, Streams>();

type StreamParts = Pick<ControlParts, 'sandboxes' | 'plain'>;

/** The streams of a server. */
export function streamsOf({ sandboxes, plain = false }: StreamParts): Streams {
  let streams = servers.get(sandboxes);
  if (streams === undefined) {
    streams = new Streams(plain);
    servers.set(sandboxes, streams);
  }
  return streams;
}

/** What a stream sends. */
interface StreamOptions {
  readonly filter: ExchangeFilter;
  /** The last exchange that the client has read; by default the latest one. */
  readonly after?: number | undefined;
  readonly perSecond?: number | undefined;
}

/**
 * Sends the exchanges of sandboxes as server-sent events. The journals are the buffers: streams cost
 * requests nothing, and slow clients no memory.
 */
class Streams {
  readonly #plain: boolean;
  readonly #open = new Set<Stream>();
  #timer: NodeJS.Timeout | undefined;

  constructor(plain: boolean) {
    this.#plain = plain;
  }

  get areFull(): boolean {
    return this.#open.size >= MOST_STREAMS;
  }

  /**
   * Opens a stream, which ends when the client disconnects or the sandbox is deleted.
   *
   * @param options what to send
   */
  open(response: ServerResponse, sandbox: Sandbox, options: StreamOptions): void {
    // Others may have opened while this one was waiting.
    if (this.areFull) {
      response.end();
      return;
    }
    const stream = new Stream(response, sandbox, options);
    this.#open.add(stream);
    this.#timer ??= setInterval(() => this.#look(), INTERVAL).unref();
    const close = (): void => {
      this.#open.delete(stream);
      if (this.#open.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
    // A new sandbox of the same name may exist before a slow client has read the end.
    const forget = sandbox.onEnd(() => {
      stream.send(new Events(this.#plain));
      close();
      response.end();
    });
    response.once('close', () => {
      forget();
      close();
    });
  }

  #look(): void {
    const events = new Events(this.#plain);
    for (const stream of this.#open) {
      stream.follow();
      stream.send(events);
    }
    // The first one rotates, since the last ones may get nothing.
    const [first] = this.#open;
    if (first === undefined) return;
    this.#open.delete(first);
    this.#open.add(first);
  }
}

/** The events of one poll. Streams of the same sandbox share them. */
class Events {
  readonly #plain: boolean;
  readonly #texts = new Map<Exchange, string>();

  constructor(plain: boolean) {
    this.#plain = plain;
  }

  /** Undefined if this poll has written enough. */
  of(exchange: Exchange): string | undefined {
    const known = this.#texts.get(exchange);
    if (known !== undefined || this.#texts.size >= MOST_AT_ONCE) return known;
    const data = exchangeText(exchange, this.#plain);
    const text = `id: ${exchange.number}\nevent: exchange\ndata: ${data}\n\n`;
    this.#texts.set(exchange, text);
    return text;
  }
}

/** One stream, whose client may be slow. */
class Stream {
  readonly #response: ServerResponse;
  readonly #sandbox: Sandbox;
  readonly #filter: ExchangeFilter;
  /** The number of the latest exchange that was sent, skipped or did not match. */
  #last: number;
  /** How many exchanges may be sent now. Grows with each poll, up to those of a second. */
  #allowance: number;
  readonly #perSecond: number;
  /** Whether the allowance ran out: the stream waits until half of it is back. */
  #resting = false;
  #idle = 0;
  #isFollowing = false;

  constructor(
    response: ServerResponse,
    sandbox: Sandbox,
    { filter, after = sandbox.evidence.journal.number, perSecond = MOST_PER_SECOND }: StreamOptions,
  ) {
    this.#response = response;
    this.#sandbox = sandbox;
    this.#filter = filter;
    this.#allowance = perSecond;
    this.#perSecond = perSecond;
    // A higher number comes from a journal before a restart.
    this.#last = after < 0 || after > sandbox.evidence.journal.number ? 0 : after;
    response.write(':\n\n');
  }

  /** Catches up with what other servers have answered, if they share the sandbox. */
  follow(): void {
    if (this.#isFollowing) return;
    const current = this.#sandbox.current();
    if (current === undefined) return;
    const followed = (): void => {
      this.#isFollowing = false;
    };
    this.#isFollowing = true;
    current.then(followed, followed);
  }

  send(events: Events): void {
    const { journal } = this.#sandbox.evidence;
    if (this.#response.writableLength > MOST_WAITING) return;
    const more = (this.#perSecond * INTERVAL) / 1000;
    this.#allowance = Math.min(this.#perSecond, this.#allowance + more);
    // An occasional batch costs both sides less than a few exchanges at each poll.
    if (this.#resting && this.#allowance < this.#perSecond / 2) return;
    const behind = this.#resting ? Math.min(MOST_BEHIND, this.#perSecond) : MOST_BEHIND;
    const first = journal.number - Math.min(journal.size, behind);
    const dropped = Math.max(0, first - this.#last);
    this.#last += dropped;
    this.#resting = false;
    let text = dropped > 0 ? `event: dropped\ndata: {"count":${dropped}}\n\n` : '';
    while (this.#last < journal.number) {
      const exchange = journal.at(this.#last + 1);
      if (exchange !== undefined && passes(exchange, this.#filter)) {
        this.#resting = this.#allowance < 1;
        const event = this.#resting ? undefined : events.of(exchange);
        if (event === undefined) break;
        this.#allowance -= 1;
        text += event;
      }
      this.#last += 1;
    }
    this.#idle = text === '' ? this.#idle + 1 : 0;
    if (this.#idle >= MOST_IDLE) {
      text = ':\n\n';
      this.#idle = 0;
    }
    if (text !== '') this.#response.write(text);
  }
}
