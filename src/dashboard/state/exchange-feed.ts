import { signal } from '@preact/signals';
import type { JournalPage, RecordedExchange } from '../../control/control-shapes.ts';
import { eventsOf } from '../../event-stream.ts';
import { call, open, valueIn } from '../client/control-calls.ts';

/** Exchanges on a page of the list. */
export const PAGE_SIZE = 50;

/** The first page of a list. */
export const NEWEST_FIRST = `order=desc&limit=${PAGE_SIZE}`;

/** Milliseconds between two drawings. */
const PACE = 250;

/** Milliseconds before a stream that ended is opened again. */
const PAUSE = 1_000;

const NONE: JournalPage = { exchanges: [], total: 0, dropped: 0 };

/** The latest exchanges that match a filter, as they arrive. */
export class ExchangeFeed {
  /** What is drawn. */
  readonly shown = signal(NONE);
  /** How many arrived since. */
  readonly waiting = signal(0);
  readonly loaded = signal(false);
  /** Whether the list stays as it is. */
  isHeld = false;
  readonly #filter: string;
  readonly #timer = setInterval(() => this.#draw(), PACE);
  #latest = NONE;
  /** How many the stream has sent since, and the newest of them as they came: few are ever drawn. */
  #count = 0;
  #texts: readonly string[] = [];
  #connection = new AbortController();

  /** @param filter a query of the control API, such as `status=409&basis=assumed` */
  constructor(filter: string) {
    this.#filter = filter;
    document.addEventListener('visibilitychange', this.#onVisibility);
    if (!document.hidden) void this.#connect();
  }

  /** Ends the feed. */
  close(): void {
    clearInterval(this.#timer);
    document.removeEventListener('visibilitychange', this.#onVisibility);
    this.#connection.abort();
  }

  /** Draws the latest exchanges, whether the list is held or not. */
  show(): void {
    if (this.#count > 0) {
      const { exchanges, total, ...rest } = this.#latest;
      const newest = this.#texts.map((text) => valueIn<RecordedExchange>(text));
      this.#latest = {
        ...rest,
        exchanges: [...newest, ...exchanges].slice(0, PAGE_SIZE),
        total: total + this.#count,
      };
      this.#count = 0;
      this.#texts = [];
    }
    this.shown.value = this.#latest;
    this.waiting.value = 0;
  }

  #draw(): void {
    if (!this.isHeld) this.show();
    this.waiting.value = this.#latest.total + this.#count - this.shown.value.total;
  }

  /** A browser limits connections to a server, so a hidden page closes its own. */
  readonly #onVisibility = (): void => {
    this.#connection.abort();
    if (document.hidden) return;
    this.#connection = new AbortController();
    void this.#connect();
  };

  async #connect(): Promise<void> {
    const { signal: ended } = this.#connection;
    try {
      const { body } = await open('GET', `/requests/stream?${this.#filter}`, { signal: ended });
      await this.#load();
      if (body !== null) await this.#follow(body);
    } catch {
      // The server is lost, or this page did not keep up with the stream.
    }
    setTimeout(() => {
      if (!ended.aborted) void this.#connect();
    }, PAUSE);
  }

  /** Reads a stream until it ends, or has skipped some: then the journal is read again. */
  async #follow(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const { type, id, data } of eventsOf(stream)) {
      if (type === 'dropped') return;
      // A reply that a rule held back has left.
      if (type === 'hold') {
        await this.#load();
        this.show();
      }
      // The journal had what the stream sent before it was read.
      if (type !== 'exchange' || Number(id) <= (this.#latest.exchanges[0]?.number ?? 0)) continue;
      this.#count += 1;
      this.#texts = [data, ...this.#texts].slice(0, PAGE_SIZE);
    }
  }

  async #load(): Promise<void> {
    this.#latest = await journalPage(NEWEST_FIRST, this.#filter, this.#connection.signal);
    this.#count = 0;
    this.#texts = [];
    if (!this.loaded.value) this.show();
    this.loaded.value = true;
  }
}

/** A part of the journal. */
export function journalPage(
  part: string,
  filter: string,
  signal?: AbortSignal,
): Promise<JournalPage> {
  const query = filter === '' ? part : `${part}&${filter}`;
  return call<JournalPage>('GET', `/requests?${query}`, signal ? { signal } : {});
}

/** The exchanges next to one that match a filter, the nearest first: a page, or what there is. */
export async function neighbours(
  number: number,
  towards: 'older' | 'newer',
  filter: string,
): Promise<readonly RecordedExchange[]> {
  if (towards === 'older') {
    return (await journalPage(`${NEWEST_FIRST}&before=${number}`, filter)).exchanges;
  }
  // A limit counts from the newest one, so this reads wider and wider parts from the oldest on.
  for (const width of [PAGE_SIZE, 50 * PAGE_SIZE]) {
    const part = `order=asc&after=${number}&before=${number + width + 1}`;
    const { exchanges } = await journalPage(part, filter);
    if (exchanges.length >= PAGE_SIZE) return exchanges.slice(0, PAGE_SIZE);
  }
  const { exchanges } = await journalPage(`order=asc&after=${number}`, filter);
  return exchanges.slice(0, PAGE_SIZE);
}
