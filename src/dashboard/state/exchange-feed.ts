import { signal } from '@preact/signals';
import type { JournalPage, RecordedExchange } from '../../control/control-shapes.ts';
import { eventsOf } from '../../event-stream.ts';
import { call, lost, open, valueIn } from '../client/control-calls.ts';

/** Exchanges on a page of the list. */
export const PAGE_SIZE = 50;

/** The first page of a list. */
export const NEWEST_FIRST = `order=desc&limit=${PAGE_SIZE}`;

/** Milliseconds between two drawings. */
const PACE = 250;

/** Milliseconds without a skipped exchange after which a flood is over. */
const CALM = 1_500;

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
  /** When the server last skipped some; 0 if it has not since the last load. */
  #skippedAt = 0;
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

  /** Shows the latest exchanges, whether the list is held or not. */
  async load(): Promise<void> {
    this.#latest = await journalPage(NEWEST_FIRST, this.#filter, this.#connection.signal);
    this.#skippedAt = 0;
    this.shown.value = this.#latest;
    this.waiting.value = 0;
    this.loaded.value = true;
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
      const stream = await open('GET', `/requests/stream?${this.#filter}`, { signal: ended });
      await this.load();
      if (stream.body === null) return;
      for await (const { type, data } of eventsOf(stream.body)) {
        if (type === 'exchange') this.#take(valueIn<RecordedExchange>(data));
        // A reply that a rule held back has left.
        if (type === 'hold') await this.load();
        if (type === 'dropped') {
          this.#count(valueIn<{ count: number }>(data).count);
          this.#skippedAt = performance.now();
        }
      }
    } catch (error) {
      if (error instanceof TypeError && !ended.aborted) return lost();
    }
    // The sandbox was deleted, or the server has no stream to give.
    setTimeout(() => {
      if (!ended.aborted) void this.#connect();
    }, 1_000);
  }

  #take(exchange: RecordedExchange): void {
    const { exchanges } = this.#latest;
    // The list includes what the stream sent before it.
    if (exchange.number <= (exchanges[0]?.number ?? 0)) return;
    this.#count(1, [exchange, ...exchanges].slice(0, PAGE_SIZE));
  }

  #count(more: number, exchanges = this.#latest.exchanges): void {
    this.#latest = { ...this.#latest, exchanges, total: this.#latest.total + more };
  }

  #draw(): void {
    if (!this.isHeld) {
      this.shown.value = this.#latest;
      if (this.#skippedAt > 0 && performance.now() - this.#skippedAt > CALM) {
        this.#skippedAt = 0;
        this.load().catch(() => undefined);
      }
    }
    this.waiting.value = this.#latest.total - this.shown.value.total;
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
