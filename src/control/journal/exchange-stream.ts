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
  readonly #bySandbox = new Map<string, Set<Stream>>();
  #count = 0;

  constructor(observers: Set<Observer>) {
    this.#observers = observers;
  }

  get areFull(): boolean {
    return this.#count >= MOST_STREAMS;
  }

  /** Opens a stream, which ends when the client leaves or the sandbox is deleted. */
  open(response: ServerResponse, sandbox: Sandbox, filter: ExchangeFilter): void {
    const { name } = sandbox;
    const streams = this.#bySandbox.get(name) ?? new Set();
    const stream = new Stream(response, filter);
    this.#bySandbox.set(name, streams.add(stream));
    this.#count += 1;
    this.#observers.add(this.#observe);
    const forget = sandbox.onEnd(() => response.end());
    response.once('close', () => {
      stream.close();
      forget();
      streams.delete(stream);
      if (streams.size === 0 && this.#bySandbox.get(name) === streams) this.#bySandbox.delete(name);
      this.#count -= 1;
      if (this.#count === 0) this.#observers.delete(this.#observe);
    });
  }

  readonly #observe: Observer = (name, exchange) => {
    let event: Buffer | undefined;
    const eventOnce = (): Buffer => {
      event ??= eventOf(exchange);
      return event;
    };
    for (const stream of this.#bySandbox.get(name) ?? []) stream.send(exchange, eventOnce);
  };
}

/** An exchange as an event. Every stream sends the same bytes. */
function eventOf(exchange: ObservedExchange): Buffer {
  const data = writeJson(exchangeView(exchange));
  return Buffer.from(`id: ${exchange.number}\nevent: exchange\ndata: ${data}\n\n`);
}

/** One stream, whose client may be slow. */
class Stream {
  readonly #response: ServerResponse;
  readonly #filter: ExchangeFilter;
  readonly #timer: NodeJS.Timeout;
  #dropped = 0;

  constructor(response: ServerResponse, filter: ExchangeFilter) {
    this.#response = response;
    this.#filter = filter;
    this.#timer = setInterval(() => {
      if (response.writableLength === 0) response.write(':\n\n');
    }, KEEP_ALIVE);
    this.#timer.unref();
    response.on('drain', () => this.#tellDropped());
    response.write(':\n\n');
  }

  /** @param event makes the event; called only if the stream sends it */
  send(exchange: ObservedExchange, event: () => Buffer): void {
    if (!passes(exchange, this.#filter)) return;
    if (this.#response.writableLength > MOST_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#tellDropped();
    this.#response.write(event());
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
