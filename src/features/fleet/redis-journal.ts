import { Totals } from '../../core/sandbox/coverage.ts';
import {
  type Exchange,
  findHoldFindings,
  type HeldExchange,
  isHeld,
} from '../../core/sandbox/exchange.ts';
import {
  type Emitter,
  includesHeld,
  type Journal,
  type JournalPage,
  type JournalQuery,
  type JournalSize,
  type SandboxEvent,
  selectExchanges,
} from '../../core/sandbox/storage.ts';
import { parseExchange, writeExchange } from './parts.ts';
import type { Channel, RedisConnection } from './redis-connection.ts';
import { END_HOLD, READ, type RedisHash, sandboxKeys } from './scripts.ts';

/** Exchanges that one reply of Redis has: a slow connection must not be silent for long. */
const PAGE = 100;

/** How long after `--max-hold` a hold disappears whose server has died. */
const DEAD_HOLD_MS = 60_000;

export class RedisJournal implements Journal {
  /** Resolves once other servers' messages arrive. */
  followed: Promise<void> = Promise.resolve();
  readonly #name: string;
  readonly #redis: RedisConnection;
  readonly #maxHold: number;
  readonly #events: Emitter<SandboxEvent>;
  readonly #keys: ReturnType<typeof sandboxKeys>;
  #following: Channel | undefined;
  /** The number of the latest exchange that was told of; undefined before the first one. */
  #latest: number | undefined;

  constructor(
    name: string,
    redis: RedisConnection,
    maxHold: number,
    events: Emitter<SandboxEvent>,
  ) {
    this.#name = name;
    this.#redis = redis;
    this.#maxHold = maxHold;
    this.#events = events;
    this.#keys = sandboxKeys(name);
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

  edits(): readonly never[] {
    return [];
  }

  async totals(): Promise<Totals> {
    return parseTotals(parseFields(await this.#redis.run(['HGETALL', this.#keys.totals], 'reads')));
  }

  async held(): Promise<readonly HeldExchange[]> {
    const fields = parseFields(await this.#redis.run(['HGETALL', this.#keys.held], 'reads'));
    return Object.entries(fields)
      .map(([number, text]) => this.#restore(text, Number(number)))
      .filter(isHeld)
      .filter(({ hold }) => hold.ended === undefined)
      .sort((one, other) => one.number - other.number);
  }

  /** What Redis does not take now, its age tells later. */
  async endHold(exchange: Exchange): Promise<void> {
    const { state, journal, held, totals } = this.#keys;
    const found = new Totals();
    found.add({ ...exchange, shows: [], findings: findHoldFindings(exchange) }, this.#name);
    const args = [`${exchange.number}`, writeExchange(exchange), JSON.stringify(found)];
    const keys = [state, journal, held, totals];
    await this.#redis.eval(END_HOLD, 'reads', keys, args).catch(() => {});
  }

  remembered(): undefined {}

  lastEdit(): undefined {}

  follow(): Promise<void> {
    if (this.#following !== undefined) return this.followed;
    this.#latest = undefined;
    this.#following = {
      name: this.#redis.channelName(this.#name),
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

  #tell(message: string): void {
    const [kind = '', word = ''] = message.split(' ', 2);
    const rest = message.slice(kind.length + 1);
    switch (kind) {
      case 'exchange':
      case 'hold': {
        const exchange = parseExchange(rest.slice(word.length + 1), Number(word));
        if (kind === 'exchange') this.#latest = exchange.number;
        this.#events.emit({ kind, exchange });
        break;
      }
      case 'release':
        this.#events.emit({ kind, ...JSON.parse(rest) });
        break;
      case 'edit':
      case 'deleted':
        this.#events.emit({ kind });
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
      this.#events.emit({ kind: 'deleted' });
      return;
    }
    const { exchanges } = await this.#read(after + 1, number);
    for (const exchange of exchanges) this.#events.emit({ kind: 'exchange', exchange });
  }

  /** A reply is no longer held if its server must have let it go, unless that died. */
  #restore(text: string, number: number): Exchange {
    const exchange = parseExchange(text, number);
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
      this.#restore(text, first + index),
    );
    return {
      number: Number(number),
      size: Number(size),
      dropped: number - cleared - size,
      exchanges,
    };
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
