import { DEFAULTS } from '../../core/limits.ts';
import type { Platform } from '../../core/platform.ts';
import type { Totals } from '../../core/sandbox/coverage.ts';
import {
  type Exchange,
  type ExchangeWithHold,
  findHoldFindings,
  HOLD_ENDS,
  type HoldEnd,
  isHeld,
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
import { steadyNow } from '../../core/service/clock.ts';
import { readTotals, writeTotals } from './fleet-totals.ts';
import type { FleetOptions } from './options.ts';
import type { Channel, RedisConnection } from './redis-connection.ts';
import { CLAIM_HOLDS, END_HOLD, READ_SIZE, type Script, sandboxKey } from './scripts.ts';
import { readExchange, writeExchange } from './stored-exchange.ts';

/** Limits a reply of Redis, in exchanges: over a slow connection, more would look like silence. */
const PAGE = { heads: 500, whole: 200 };

/** How many heads a server caches. */
const MAX_CACHED = 10_000;

/** How long after `--max-hold` the holds of a crashed server disappear. */
const DEAD_HOLD_MS = 60_000;

/** What all sandboxes of a server share. */
export interface FleetContext {
  readonly redis: RedisConnection;
  /** The id of this server, by which it recognizes its own messages and updates. */
  readonly server: string;
  readonly options: FleetOptions;
  readonly ttl: number;
  readonly maxSandboxes: number;
  readonly platform: Platform;
  readonly updateScript: Script;
  readonly counts: { calls: number; conflicts: number };
  /** The heads of exchanges in the journal that was read last. */
  readonly cache: { of: string; heads: Map<number, Exchange> };
}

export class FleetJournal implements JournalReader {
  readonly #sandbox: Sandbox;
  readonly #context: FleetContext;
  readonly #channel: Channel;
  /** Identifies the sandbox among earlier and later ones with the same name. */
  #generation = '';
  /** The exchanges whose replies this server holds. */
  readonly #holding = new Set<number>();
  /** Resolves once this server is subscribed to messages of the others. */
  #followed: Promise<void> | undefined;
  /** The number of the last exchange that listeners were told of; undefined before the first. */
  #latest: number | undefined;
  #catchingUp: Promise<void> | undefined;
  #hasNews = false;

  constructor(sandbox: Sandbox, context: FleetContext) {
    this.#sandbox = sandbox;
    this.#context = context;
    this.#channel = {
      name: this.#key('state'),
      onMessage: (message) => void this.#hear(String(message)),
      onReady: () => void this.catchUp(),
    };
  }

  get isHolding(): boolean {
    return this.#holding.size > 0;
  }

  #key(part: string): string {
    return sandboxKey(this.#context.redis.prefix, this.#sandbox.name, part);
  }

  hold(number: number): void {
    this.#holding.add(number);
  }

  /** @param generation empty if the sandbox does not exist */
  noteGeneration(generation: string): void {
    if (generation === this.#generation) return;
    const isReplaced = this.#generation !== '';
    this.#generation = generation;
    this.#holding.clear();
    if (!isReplaced) return;
    this.#latest = 0;
    this.#sandbox.emit({ kind: 'deleted' });
  }

  async size(): Promise<JournalSize> {
    await this.#followed;
    const reply = await this.#context.redis.eval(READ_SIZE, [this.#sandbox.name]);
    const [generation = '', number = 0, cleared = 0, size = 0] = Array.isArray(reply) ? reply : [];
    this.noteGeneration(generation);
    return { number, size, dropped: number - cleared - size };
  }

  async select(query: JournalQuery): Promise<JournalPage> {
    const { filter = {}, limit = Number.POSITIVE_INFINITY, heads = false } = query;
    const size = await this.size();
    const isFiltered = Object.values(filter).some((wanted) => wanted !== undefined);
    const first = size.number - size.size + 1;
    const newest = Math.min(size.number, filter.before ?? size.number);
    const oldest = Math.max(first, (filter.after ?? 0) + 1, isFiltered ? 0 : newest - limit + 1);
    const looksForWords = filter.text !== undefined || filter.search !== undefined;
    const numbers = Array.from({ length: newest - oldest + 1 }, (_, index) => newest - index);
    const exchanges = await (looksForWords ? this.#read(numbers) : this.#readHeads(numbers));
    const held = includesHeld(query) ? await this.held() : [];
    const page = selectExchanges(size, exchanges, held, query);
    const total = isFiltered ? page.total : size.size;
    if (heads || looksForWords) return { ...page, total };
    const whole = await this.#read(page.exchanges.map(({ number }) => number));
    const found = new Map([...page.exchanges, ...whole].map((it) => [it.number, it]));
    return { ...page, total, exchanges: [...found.values()] };
  }

  async find(number: number): Promise<Exchange | undefined> {
    const [exchange] = await this.#read([number]);
    return exchange ?? (await this.held()).find((held) => held.number === number);
  }

  async #read(numbers: readonly number[]): Promise<readonly Exchange[]> {
    const fields = numbers.flatMap((number) => [`${number}`, `b${number}`]);
    const texts = await this.#texts(fields, PAGE.whole);
    return numbers.flatMap((number, index) => {
      const [head, rest] = texts.slice(2 * index, 2 * index + 2);
      return typeof head === 'string' ? this.#restore(number, head, rest) : [];
    });
  }

  /** Reads heads, and caches those of the latest journal, because tests count repeatedly. */
  async #readHeads(numbers: readonly number[]): Promise<readonly Exchange[]> {
    const { cache } = this.#context;
    const of = `${this.#sandbox.name} ${this.#generation}`;
    if (cache.of !== of || cache.heads.size > MAX_CACHED) {
      Object.assign(cache, { of, heads: new Map() });
    }
    const { heads } = cache;
    const missing = numbers.filter((number) => !heads.has(number));
    const texts = await this.#texts(missing.map(String), PAGE.heads);
    const held = new Map<number, Exchange>();
    for (const [index, number] of missing.entries()) {
      const text = texts[index];
      if (typeof text !== 'string') continue;
      const head = this.#restore(number, text);
      (head.hold === undefined ? heads : held).set(number, head);
    }
    return numbers.flatMap((number) => heads.get(number) ?? held.get(number) ?? []);
  }

  async #texts(fields: readonly string[], size: number): Promise<readonly (string | undefined)[]> {
    const texts: (string | undefined)[] = [];
    for (let at = 0; at < fields.length; at += size) {
      const command = ['HMGET', this.#key('journal'), ...fields.slice(at, at + size)];
      const reply = await this.#context.redis.run(command);
      for (const text of Array.isArray(reply) ? reply : []) texts.push(text ?? undefined);
    }
    return texts;
  }

  async totals(): Promise<Totals> {
    return readTotals(this.#context.redis, this.#sandbox.name);
  }

  async held(): Promise<readonly ExchangeWithHold[]> {
    const reply = await this.#context.redis.run(['HGETALL', this.#key('held')]);
    return Object.entries<string>(Object(reply))
      .map(([number, text]) => this.#restore(Number(number), ...text.split('\n')))
      .filter(isHeld)
      .sort((one, other) => one.number - other.number);
  }

  /** Claims the first holds that no server has claimed yet. Their servers then send the replies. */
  async claim(due: readonly ExchangeWithHold[], count: number, why: HoldEnd) {
    const { redis, ttl } = this.#context;
    const numbers = due.map(({ number }) => `${number}`);
    const args = [this.#sandbox.name, this.#generation, why, `${count}`, `${ttl}`, ...numbers];
    const reply = await redis.eval(CLAIM_HOLDS, args, { once: true });
    const [claimed, held] = Array.isArray(reply) ? reply : [[], 0];
    return { claimed: new Set(Array.from<string, number>(claimed, Number)), held: Number(held) };
  }

  /** Ends a hold in Redis. If Redis is unavailable, the hold expires there. */
  async endHold(exchange: ExchangeWithHold): Promise<void> {
    const { redis, server } = this.#context;
    const { number } = exchange;
    const { name } = this.#sandbox;
    if (!this.#holding.delete(number)) return;
    const [head] = writeExchange(exchange);
    const found = { ...exchange, covers: [], findings: findHoldFindings(exchange) };
    const totals = writeTotals([found], name, number);
    try {
      await redis.eval(END_HOLD, [name, this.#generation, `${number}`, head, server, totals]);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
  }

  /** Resolves once this server receives messages of the others. */
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

  /** Handles a message. It does not say what is new, only that something is. */
  async #hear(message: string): Promise<void> {
    const [kind, server, number] = message.split(' ');
    if (kind === 'deleted') this.noteGeneration('');
    else if (server === this.#context.server) return;
    else if (kind === 'edit') this.#sandbox.emit({ kind });
    else if (kind !== 'hold') await this.catchUp();
    else {
      const exchange = await this.find(Number(number)).catch(() => undefined);
      if (exchange !== undefined) this.#sandbox.emit({ kind, exchange });
    }
  }

  /** Finds exchanges of other servers, and replies held here that have been released. */
  async catchUp(): Promise<void> {
    this.#hasNews = true;
    // After a failure, it runs again when there is a connection.
    this.#catchingUp ??= this.#takeNews()
      .catch(() => {})
      .finally(() => {
        this.#catchingUp = undefined;
      });
    await this.#catchingUp;
  }

  async #takeNews(): Promise<void> {
    while (this.#hasNews) {
      this.#hasNews = false;
      const { number: latest, size } = await this.size();
      const told = Math.max(this.#latest ?? latest, latest - size);
      const numbers = Array.from({ length: latest - told }, (_, index) => told + index + 1);
      const exchanges = await this.#read(numbers);
      this.#latest = latest;
      for (const exchange of exchanges) this.#sandbox.emit({ kind: 'exchange', exchange });
      const holding = [...this.#holding];
      if (holding.length === 0) continue;
      const command = ['HMGET', this.#key('claims'), ...holding.map(String)];
      const whys = await this.#context.redis.run(command);
      for (const [index, number] of holding.entries()) {
        const why = HOLD_ENDS.find((end) => Array.isArray(whys) && end === whys[index]);
        if (why !== undefined) this.#sandbox.emit({ kind: 'release', why, exchanges: [number] });
      }
    }
  }

  /** A hold past its limit counts as ended, since its server must have crashed. */
  #restore(number: number, head = '', rest?: string): Exchange {
    const exchange = readExchange(number, head, rest);
    const { hold } = exchange;
    const { maxHold = DEFAULTS.maxHold } = this.#context.options;
    const isDead = hold && hold.since + maxHold + DEAD_HOLD_MS < steadyNow();
    return isDead ? { ...exchange, hold: { ended: 'left', ...hold } } : exchange;
  }
}
