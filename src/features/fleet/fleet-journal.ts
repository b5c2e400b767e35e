import { Totals, type TotalsState } from '../../core/sandbox/coverage.ts';
import {
  type Exchange,
  findHoldFindings,
  type HeldExchange,
  HOLD_ENDS,
  type HoldEnd,
  isWaiting,
} from '../../core/sandbox/exchange.ts';
import {
  includesHeld,
  type JournalPage,
  type JournalQuery,
  type JournalSize,
  selectExchanges,
} from '../../core/sandbox/journal-page.ts';
import type { JournalReader } from '../../core/sandbox/persistence.ts';
import type { Sandbox } from '../../core/sandbox/sandbox.ts';
import { StorageError } from '../../core/sandbox/storage-error.ts';
import { ExchangeCache, readExchange, writeExchange } from './exchange-cache.ts';
import type { FleetContext } from './fleet-context.ts';
import type { Channel, RedisConnection } from './redis-connection.ts';
import { ADD_UP, CLAIM, END_HOLD, READ, type SandboxKeys } from './scripts.ts';

/** Exchanges that one reply of Redis has: a slow connection must not be silent for long. */
const PAGE = 100;

/** How long after `--max-hold` a hold disappears whose server has died. */
const DEAD_HOLD_MS = 60_000;

/** Totals that wait to be added up. */
export const MAX_ADDED = 64;

/** The journal of a sandbox in Redis. */
export class FleetJournal implements JournalReader {
  readonly #keys: readonly string[];
  readonly #totals: string;
  readonly #held: string;
  readonly #channelName: string;
  readonly #sandbox: Sandbox;
  readonly #context: FleetContext;
  readonly #cache: ExchangeCache;
  /** Tells the sandbox from others of its name, before and after it. */
  #born: string | undefined;
  /** Replies that this server holds back. */
  readonly #holding = new Set<number>();
  #channel: Channel | undefined;
  /** Resolves once other servers' messages arrive. */
  #followed: Promise<void> = Promise.resolve();
  /** The latest exchange that was told of; undefined before the first look. */
  #latest: number | undefined;
  #looking: Promise<void> | undefined;
  #isRung = false;
  /** Few journals are read: to keep all of them in memory would cost each call. */
  #isRead = false;

  constructor(sandbox: Sandbox, keys: SandboxKeys, context: FleetContext) {
    this.#sandbox = sandbox;
    this.#context = context;
    this.#cache = new ExchangeCache(context.memory, context.capacity);
    this.#keys = Object.values(keys);
    this.#totals = keys.totals;
    this.#held = keys.held;
    this.#channelName = keys.state;
  }

  get isHolding(): boolean {
    return this.#holding.size > 0;
  }

  /** What this server has written. */
  keep(exchange: Exchange, text: string): void {
    if (isWaiting(exchange)) this.#holding.add(exchange.number);
    if (this.#isRead) this.#cache.add(exchange, text.length);
  }

  know(born: string | undefined): void {
    if (born === this.#born) return;
    const isReplaced = this.#born !== undefined;
    this.#born = born;
    this.#cache.clear();
    this.#holding.clear();
    if (!isReplaced) return;
    this.#latest = 0;
    this.#sandbox.emit({ kind: 'deleted' });
  }

  async size(): Promise<JournalSize> {
    const { number, size, dropped } = await this.#read(1, 0);
    return { number, size, dropped };
  }

  async select(query: JournalQuery): Promise<JournalPage> {
    const { filter = {}, limit = Number.POSITIVE_INFINITY } = query;
    this.#isRead = true;
    const size = await this.size();
    const isFiltered = Object.values(filter).some((wanted) => wanted !== undefined);
    const first = size.number - size.size + 1;
    const oldest = Math.max(
      first,
      (filter.after ?? 0) + 1,
      isFiltered ? 0 : size.number - limit + 1,
    );
    const exchanges: Exchange[] = [];
    for (let to = Math.min(size.number, filter.before ?? size.number); to >= oldest; to -= PAGE) {
      exchanges.push(...(await this.#list(Math.max(oldest, to - PAGE + 1), to)));
    }
    if (!isFiltered) {
      const { number, dropped, size: total } = size;
      return { number, dropped, total, exchanges, isComplete: dropped === 0 };
    }
    const held = includesHeld(query) ? await this.held() : [];
    return selectExchanges(size, exchanges, held, query);
  }

  /** The newest first. */
  async #list(from: number, to: number): Promise<readonly Exchange[]> {
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => to - index);
    const cached = new Map(numbers.map((number) => [number, this.#cache.get(number)]));
    const unknown = numbers.filter((number) => cached.get(number) === undefined);
    const [newest] = unknown;
    if (newest === undefined) return [...cached.values()].filter((it) => it !== undefined);
    const { exchanges } = await this.#read(unknown.at(-1) ?? newest, newest);
    return numbers.flatMap((number) => exchanges.get(number) ?? cached.get(number) ?? []);
  }

  async find(number: number): Promise<Exchange | undefined> {
    const { exchanges } = await this.#read(number, number);
    return exchanges.get(number) ?? (await this.held()).find((held) => held.number === number);
  }

  async totals(): Promise<Totals> {
    return readTotals(await this.#context.redis.list(this.#totals));
  }

  /** Adds up what many exchanges added. */
  addUp(): void {
    void addUp(this.#context.redis, this.#totals).catch(() => {});
  }

  async held(): Promise<readonly HeldExchange[]> {
    const reply = await this.#context.redis.run(['HGETALL', this.#held]);
    return Object.entries<string>(Object(reply))
      .map(([number, text]) => this.#restore(text, Number(number)))
      .filter(isWaiting)
      .sort((one, other) => one.number - other.number);
  }

  /** Claims the first ones that nobody else has claimed, for their servers to send. */
  async claim(due: readonly HeldExchange[], count: number, why: HoldEnd) {
    const { redis, ttl } = this.#context;
    const numbers = due.map(({ number }) => `${number}`);
    const args = [this.#born ?? '', why, `${count}`, this.#channelName, `${ttl}`, ...numbers];
    const reply = await redis.eval(CLAIM, this.#keys, args, { once: true });
    const [claimed, held] = Array.isArray(reply) ? reply : [[], 0];
    return { claimed: new Set(Array.from<string, number>(claimed, Number)), held: Number(held) };
  }

  /** What Redis does not take now, its age tells later. */
  async endHold(exchange: HeldExchange): Promise<void> {
    const { redis, server } = this.#context;
    const { number, hold } = exchange;
    if (!this.#holding.delete(number)) return;
    const found = new Totals();
    found.add({ ...exchange, shows: [], findings: findHoldFindings(exchange) }, this.#sandbox.name);
    const text = writeExchange(exchange);
    const args = [this.#born ?? '', `${number}`, text, this.#channelName, server, hold.ended ?? ''];
    if (found.findings.length > 0) args.push(JSON.stringify(found));
    try {
      await redis.eval(END_HOLD, this.#keys, args);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
  }

  /** Hears other servers from then on. */
  follow(): Promise<void> {
    if (this.#channel === undefined) {
      this.#latest = undefined;
      this.#channel = {
        name: this.#channelName,
        onMessage: (message) => void this.#hear(String(message)),
        onReady: () => void this.look(),
      };
      this.#followed = this.#context.redis.follow(this.#channel);
    }
    return this.#followed;
  }

  unfollow(): void {
    if (this.#channel !== undefined) this.#context.redis.unfollow(this.#channel);
    this.#channel = undefined;
  }

  /** A message only says that there is something to look for. */
  async #hear(message: string): Promise<void> {
    const [kind, server, number, why] = message.split(' ');
    if (kind === 'deleted') this.know(undefined);
    else if (kind === 'claim') await this.look();
    else if (server === this.#context.server) return;
    else if (kind === 'exchange') await this.look();
    else if (kind === 'edit') this.#sandbox.emit({ kind });
    else {
      const exchange = await this.find(Number(number)).catch(() => undefined);
      const ended = HOLD_ENDS.find((end) => end === why);
      if (exchange?.hold === undefined || ended === undefined) return;
      this.#sandbox.emit({
        kind: 'hold',
        exchange: { ...exchange, hold: { ...exchange.hold, ended } },
      });
    }
  }

  /** Looks for exchanges of other servers, and for replies held here that have to leave. */
  async look(): Promise<void> {
    this.#isRung = true;
    this.#looking ??= this.#lookAgain().finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
  }

  async #lookAgain(): Promise<void> {
    while (this.#isRung) {
      this.#isRung = false;
      const numbers = [...this.#holding];
      const from = (this.#latest ?? Number.MAX_SAFE_INTEGER - 1) + 1;
      // What cannot be read now is looked for when there is a connection again.
      const view = await this.#read(from, Number.MAX_SAFE_INTEGER, numbers).catch(() => undefined);
      if (view === undefined) return;
      this.#latest = view.number;
      for (const exchange of view.exchanges.values()) {
        this.#sandbox.emit({ kind: 'exchange', exchange });
      }
      for (const [index, number] of numbers.entries()) {
        const why = HOLD_ENDS.find((end) => end === view.whys[index]);
        if (why !== undefined) this.#sandbox.emit({ kind: 'release', why, exchanges: [number] });
      }
    }
  }

  async #read(from: number, to: number, holding: readonly number[] = []) {
    await this.#followed;
    const args = [from, to, ...holding].map(String);
    const reply = await this.#context.redis.eval(READ, this.#keys, args);
    const [born, number, cleared, size, first, texts, whys] = Array.isArray(reply)
      ? reply
      : [undefined, 0, 0, 0, 0, [], []];
    this.know(born);
    const exchanges = new Map<number, Exchange>();
    for (const [index, text] of texts.entries()) {
      const at = first + index;
      const exchange = this.#cache.get(at) ?? this.#restore(text, at);
      exchanges.set(at, exchange);
      this.#cache.add(exchange, text.length);
    }
    return { number, size, dropped: number - cleared - size, exchanges, whys };
  }

  /** A reply is no longer held if its server must have let it go, unless that died. */
  #restore(text: string, number: number): Exchange {
    const exchange = readExchange(text, number);
    const { hold } = exchange;
    const isDead = hold && hold.since + this.#context.maxHold + DEAD_HOLD_MS < Date.now();
    if (isDead) hold.ended ??= 'left';
    return exchange;
  }
}

/** The texts count exchanges from different numbers. */
export function readTotals(texts: readonly string[]): Totals {
  const totals = new Totals();
  for (const text of texts) {
    const [base = ''] = text.split(' ', 1);
    const state: TotalsState = JSON.parse(text.slice(base.length), (name, value) =>
      name === 'exchange' ? value + Number(base) : value,
    );
    totals.merge(state);
  }
  return totals;
}

export async function addUp(redis: RedisConnection, key: string): Promise<void> {
  const texts = await redis.list(key);
  const sum = `0 ${JSON.stringify(readTotals(texts))}`;
  await redis.eval(ADD_UP, [key], [texts[0] ?? '', `${texts.length}`, sum]);
}
