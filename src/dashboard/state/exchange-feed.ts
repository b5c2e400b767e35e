import { signal } from '@preact/signals';
import { readEvents } from '../../client/event-stream.ts';
import type { EditView, JournalPage, RecordedExchange } from '../../control/control-shapes.ts';
import { messageOf } from './resource.ts';
import { call, open, Refusal, valueIn } from './session.ts';

/** Exchanges on a page of the list. */
export const PAGE_SIZE = 50;

/** The first page of a list. */
export const NEWEST_FIRST = `order=desc&limit=${PAGE_SIZE}`;

/** Milliseconds between two drawings. */
const PACE = 250;

/** Milliseconds before a stream that ended is opened again. */
const PAUSE = 1_000;

const NONE: JournalPage = { exchanges: [], total: 0, dropped: 0 };

/** The latest exchanges that match a search, as they arrive. */
export class ExchangeFeed {
  /** What is drawn, once it is loaded. */
  readonly shown = signal<JournalPage | undefined>(undefined);
  /** Changes by the control API, the oldest first. */
  readonly edits = signal<readonly EditView[]>([]);
  /** What is wrong with the search. */
  readonly problem = signal<string | undefined>(undefined);
  /** How many arrived since. */
  readonly waiting = signal(0);
  /** Whether the list stays as it is. */
  isHeld = false;
  readonly #filter: string;
  readonly #timer = setInterval(() => this.#draw(), PACE);
  #latest = NONE;
  /** The newest exchanges since, as unparsed text: few are ever drawn. */
  #texts: readonly string[] = [];
  #connection = new AbortController();

  /** @param search in the language of `GET requests?search=` */
  constructor(search: string) {
    this.#filter = filterOf(search);
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
    if (this.#texts.length > 0) {
      const newest = this.#texts.map((text) => valueIn<RecordedExchange>(text));
      const exchanges = [...newest, ...this.#latest.exchanges].slice(0, PAGE_SIZE);
      this.#latest = { ...this.#latest, exchanges };
      this.#texts = [];
    }
    this.shown.value = this.#latest;
    this.waiting.value = 0;
  }

  #draw(): void {
    if (this.shown.value === undefined) return;
    if (!this.isHeld) this.show();
    this.waiting.value = this.#latest.total - this.shown.value.total;
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
    } catch (error) {
      if (error instanceof Refusal && error.status === 400) {
        this.problem.value = messageOf(error);
        return;
      }
      // The server is lost, or this page did not keep up with the stream.
    }
    setTimeout(() => {
      if (!ended.aborted) void this.#connect();
    }, PAUSE);
  }

  /** Reads a stream until it ends, or has skipped some: then the journal is read again. */
  async #follow(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const { type, id, data } of readEvents(stream)) {
      if (type === 'dropped') return;
      // A reply that a rule held back has left, or somebody changed the sandbox.
      if (type === 'hold' || type === 'edit') {
        await this.#load();
        if (type === 'hold') this.show();
      }
      // The journal had what the stream sent before it was read.
      if (type !== 'exchange' || Number(id) <= (this.#latest.exchanges[0]?.number ?? 0)) continue;
      this.#latest = { ...this.#latest, total: this.#latest.total + 1 };
      this.#texts = [data, ...this.#texts].slice(0, PAGE_SIZE);
    }
  }

  async #load(): Promise<void> {
    const part = `${NEWEST_FIRST}&edits=true`;
    this.#latest = await journalPage(part, this.#filter, this.#connection.signal);
    this.edits.value = this.#latest.edits ?? [];
    this.#texts = [];
    if (this.shown.value === undefined) this.show();
  }
}

/** A search as a query of the control API. */
export function filterOf(search: string): string {
  return search.trim() === '' ? '' : `${new URLSearchParams({ search: search.trim() })}`;
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

export type Direction = 'older' | 'newer';

/** The exchanges next to one that match a filter, the nearest first: a page, or what there is. */
export async function neighbours(
  number: number,
  towards: Direction,
  filter: string,
): Promise<readonly RecordedExchange[]> {
  // A limit would count from the newest one.
  const part =
    towards === 'older' ? `${NEWEST_FIRST}&before=${number}` : `order=asc&after=${number}`;
  return (await journalPage(part, filter)).exchanges.slice(0, PAGE_SIZE);
}
