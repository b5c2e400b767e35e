import { Totals } from '../../core/sandbox/coverage.ts';
import {
  type Exchange,
  findHoldFindings,
  type HeldExchange,
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
import { parseExchange, writeExchange } from './parts.ts';
import type { Channel, RedisConnection } from './redis-connection.ts';
import { END_HOLD, READ, type RedisHash, sandboxKeys } from './scripts.ts';

/** Exchanges that one reply of Redis has: a slow connection must not be silent for long. */
const PAGE = 100;

/** How long after `--max-hold` a hold disappears whose server has died. */
const DEAD_HOLD_MS = 60_000;

export class RedisJournal implements JournalReader {
  /** Resolves once other servers' messages arrive. */
  followed: Promise<void> = Promise.resolve();
  /** By which this server knows its own messages. */
  readonly #server: string;
  readonly #sandbox: Sandbox;
  readonly #redis: RedisConnection;
  readonly #maxHold: number;
  readonly #channel: string;
  readonly #keys: ReturnType<typeof sandboxKeys>;
  #following: Channel | undefined;
  /** The number of the latest exchange that was told of; undefined before the first one. */
  #latest: number | undefined;

  constructor(server: string, sandbox: Sandbox, redis: RedisConnection, maxHold: number) {
    this.#server = server;
    this.#sandbox = sandbox;
    this.#redis = redis;
    this.#maxHold = maxHold;
    this.#channel = redis.channelName(sandbox.name);
    this.#keys = sandboxKeys(sandbox.name);
  }

  async size(): Promise<JournalSize> {
    const { number, size, dropped } = await this.#read(1, 0);
    return { number, size, dropped };
  }

  async select(query: JournalQuery): Promise<JournalPage> {
    const { filter = {} } = query;
    const size = await this.size();
    const oldest = Math.max(size.number - size.size, filter.after ?? 0) + 1;
    const exchanges: Exchange[] = [];
    for (let to = Math.min(size.number, filter.before ?? size.number); to >= oldest; to -= PAGE) {
      const page = await this.#read(Math.max(oldest, to - PAGE + 1), to);
      exchanges.push(...page.exchanges.reverse());
    }
    const held = includesHeld(query) ? await this.held() : [];
    return selectExchanges(size, exchanges, held, query);
  }

  async find(number: number): Promise<Exchange | undefined> {
    const [exchange] = (await this.#read(number, number)).exchanges;
    return exchange ?? (await this.held()).find((held) => held.number === number);
  }

  async totals(): Promise<Totals> {
    return parseTotals(parseFields(await this.#redis.run(['HGETALL', this.#keys.totals], 'reads')));
  }

  async held(): Promise<readonly HeldExchange[]> {
    const fields = parseFields(await this.#redis.run(['HGETALL', this.#keys.held], 'reads'));
    return Object.entries(fields)
      .map(([number, text]) => this.#restore(text, Number(number), this.#keys.held))
      .filter(isHeld)
      .filter(({ hold }) => hold.ended === undefined)
      .sort((one, other) => one.number - other.number);
  }

  /** What Redis does not take now, its age tells later. */
  async endHold(exchange: HeldExchange): Promise<void> {
    const { state, journal, held, totals } = this.#keys;
    const found = new Totals();
    found.add({ ...exchange, shows: [], findings: findHoldFindings(exchange) }, this.#sandbox.name);
    const text = writeExchange(exchange);
    const args = [`${exchange.number}`, text, JSON.stringify(found)];
    try {
      await this.#redis.eval(END_HOLD, 'reads', [state, journal, held, totals], args);
      await this.publish('hold', text, exchange.number);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
  }

  /** The scripts tell of exchanges, edits and deletions. */
  async publish(kind: 'hold' | 'release', text: string, number = 0): Promise<void> {
    await this.followed;
    const message = `${kind} ${number} ${this.#server} ${text}`;
    await this.#redis.run(['PUBLISH', this.#channel, message], 'reads');
  }

  follow(): Promise<void> {
    if (this.#following !== undefined) return this.followed;
    this.#latest = undefined;
    this.#following = {
      name: this.#channel,
      onMessage: (message) => this.#tell(String(message)),
      onReady: () => void this.#tellMissed().catch(() => {}),
    };
    this.followed = this.#redis.follow(this.#following);
    return this.followed;
  }

  unfollow(): void {
    if (this.#following !== undefined) this.#redis.unfollow(this.#following);
    this.#following = undefined;
  }

  /** Of what the other servers do: their messages are `KIND NUMBER SERVER TEXT`. */
  #tell(message: string): void {
    const [kind = '', number = '', server = ''] = message.split(' ', 3);
    const text = message.slice(`${kind} ${number} ${server} `.length);
    if (kind === 'exchange') this.#latest = Number(number);
    if (server === this.#server) return;
    switch (kind) {
      case 'exchange':
      case 'hold':
        this.#sandbox.emit({ kind, exchange: parseExchange(text, Number(number)) });
        break;
      case 'release':
        this.#sandbox.emit({ kind, ...JSON.parse(text) });
        break;
      case 'edit':
      case 'deleted':
        this.#sandbox.emit({ kind });
    }
  }

  /** Tells of exchanges that came while the connection was lost. Those after them may be told of twice. */
  async #tellMissed(): Promise<void> {
    const after = this.#latest;
    const { number } = await this.#read(1, 0);
    this.#latest ??= number;
    if (after === undefined) return;
    if (number < after) {
      this.#latest = number;
      this.#sandbox.emit({ kind: 'deleted' });
      return;
    }
    const { exchanges } = await this.#read(after + 1, number);
    for (const exchange of exchanges) this.#sandbox.emit({ kind: 'exchange', exchange });
  }

  /** A reply is no longer held if its server must have let it go, unless that died. */
  #restore(text: string, number: number, key: string): Exchange {
    const exchange = readValue(key, () => parseExchange(text, number));
    const { hold } = exchange;
    const isDead = hold && hold.since + this.#maxHold + DEAD_HOLD_MS < Date.now();
    if (isDead) hold.ended ??= 'left';
    return exchange;
  }

  async #read(from: number, to: number) {
    await this.followed;
    const { state, journal } = this.#keys;
    const reply = await this.#redis.eval(READ, 'reads', [state, journal], [`${from}`, `${to}`]);
    const [number, cleared, size, first, texts] = Array.isArray(reply) ? reply : [0, 0, 0, 0, []];
    const exchanges: Exchange[] = texts.map((text: string, index: number) =>
      this.#restore(text, first + index, journal),
    );
    return {
      number: Number(number),
      size: Number(size),
      dropped: number - cleared - size,
      exchanges,
    };
  }
}

/** Whoever has written it, it was no server of this fleet. */
export function spoiltError(key: string, error: unknown): StorageError {
  const why = error instanceof Error ? error.message : String(error);
  return new StorageError(
    `Redis has a value in ${key} that cannot be read (${why}): reset the sandbox, or delete the key`,
  );
}

export function readValue<T>(key: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw spoiltError(key, error);
  }
}

export function parseFields(reply: unknown): RedisHash {
  return Object(reply);
}

export function parseTotals(fields: RedisHash): Totals {
  const named = (prefix: string) =>
    Object.entries(fields).flatMap(([field, value]) =>
      field.startsWith(prefix) ? [[field.slice(prefix.length), value] as const] : [],
    );
  const assumptions = named('by:').map(([field]) => field.split(/ (.*)/));
  return new Totals({
    shown: named('shown:').map(([key, count]) => {
      const [sandbox = '', exchange] = fields[`first:${key}`]?.split('/') ?? [];
      const by = assumptions.flatMap(([id = '', name]) => (name === key ? [id] : []));
      const upstream = fields[`upstream:${key}`];
      return [
        key,
        {
          count: Number(count),
          first: { sandbox, exchange: Number(exchange) },
          ...(by.length > 0 && { by }),
          ...(upstream !== undefined && { upstream: Number(upstream) }),
        },
      ];
    }),
    counts: Object.fromEntries(named('count:').map(([code, count]) => [code, Number(count)])),
    findings: named('finding:')
      .sort(([one], [other]) => Number(one) - Number(other))
      .map(([, json]) => JSON.parse(json)),
  });
}
