import type { ServerResponse } from 'node:http';
import { writeJson } from '../../contract/json.ts';
import {
  type ExchangeFilter,
  type ObservedExchange,
  type Observer,
  passes,
} from '../../evidence/journal.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { exchangeView } from './exchange-view.ts';

/** The most streams that a server has open at a time. */
export const MOST_STREAMS = 100;

/** Milliseconds between the comments that keep an idle connection open. */
const KEEP_ALIVE = 15_000;

/** Bytes buffered for a slow client before it misses exchanges. */
const MOST_WAITING = 1024 ** 2;

/** The streams of each server, by the set of its observers. */
const servers = new WeakMap<Set<Observer>, Streams>();

/** The streams of the server that has these observers. */
export function streamsOf(observers: Set<Observer>): Streams {
  let streams = servers.get(observers);
  if (streams === undefined) {
    streams = new Streams(observers);
    servers.set(observers, streams);
  }
  return streams;
}

/** Sends the exchanges of sandboxes as server-sent events. */
class Streams {
  readonly #observers: Set<Observer>;
  readonly #open = new Set<Stream>();

  constructor(observers: Set<Observer>) {
    this.#observers = observers;
  }

  get areFull(): boolean {
    return this.#open.size >= MOST_STREAMS;
  }

  /** Opens a stream, which ends when the client leaves or the sandbox is deleted. */
  open(response: ServerResponse, sandbox: Sandbox, filter: ExchangeFilter): void {
    const stream = new Stream(response, sandbox.name, filter);
    this.#open.add(stream);
    this.#observers.add(this.#observe);
    const close = (): void => {
      stream.close();
      this.#open.delete(stream);
      if (this.#open.size === 0) this.#observers.delete(this.#observe);
    };
    // A new sandbox may get the same name before a slow client has read the end.
    const forget = sandbox.onEnd(() => {
      close();
      response.end();
    });
    response.once('close', () => {
      forget();
      close();
    });
  }

  readonly #observe: Observer = (sandbox, exchange) => {
    let event: Buffer | undefined;
    for (const stream of this.#open) {
      if (!stream.takes(sandbox, exchange)) continue;
      // Every stream sends the same bytes.
      event ??= eventOf(exchange);
      stream.send(event);
    }
  };
}

function eventOf(exchange: ObservedExchange): Buffer {
  const data = writeJson(exchangeView(exchange));
  return Buffer.from(`id: ${exchange.number}\nevent: exchange\ndata: ${data}\n\n`);
}

/** One stream, whose client may be slow. */
class Stream {
  readonly #response: ServerResponse;
  readonly #sandbox: string;
  readonly #filter: ExchangeFilter;
  readonly #timer: NodeJS.Timeout;
  #dropped = 0;

  constructor(response: ServerResponse, sandbox: string, filter: ExchangeFilter) {
    this.#response = response;
    this.#sandbox = sandbox;
    this.#filter = filter;
    this.#timer = setInterval(() => {
      if (response.writableLength === 0) response.write(':\n\n');
    }, KEEP_ALIVE);
    this.#timer.unref();
    response.on('drain', () => this.#tellDropped());
    response.write(':\n\n');
  }

  /** Whether to send an exchange. Counts the exchanges that the client is too slow for. */
  takes(sandbox: string, exchange: ObservedExchange): boolean {
    if (sandbox !== this.#sandbox || !passes(exchange, this.#filter)) return false;
    if (this.#response.writableLength <= MOST_WAITING) return true;
    this.#dropped += 1;
    return false;
  }

  send(event: Buffer): void {
    this.#tellDropped();
    this.#response.write(event);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #tellDropped(): void {
    if (this.#dropped === 0) return;
    this.#response.write(`event: dropped\ndata: {"count":${this.#dropped}}\n\n`);
    this.#dropped = 0;
  }
}
