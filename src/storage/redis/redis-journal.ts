import {
  type Exchange,
  findHoldFindings,
  type HeldExchange,
  HOLD_ENDS,
  isHeld,
} from '../../sandbox/exchange.ts';
import { passes } from '../../sandbox/exchange-filter.ts';
import type {
  Edit,
  Journal,
  JournalPage,
  JournalQuery,
  JournalSize,
} from '../../sandbox/journal.ts';
import type { Emitter, SandboxEvent } from '../../sandbox/storage.ts';
import type { Totals } from '../../sandbox/totals.ts';
import { type FleetContext, keysOf } from './fleet-context.ts';
import { exchangeText, readExchange } from './parts.ts';
import type { Channel } from './redis-connection.ts';
import { readTotals, tally } from './redis-totals.ts';
import { END_HOLD, LIST, READ, TOTAL } from './scripts.ts';

/** Exchanges that one reply of Redis has at most. */
const PAGE = 50;

/** How long after `--max-hold` a hold disappears whose server has died. */
const DEAD_HOLD_MS = 60_000;

/** Exchanges with numbers from `from` on. */
interface Page extends JournalSize {
  readonly from: number;
  readonly texts: readonly string[];
}

const NO_PAGE: Page = { number: 0, size: 0, dropped: 0, from: 1, texts: [] };

/** The journal of a sandbox in Redis, and what is told of it. */
export class RedisJournal implements Journal {
  /** The first versions of the sandboxes that held exchanges are from. */
  readonly bornOf = new WeakMap<Exchange, string>();
  /** Resolves once other servers' messages arrive. */
  followed: Promise<void> = Promise.resolve();
  readonly #name: string;
  readonly #context: FleetContext;
  readonly #channel: string;
  readonly #events: Emitter<SandboxEvent>;
  readonly #keys: ReturnType<typeof keysOf>;
  #following: Channel | undefined;
  /** The number of the latest exchange that was told of; undefined until the channel is followed. */
  #latest: number | undefined;
  /** Those that were told of while others are being looked up that were missed. */
  #told: Set<number> | undefined;

  constructor(name: string, context: FleetContext, channel: string, events: Emitter<SandboxEvent>) {
    this.#name = name;
    this.#context = context;
    this.#channel = channel;
    this.#events = events;
    this.#keys = keysOf(name);
  }

  async size(): Promise<JournalSize> {
    const { number, size, dropped } = await this.#read(1, 0);
    return { number, size, dropped };
  }

  async select({
    filter = {},
    limit = Number.POSITIVE_INFINITY,
  }: JournalQuery): Promise<JournalPage> {
    const { after = 0, before = Number.POSITIVE_INFINITY, from } = filter;
    const { number, size, dropped } = await this.#read(1, 0);
    const oldest = number - size + 1;
    const exchanges: Exchange[] = [];
    let total = 0;
    const take = (exchange: Exchange): void => {
      if (!passes(exchange, filter)) return;
      total += 1;
      if (total <= limit) exchanges.push(exchange);
    };
    const lowest = Math.max(oldest, after + 1);
    for (let to = Math.min(number, before - 1); to >= lowest; to -= PAGE) {
      for (const exchange of await this.#list(Math.max(lowest, to - PAGE + 1), to)) take(exchange);
    }
    // There can be more held replies than the journal keeps.
    if (filter.hold !== undefined || filter.held === true) {
      for (const held of (await this.held()).toReversed()) if (held.number < oldest) take(held);
    }
    const [first] = dropped === 0 || from === undefined ? [] : await this.#list(oldest, oldest);
    const isSince = from !== undefined && from > (first?.at ?? Number.POSITIVE_INFINITY);
    const isComplete = dropped === 0 || after >= oldest - 1 || isSince;
    return { exchanges, total, dropped, number, isComplete };
  }

  async find(number: number): Promise<Exchange | undefined> {
    const [exchange] = await this.#list(number, number);
    return exchange ?? (await this.held()).find((held) => held.number === number);
  }

  async edits(): Promise<readonly Edit[]> {
    const texts = await this.#context.redis.run(['LRANGE', this.#keys.edits, '0', '-1'], 'reads');
    return listOf(texts).map((text) => {
      const [after = ''] = text.split(' ', 1);
      return { ...JSON.parse(text.slice(after.length)), after: Number(after) };
    });
  }

  async totals(): Promise<Totals> {
    const fields = await this.#context.redis.eval(TOTAL, 'reads', [this.#keys.state]);
    return readTotals(listOf(fields));
  }

  async held(): Promise<readonly HeldExchange[]> {
    const held: HeldExchange[] = [];
    for (const [number, text] of await this.#listHeld()) {
      const exchange = this.#restore(text.slice(text.indexOf('{')), number);
      if (!isHeld(exchange)) continue;
      if (exchange.hold.ended === undefined) held.push(exchange);
      else this.#context.redis.run(['HDEL', this.#keys.held, `${number}`], 'reads').catch(() => {});
    }
    return held.sort((one, other) => one.number - other.number);
  }

  /** What Redis does not take now, its age tells later. */
  async endHold(exchange: Exchange): Promise<void> {
    const findings = findHoldFindings(exchange);
    const found = JSON.stringify(tally(this.#name, [{ ...exchange, shows: [], findings }]));
    const { state, journal, held } = this.#keys;
    const born = this.bornOf.get(exchange) ?? '';
    const args = [born, `${exchange.number}`, exchangeText(exchange), found];
    await this.#context.redis.eval(END_HOLD, 'reads', [state, journal, held], args).catch(() => {});
  }

  remembered(): undefined {}

  lastEdit(): undefined {}

  /** Tells of what happens from now on, on whichever server. */
  follow(): void {
    if (this.#following !== undefined) return;
    this.#latest = undefined;
    this.#following = {
      name: this.#channel,
      onMessage: (message) => this.#tell(String(message)),
      onReady: () => void this.#tellMissed().catch(() => {}),
    };
    this.followed = this.#context.redis.follow(this.#following);
  }

  unfollow(): void {
    if (this.#following !== undefined) this.#context.redis.unfollow(this.#following);
    this.#following = undefined;
  }

  #tell(message: string): void {
    const [kind = '', word = ''] = message.split(' ', 2);
    const rest = message.slice(kind.length + 1);
    const number = Number(word);
    switch (kind) {
      case 'exchange':
      case 'hold': {
        const exchange = readExchange(rest.slice(word.length + 1), number);
        if (kind === 'exchange') {
          this.#latest = number;
          this.#told?.add(number);
        }
        this.#events.emit({ kind, exchange });
        break;
      }
      case 'release':
        this.#events.emit({ kind, ...JSON.parse(rest) });
        break;
      case 'edit':
      case 'deleted':
        if (kind === 'deleted') this.#latest = 0;
        this.#events.emit({ kind });
    }
  }

  /** Tells of what happened while nobody told, as far as Redis has it. */
  async #tellMissed(): Promise<void> {
    const latest = this.#latest;
    const told = new Set<number>();
    this.#told = told;
    const { number } = await this.#read(1, 0);
    if (latest !== undefined && number < latest) this.#events.emit({ kind: 'deleted' });
    for (let from = (latest ?? number) + 1; from <= number; from += PAGE) {
      const missed = await this.#list(from, Math.min(number, from + PAGE - 1));
      for (const exchange of missed.toReversed()) {
        if (!told.has(exchange.number)) this.#events.emit({ kind: 'exchange', exchange });
      }
    }
    this.#told = undefined;
    this.#latest = Math.max(...told, number);
    for (const [held, text] of await this.#listHeld()) {
      const why = HOLD_ENDS.find((end) => text.startsWith(end));
      if (why !== undefined) this.#events.emit({ kind: 'release', why, exchanges: [held] });
    }
  }

  /** Exchanges from one number to another, the newest first. */
  async #list(first: number, last: number): Promise<readonly Exchange[]> {
    const { from, texts } = await this.#read(first, last);
    return texts.map((text, index) => this.#restore(text, from + index)).reverse();
  }

  async #listHeld(): Promise<readonly (readonly [number: number, text: string])[]> {
    const fields = listOf(await this.#context.redis.eval(LIST, 'reads', [this.#keys.held]));
    return fields.flatMap((field, at) =>
      at % 2 === 0 ? [[Number(field), fields[at + 1] ?? '']] : [],
    );
  }

  /** A reply is no longer held if its server must have let it go, unless that died. */
  #restore(text: string, number: number): Exchange {
    const exchange = readExchange(text, number);
    const { hold } = exchange;
    const isDead = hold && hold.since + this.#context.maxHold + DEAD_HOLD_MS < Date.now();
    if (isDead) hold.ended ??= 'left';
    return exchange;
  }

  async #read(from: number, to: number): Promise<Page> {
    await this.followed;
    const { state, journal } = this.#keys;
    const reply = await this.#context.redis.eval(
      READ,
      'reads',
      [state, journal],
      [`${from}`, `${to}`],
    );
    if (!Array.isArray(reply)) return NO_PAGE;
    const [number, cleared, size, first, texts] = reply;
    return { number, size, dropped: number - cleared - size, from: first, texts };
  }
}

function listOf(reply: unknown): readonly string[] {
  return Array.isArray(reply) ? reply.map(String) : [];
}
