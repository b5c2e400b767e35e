import { signal } from '@preact/signals';
import type { RecordedExchange } from '../../control/control-shapes.ts';
import { eventsOf } from '../../event-stream.ts';
import { call, lost, open } from '../client/control-calls.ts';
import { parseExact } from '../client/exact-json.ts';

/** Exchanges that the page keeps; the server keeps more. */
const MOST_KEPT = 1_000;

/** Exchanges that are loaded at the start. */
const FIRST_LOADED = 200;

/** Exchanges per second above which the page draws less often: nobody can read that many. */
const MANY = 10;

/** Milliseconds between two drawings during a flood. */
const UNHURRIED = 1_000;

/** The same during a flood. */
const FLOODED = 2_000;

/** Milliseconds without a dropped exchange after which the flood is over. */
const CALM = 1_500;

/** Milliseconds until the page reopens a stream that ended. */
const RETRY_AFTER = 1_000;

/** The latest exchanges that match a filter, as they arrive. */
export class ExchangeFeed {
  /** The newest first. */
  readonly shown = signal<readonly RecordedExchange[]>([]);
  /** How many arrived since the feed was paused. */
  readonly waiting = signal(0);
  /** How many the server skipped. */
  readonly missed = signal(0);
  readonly loaded = signal(false);
  readonly paused = signal(false);
  readonly #filter: string;
  /** The newest last. */
  #new: RecordedExchange[] = [];
  #missed = 0;
  #drawn = 0;
  /** How many exchanges the latest drawings in close succession showed. */
  #drawnCount = 0;
  #drawing = false;
  #connection = new AbortController();
  #catchingUp: ReturnType<typeof setTimeout> | undefined;

  /** @param filter a query of the control API, such as `status=409&basis=assumed` */
  constructor(filter: string) {
    this.#filter = filter === '' ? '' : `&${filter}`;
    document.addEventListener('visibilitychange', this.#onVisibility);
    if (!document.hidden) void this.#connect();
  }

  /** Ends the feed. */
  close(): void {
    document.removeEventListener('visibilitychange', this.#onVisibility);
    this.#connection.abort();
  }

  setPaused(paused: boolean): void {
    this.paused.value = paused;
    if (paused) return;
    this.#draw();
    if (this.#missed > 0) this.#catchUpLater(this.#connection.signal);
  }

  /** Removes every exchange, after the journal was cleared. */
  clear(): void {
    this.#new = [];
    this.#missed = 0;
    this.shown.value = [];
    this.waiting.value = 0;
    this.missed.value = 0;
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
      const stream = await open('GET', `/requests/stream?${this.#filter}`, {
        signal: ended,
      });
      this.#restart(await this.#load(ended));
      if (stream.body === null) return;
      for await (const { type, data } of eventsOf(stream.body)) {
        if (type === 'exchange') this.#take(parseExact<RecordedExchange>(data));
        if (type === 'dropped') {
          this.#missed += parseExact<{ count: number }>(data).count;
          this.#catchUpLater(ended);
        }
        this.#drawSoon();
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

  async #load(ended: AbortSignal): Promise<readonly RecordedExchange[]> {
    const path = `/requests?order=desc&limit=${FIRST_LOADED}${this.#filter}`;
    const reply = await call<{ exchanges: readonly RecordedExchange[] }>('GET', path, {
      signal: ended,
    });
    return reply.exchanges;
  }

  /** Reloads the latest exchanges after a flood, to fill the gaps. */
  #catchUpLater(ended: AbortSignal): void {
    clearTimeout(this.#catchingUp);
    this.#catchingUp = setTimeout(async () => {
      if (ended.aborted || this.paused.value) return;
      const exchanges = await this.#load(ended).catch(() => undefined);
      if (exchanges === undefined || ended.aborted) return;
      this.#missed = 0;
      this.missed.value = 0;
      this.#restart(exchanges);
    }, CALM);
  }

  #restart(exchanges: readonly RecordedExchange[]): void {
    this.#new = [];
    this.shown.value = exchanges;
    this.loaded.value = true;
  }

  #take(exchange: RecordedExchange): void {
    const latest = this.#new.at(-1) ?? this.shown.value[0];
    // The list includes what the stream sent before it.
    if (latest !== undefined && exchange.number <= latest.number) return;
    this.#new.push(exchange);
    if (this.#new.length > MOST_KEPT) this.#new.shift();
  }

  /** Draws what has arrived, in the next frame; less often during a flood. */
  #drawSoon(): void {
    if (this.#drawing) return;
    this.#drawing = true;
    const pace = this.#missed > this.missed.value ? FLOODED : UNHURRIED;
    const rest = this.#drawn + pace - performance.now();
    const recent = rest > 0 ? this.#drawnCount : 0;
    const wait = this.#new.length + recent < MANY ? 0 : Math.max(0, rest);
    setTimeout(() => requestAnimationFrame(() => this.#draw()), wait);
  }

  #draw(): void {
    this.#drawing = false;
    if (performance.now() - this.#drawn > FLOODED) this.#drawnCount = 0;
    this.#drawnCount += this.#new.length;
    this.#drawn = performance.now();
    this.waiting.value = this.#new.length;
    this.missed.value = this.#missed;
    if (this.paused.value || this.#new.length === 0) return;
    const all = [...this.#new.reverse(), ...this.shown.value];
    this.#new = [];
    this.waiting.value = 0;
    this.shown.value = all.slice(0, MOST_KEPT);
  }
}
