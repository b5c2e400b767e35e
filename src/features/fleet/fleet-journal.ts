import { Totals } from '../../core/sandbox/coverage.ts';
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
import { readExchange, writeExchange } from './exchange-text.ts';
import type { FleetContext } from './fleet-context.ts';
import type { Channel, RedisConnection } from './redis-connection.ts';
import { ADD_UP, CLAIM, END_HOLD, READ, type SandboxKeys } from './scripts.ts';

/** Exchanges that one reply of Redis has, whole or their heads: a slow connection must not be silent for long. */
const PAGE = { all: 100, heads: 500 };

/** Heads that a server caches. */
const MAX_CACHED = 10_000;

/** How long after `--max-hold` a hold disappears whose server has died. */
const DEAD_HOLD_MS = 60_000;

/** Totals that wait to be added up. */
const MAX_ADDED = 64;

/** The journal of a sandbox in Redis. */
export class FleetJournal implements JournalReader {
  readonly #keys: readonly string[];
  readonly #totals: string;
  readonly #held: string;
  readonly #sandbox: Sandbox;
  readonly #context: FleetContext;
  readonly #channel: Channel;
  /** Tells the sandbox from others of its name, before and after it. */
  #born: string | undefined;
  /** Replies that this server holds back. */
  readonly #holding = new Set<number>();
  /** Resolves once other servers' messages arrive. */
  #followed: Promise<void> | undefined;
  /** The latest exchange that was told of; undefined before the first look. */
  #latest: number | undefined;
  #looking: Promise<void> | undefined;
  #isRung = false;

  constructor(sandbox: Sandbox, keys: SandboxKeys, context: FleetContext) {
    this.#sandbox = sandbox;
    this.#context = context;
    this.#keys = Object.values(keys);
    this.#totals = keys.totals;
    this.#held = keys.held;
    this.#channel = {
      name: keys.state,
      onMessage: (message) => void this.#hear(String(message)),
      onReady: () => void this.look(),
    };
  }

  get isHolding(): boolean {
    return this.#holding.size > 0;
  }

  hold(number: number): void {
    this.#holding.add(number);
  }

  know(born: string | undefined): void {
    if (born === this.#born) return;
    const isReplaced = this.#born !== undefined;
    this.#born = born;
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
    const { filter = {}, limit = Number.POSITIVE_INFINITY, heads = false } = query;
    const size = await this.size();
    const isFiltered = Object.values(filter).some((wanted) => wanted !== undefined);
    const first = size.number - size.size + 1;
    const newest = Math.min(size.number, filter.before ?? size.number);
    const oldest = Math.max(first, (filter.after ?? 0) + 1, isFiltered ? 0 : newest - limit + 1);
    const isInBody = filter.text !== undefined || filter.search !== undefined;
    const part = (isFiltered || heads) && !isInBody ? 'heads' : 'all';
    const exchanges: Exchange[] = [];
    for (let to = newest; to >= oldest; to -= PAGE[part]) {
      exchanges.push(...(await this.#list(Math.max(oldest, to - PAGE[part] + 1), to, part)));
    }
    if (!isFiltered) {
      const { number, dropped, size: total } = size;
      return { number, dropped, total, exchanges, isComplete: dropped === 0 };
    }
    const held = includesHeld(query) ? await this.held() : [];
    const page = selectExchanges(size, exchanges, held, query);
    if (heads || isInBody) return page;
    const whole = page.exchanges.map(async (it) => (await this.find(it.number)) ?? it);
    return { ...page, exchanges: await Promise.all(whole) };
  }

  /** The newest first. Heads of the journal that was read last are not read again: tests count again and again. */
  async #list(from: number, to: number, part: keyof typeof PAGE): Promise<readonly Exchange[]> {
    const { cache } = this.#context;
    const of = `${this.#sandbox.name} ${this.#born}`;
    if (cache.of !== of || cache.heads.size > MAX_CACHED) {
      Object.assign(cache, { of, heads: new Map() });
    }
    const { heads } = cache;
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => to - index);
    const wanted = part === 'all' ? numbers : numbers.filter((number) => !heads.has(number));
    const [newest] = wanted;
    if (newest === undefined) return numbers.flatMap((number) => heads.get(number) ?? []);
    const { exchanges } = await this.#read(wanted.at(-1) ?? newest, newest, part);
    if (part === 'heads') {
      for (const [number, it] of exchanges) if (it.hold === undefined) heads.set(number, it);
    }
    return numbers.flatMap((number) => exchanges.get(number) ?? heads.get(number) ?? []);
  }

  async find(number: number): Promise<Exchange | undefined> {
    const { exchanges } = await this.#read(number, number);
    return exchanges.get(number) ?? (await this.held()).find((held) => held.number === number);
  }

  async totals(): Promise<Totals> {
    return readTotals(await this.#context.redis.list(this.#totals));
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
    const args = [this.#born ?? '', why, `${count}`, `${ttl}`, ...numbers];
    const reply = await redis.eval(CLAIM, this.#keys, args, { once: true });
    const [claimed, held] = Array.isArray(reply) ? reply : [[], 0];
    return { claimed: new Set(Array.from<string, number>(claimed, Number)), held: Number(held) };
  }

  /** What Redis does not take now, its age tells later. */
  async endHold(exchange: HeldExchange): Promise<void> {
    const { redis, server } = this.#context;
    const { number } = exchange;
    const { name } = this.#sandbox;
    if (!this.#holding.delete(number)) return;
    const found = { ...exchange, shows: [], findings: findHoldFindings(exchange) };
    const texts = [writeExchange(exchange), server, name, writeTotals([found], name, number)];
    try {
      await redis.eval(END_HOLD, this.#keys, [this.#born ?? '', `${number}`, ...texts]);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
  }

  /** Hears other servers from then on. */
  follow(): Promise<void> {
    if (this.#followed === undefined) {
      this.#latest = undefined;
      this.#followed = this.#context.redis.follow(this.#channel);
    }
    return this.#followed;
  }

  unfollow(): void {
    if (this.#followed !== undefined) this.#context.redis.unfollow(this.#channel);
    this.#followed = undefined;
  }

  /** A message only says that there is something to look for. */
  async #hear(message: string): Promise<void> {
    const [kind, server, number] = message.split(' ');
    if (kind === 'deleted') this.know(undefined);
    else if (server === this.#context.server) return;
    else if (kind === 'edit') this.#sandbox.emit({ kind });
    else if (kind !== 'hold') await this.look();
    else {
      const exchange = await this.find(Number(number)).catch(() => undefined);
      if (exchange !== undefined) this.#sandbox.emit({ kind, exchange });
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
      const view = await this.#read(from, Number.MAX_SAFE_INTEGER, 'all', numbers).catch(
        () => undefined,
      );
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

  /** The oldest first. */
  async #read(
    from: number,
    to: number,
    part: keyof typeof PAGE = 'all',
    holding: readonly number[] = [],
  ) {
    await this.#followed;
    const args = [`${from}`, `${to}`, part, ...holding.map(String)];
    const reply = await this.#context.redis.eval(READ, this.#keys, args);
    const [born, number, cleared, size, first, texts, whys] = Array.isArray(reply)
      ? reply
      : [undefined, 0, 0, 0, 0, [], []];
    this.know(born);
    const exchanges = new Map<number, Exchange>();
    for (const [index, text] of texts.entries()) {
      exchanges.set(first + index, this.#restore(text, first + index));
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

/**
 * What exchanges add; empty if it is nothing.
 *
 * @param first their first number; Redis adds that of the exchange before an update
 */
export function writeTotals(
  exchanges: readonly Exchange[],
  sandbox: string,
  first: number,
): string {
  const totals = new Totals();
  for (const [index, exchange] of exchanges.entries()) {
    const { shows, findings } = exchange;
    if (shows.length + findings.length === 0) continue;
    totals.add({ ...exchange, number: first + index }, sandbox);
  }
  return totals.shown.length + totals.findings.length === 0 ? '' : JSON.stringify(totals);
}

export function readTotals(texts: readonly string[]): Totals {
  const totals = new Totals();
  for (const text of texts) totals.merge(JSON.parse(text));
  return totals;
}

/** If it has many texts, puts what they add up to in their place. */
export function addUp(redis: RedisConnection, key: string, count: unknown): void {
  if (Number(count) < MAX_ADDED) return;
  const sum = async () => {
    const texts = await redis.list(key);
    const args = [texts[0] ?? '', `${texts.length}`, JSON.stringify(readTotals(texts))];
    await redis.eval(ADD_UP, [key], args);
  };
  sum().catch(() => {});
}
