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

/** Milliseconds until the page reopens a stream that ended. */
const RETRY_AFTER = 1_000;

/** The latest exchanges that match a filter, as they arrive. */
export class ExchangeFeed {
  /** The newest first. */
  readonly shown = signal<readonly RecordedExchange[]>([]);
  /** How many match, as far as the page knows. */
  readonly total = signal(0);
  /** How many arrived since the list was drawn. */
  readonly waiting = signal(0);
  readonly loaded = signal(false);
  readonly paused = signal(false);
  readonly #filter: string;
  readonly #timer = setInterval(() => this.#look(), PACE);
  #held = false;
  /** Arrived and not drawn, the newest first. */
  #new: readonly RecordedExchange[] = [];
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

  /** Lets the list stay as it is, or draws what has arrived and goes on. */
  hold(held: boolean): void {
    this.#held = held;
    this.#look();
  }

  pause(paused: boolean): void {
    this.paused.value = paused;
  }

  /** Shows the latest exchanges, whether the list is held or not. */
  async load(): Promise<void> {
    const { signal: ended } = this.#connection;
    const page = await journalPage(NEWEST_FIRST, this.#filter, ended);
    this.#new = [];
    this.#skippedAt = 0;
    this.shown.value = page.exchanges;
    this.total.value = page.total;
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
        if (type === 'hold') this.#replace(valueIn<RecordedExchange>(data));
        if (type === 'dropped') {
          this.waiting.value += valueIn<{ count: number }>(data).count;
          this.#skippedAt = performance.now();
        }
      }
      if (!ended.aborted) this.#retry(ended);
    } catch (error) {
      if (ended.aborted) return;
      if (error instanceof TypeError) lost();
      else this.#retry(ended);
    }
  }

  /** The sandbox was deleted, or the server has no stream to give. */
  #retry(ended: AbortSignal): void {
    setTimeout(() => {
      if (!ended.aborted) void this.#connect();
    }, RETRY_AFTER);
  }

  #take(exchange: RecordedExchange): void {
    const latest = this.#new[0] ?? this.shown.value[0];
    // The list includes what the stream sent before it.
    if (latest !== undefined && exchange.number <= latest.number) return;
    this.#new = [exchange, ...this.#new].slice(0, PAGE_SIZE);
    this.waiting.value += 1;
  }

  /** A reply that a rule held back has left. */
  #replace(exchange: RecordedExchange): void {
    const newest = (it: RecordedExchange) => (it.number === exchange.number ? exchange : it);
    this.#new = this.#new.map(newest);
    this.shown.value = this.shown.value.map(newest);
  }

  #look(): void {
    if (this.#held) return;
    if (this.#skippedAt > 0 && performance.now() - this.#skippedAt > CALM) {
      this.#skippedAt = 0;
      this.load().catch(() => undefined);
    }
    if (this.#new.length === 0) return;
    this.shown.value = [...this.#new, ...this.shown.value].slice(0, PAGE_SIZE);
    this.total.value += this.waiting.value;
    this.#new = [];
    this.waiting.value = 0;
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
  const [latest] = (await journalPage(`order=desc&limit=1&after=${number}`, filter)).exchanges;
  // A limit counts from the newest one, so what lies between is read in growing parts.
  for (let count = PAGE_SIZE; latest !== undefined; count *= 8) {
    const part = `order=asc&after=${number}&before=${number + count + 1}`;
    const { exchanges } = await journalPage(part, filter);
    const isEnough = exchanges.length >= PAGE_SIZE || number + count >= latest.number;
    if (isEnough) return exchanges.slice(0, PAGE_SIZE);
  }
  return [];
}
