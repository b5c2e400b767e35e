import { Totals } from '../../sandbox/coverage.ts';
import {
  type Exchange,
  findHoldFindings,
  type HeldExchange,
  isHeld,
} from '../../sandbox/exchange.ts';
import { passes } from '../../sandbox/exchange-filter.ts';
import { FINDING_CODES, type Finding, type FindingCode } from '../../sandbox/report-shapes.ts';
import type {
  Emitter,
  Journal,
  JournalPage,
  JournalQuery,
  JournalSize,
  SandboxEvent,
} from '../../sandbox/storage.ts';
import { exchangeText, readExchange } from './parts.ts';
import type { Channel, RedisConnection } from './redis-connection.ts';
import { END_HOLD, keysOf, READ } from './scripts.ts';

/** Exchanges that one reply of Redis has at most. */
const PAGE = 50;

/** How long after `--max-hold` a hold disappears whose server has died. */
const DEAD_HOLD_MS = 60_000;

/** The journal of a sandbox in Redis, and what is told of it. */
export class RedisJournal implements Journal {
  /** Resolves once other servers' messages arrive. */
  followed: Promise<void> = Promise.resolve();
  readonly #name: string;
  readonly #redis: RedisConnection;
  readonly #maxHold: number;
  readonly #events: Emitter<SandboxEvent>;
  readonly #keys: ReturnType<typeof keysOf>;
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
    const all: Exchange[] = [];
    const lowest = Math.max(oldest, after + 1);
    for (let to = Math.min(number, before - 1); to >= lowest; to -= PAGE) {
      const { exchanges } = await this.#read(Math.max(lowest, to - PAGE + 1), to);
      all.push(...exchanges.reverse().filter((exchange) => passes(exchange, filter)));
    }
    // There can be more held replies than the journal keeps.
    if (filter.hold !== undefined || filter.held === true) {
      const older = (await this.held()).filter((held) => held.number < oldest).reverse();
      all.push(...older.filter((exchange) => passes(exchange, filter)));
    }
    const [first] = from === undefined ? [] : (await this.#read(oldest, oldest)).exchanges;
    const isSince = from !== undefined && from > (first?.at ?? Number.POSITIVE_INFINITY);
    const isComplete = dropped === 0 || after >= oldest - 1 || isSince;
    return { exchanges: all.slice(0, limit), total: all.length, dropped, number, isComplete };
  }

  async find(number: number): Promise<Exchange | undefined> {
    const [exchange] = (await this.#read(number, number)).exchanges;
    return exchange ?? (await this.held()).find((held) => held.number === number);
  }

  /** Nobody lists them in a fleet. */
  edits(): readonly never[] {
    return [];
  }

  async totals(): Promise<Totals> {
    return readTotals(fieldsOf(await this.#redis.run(['HGETALL', this.#keys.totals], 'reads')));
  }

  async held(): Promise<readonly HeldExchange[]> {
    const fields = fieldsOf(await this.#redis.run(['HGETALL', this.#keys.held], 'reads'));
    return fields
      .map(([number, text]) => this.#restore(text, Number(number)))
      .filter(isHeld)
      .filter(({ hold }) => hold.ended === undefined)
      .sort((one, other) => one.number - other.number);
  }

  /** What Redis does not take now, its age tells later. */
  async endHold(exchange: Exchange): Promise<void> {
    const { state, journal, held, totals } = this.#keys;
    const found = tally(this.#name, [
      { ...exchange, shows: [], findings: findHoldFindings(exchange) },
    ]);
    const args = [`${exchange.number}`, exchangeText(exchange), JSON.stringify(found)];
    const keys = [state, journal, held, totals];
    await this.#redis.eval(END_HOLD, 'reads', keys, args).catch(() => {});
  }

  remembered(): undefined {}

  lastEdit(): undefined {}

  /** Tells of what happens from now on, on whichever server. */
  follow(): Promise<void> {
    if (this.#following !== undefined) return this.followed;
    this.#latest = undefined;
    this.#following = {
      name: this.#redis.channelOf(this.#name),
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
        const exchange = readExchange(rest.slice(word.length + 1), Number(word));
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
    const { exchanges } = await this.#read(after + 1, number);
    for (const exchange of exchanges) this.#events.emit({ kind: 'exchange', exchange });
  }

  /** A reply is no longer held if its server must have let it go, unless that died. */
  #restore(text: string, number: number): Exchange {
    const exchange = readExchange(text, number);
    const { hold } = exchange;
    const isDead = hold && hold.since + this.#maxHold + DEAD_HOLD_MS < Date.now();
    if (isDead) hold.ended ??= 'left';
    return exchange;
  }

  /** Exchanges from one number to another, the oldest first. */
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

/** The fields of a hash, as a command or a script lists them. */
export function fieldsOf(reply: unknown): readonly (readonly [string, string])[] {
  if (!Array.isArray(reply)) return Object.entries(Object(reply));
  return reply.flatMap((field, at) => (at % 2 === 0 ? [[field, reply[at + 1]] as const] : []));
}

/** What the scripts count of an exchange: equal ones are one field. */
interface Shown {
  readonly shows: readonly string[];
  readonly by?: readonly string[];
  readonly upstream?: true;
  readonly codes: readonly FindingCode[];
}

/** The parts of a finding that its place does not have. */
type FindingJson = Omit<Finding, 'sandbox' | 'exchange' | 'advice'>;

/** What exchanges add to the totals of a sandbox, as the scripts take it. */
export function tally(name: string, exchanges: readonly Exchange[]) {
  const findings: (readonly [index: number, once: string, json: string])[] = [];
  const shown = exchanges.map((exchange, before) => {
    const { shows, basis, operation, method, target, findings: counted } = exchange;
    for (const { code, message } of counted) {
      const at = new Date(exchange.at).toISOString();
      // What every call of an operation causes is kept once.
      const once = code === 'deprecated' || code === 'experimental' ? code : '';
      findings.push([
        before + 1,
        once,
        JSON.stringify({ code, operation, method, target, at, message }),
      ]);
    }
    const key: Shown = {
      shows,
      ...(basis.kind === 'assumed' && { by: basis.by }),
      ...(basis.kind === 'upstream' && { upstream: true }),
      codes: counted.map(({ code }) => code),
    };
    return JSON.stringify(key);
  });
  return { name, shown, findings };
}

/** A place, and the finding there. */
const PLACED = /^(.*?)\/(\d+)(?:\/(\d+)\/(.*))?$/s;

/** Reads totals: those of sandboxes in turn, or of one. */
export function readTotals(fields: readonly (readonly [string, string])[]): Totals {
  const values = new Map(fields);
  const placed = fields.flatMap(([field, value]) => {
    const [place, sandbox = '', exchange, index = '0', json = ''] = PLACED.exec(value) ?? [];
    if (place === undefined) return [];
    return [{ field, sandbox, exchange: Number(exchange), index: Number(index), json }];
  });
  placed.sort((one, other) => one.exchange - other.exchange || one.index - other.index);
  const totals = new Totals();
  for (const { field, sandbox, exchange, json } of placed) {
    if (field.startsWith('f:')) {
      const { shows, by, upstream, codes }: Shown = JSON.parse(field.slice(2));
      const count = Number(values.get(`s:${field.slice(2)}`));
      const first = { sandbox, exchange };
      const reply = { count, first, ...(by && { by }), ...(upstream && { upstream: count }) };
      // A case is counted once.
      const shown = shows
        .filter((name, at) => at === 0 || !totals.hasShown(name))
        .map((name) => [name, name === shows[0] ? reply : { count: 1, first }] as const);
      const counts = Object.fromEntries(codes.map((code) => [code, count]));
      totals.merge({ shown, counts, findings: [] });
    } else {
      const found: FindingJson = JSON.parse(json);
      const finding = { ...found, sandbox, exchange, advice: FINDING_CODES[found.code] };
      totals.merge({ shown: [], counts: {}, findings: [finding] });
    }
  }
  return totals;
}
