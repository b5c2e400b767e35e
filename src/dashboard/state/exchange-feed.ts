import { signal } from '@preact/signals';
import { type CallInput, ControlError } from '../../client/control-client.ts';
import { readEvents } from '../../client/event-stream.ts';
import { parseJson } from '../../contract/json.ts';
import { formatError } from './resource.ts';
import {
  changes,
  client,
  type EditView,
  type JournalPage,
  type RecordedExchange,
} from './session.ts';

export const PAGE_SIZE = 50;

/** Rows above which the list stops growing beside an open exchange. */
const MAX_ROWS = 500;

const DRAW_INTERVAL_MS = 250;

const RECONNECT_DELAY_MS = 1_000;

type JournalQuery = NonNullable<CallInput<'GET /requests'>['query']>;

function readJournal(
  search: string,
  query: JournalQuery = {},
  signal?: AbortSignal,
): Promise<JournalPage> {
  const whole = { order: 'desc', limit: PAGE_SIZE, search: search || undefined, ...query } as const;
  return client.call('GET /requests', { query: whole, signal });
}

export class ExchangeFeed {
  readonly shown = signal<JournalPage | undefined>(undefined);
  /** Changes by the control API, the oldest first. */
  readonly edits = signal<readonly EditView[]>([]);
  readonly problem = signal<string | undefined>(undefined);
  /** How many arrived since. */
  readonly waiting = signal(0);
  isHeld = false;
  opened = Number.NaN;
  readonly #search: string;
  readonly #before: number | undefined;
  readonly #timer = setInterval(() => this.#draw(), DRAW_INTERVAL_MS);
  #latest: JournalPage = { exchanges: [], total: 0, dropped: 0 };
  #connection = new AbortController();
  /** How many exchanges the list has, unless one below them is open. */
  #size = PAGE_SIZE;

  /**
   * @param search in the language of `GET requests?search=`
   * @param before a number: only what came before it, which nothing follows
   */
  constructor(search: string, before?: number) {
    this.#search = search;
    this.#before = before;
    document.addEventListener('visibilitychange', this.#onVisibility);
    if (!document.hidden) void this.#run();
  }

  close(): void {
    clearInterval(this.#timer);
    document.removeEventListener('visibilitychange', this.#onVisibility);
    this.#connection.abort();
  }

  show(): void {
    this.shown.value = this.#latest;
    this.waiting.value = 0;
  }

  async more(): Promise<void> {
    const before = this.#latest.exchanges.at(-1)?.number;
    const { exchanges } = await readJournal(this.#search, { before });
    this.#size = this.#latest.exchanges.length + exchanges.length;
    this.#latest = { ...this.#latest, exchanges: [...this.#latest.exchanges, ...exchanges] };
    this.show();
  }

  #draw(): void {
    if (this.shown.value === undefined) return;
    if (!this.isHeld && this.#latest.exchanges.length < this.#size + MAX_ROWS) this.show();
    this.waiting.value = this.#latest.total - this.shown.value.total;
  }

  /** A browser limits connections to a server, so a hidden page closes its own. */
  readonly #onVisibility = (): void => {
    this.#connection.abort();
    if (document.hidden) return;
    this.#connection = new AbortController();
    void this.#run();
  };

  async #run(): Promise<void> {
    const { signal } = this.#connection;
    while (!signal.aborted) {
      try {
        await this.#follow(signal);
      } catch (error) {
        if (error instanceof ControlError && error.status === 400) {
          this.problem.value = formatError(error);
          return;
        }
        // The server is lost, or this page did not keep up with the stream.
      }
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_DELAY_MS));
    }
  }

  /** Reads the stream until it ends, or has skipped some: then the journal is read again. */
  async #follow(signal: AbortSignal): Promise<void> {
    const query = { search: this.#search || undefined, before: this.#before };
    // Opened first: nothing happens between the journal and the stream.
    const { body } = await client.send('GET /requests/stream', { query, signal });
    await this.#load(signal);
    if (body === null) return;
    for await (const { type, data } of readEvents(body)) {
      if (type === 'dropped') return;
      if (type === 'exchange') this.#add(Object(parseJson(data)));
      else {
        // A reply that a rule held back has left, or somebody changed the sandbox.
        await this.#load(signal);
        if (type === 'hold') this.show();
        else changes.value += 1;
      }
    }
  }

  #add(exchange: RecordedExchange): void {
    const { exchanges, total } = this.#latest;
    if (exchange.number <= (exchanges[0]?.number ?? 0)) return;
    const index = exchanges.findIndex(({ number }) => number === this.opened);
    const next = [exchange, ...exchanges].slice(0, Math.max(this.#size, index + 2));
    this.#latest = { ...this.#latest, total: total + 1, exchanges: next };
  }

  async #load(signal: AbortSignal): Promise<void> {
    const limit = Math.max(this.#size, this.#latest.exchanges.length);
    const query = { limit, edits: true, before: this.#before };
    this.#latest = await readJournal(this.#search, query, signal);
    this.edits.value = this.#latest.edits ?? [];
    if (this.shown.value === undefined) this.show();
  }
}

export type Direction = 'older' | 'newer';

/** The exchanges next to one that match a search, the nearest first: a page, or what there is. */
export async function findNeighbours(
  number: number,
  towards: Direction,
  search: string,
): Promise<readonly RecordedExchange[]> {
  // A limit would count from the newest one.
  const query: JournalQuery =
    towards === 'older' ? { before: number } : { order: 'asc', after: number, limit: undefined };
  return (await readJournal(search, query)).exchanges.slice(0, PAGE_SIZE);
}
