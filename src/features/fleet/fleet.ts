import { DEFAULTS, PERMANENT_SANDBOXES } from '../../core/limits.ts';
import type { Outcome } from '../../core/sandbox/answer.ts';
import { Totals } from '../../core/sandbox/coverage.ts';
import { isHeld } from '../../core/sandbox/exchange.ts';
import { MemoryBudget } from '../../core/sandbox/memory-budget.ts';
import type { Sandbox } from '../../core/sandbox/sandbox.ts';
import type { Sandboxes } from '../../core/sandbox/sandboxes.ts';
import { StorageError } from '../../core/sandbox/storage-error.ts';
import type { Start } from '../../core/scenario/sandbox-start.ts';
import type { KeeperContext } from '../../server/feature.ts';
import { NODE_PLATFORM } from '../../server/node-platform.ts';
import type { Keeper } from '../../server/open-sandboxes.ts';
import type { BaseOptions } from '../../server/options.ts';
import type { ServerPersistence } from '../../server/persistence/persistence.ts';
import { parseRedisAddress, REDIS_ADDRESS_FORM } from './address.ts';
import { type FleetContext, fleetPrefix } from './fleet-context.ts';
import { addUp, MAX_ADDED, readTotals } from './fleet-journal.ts';
import { FleetSandbox } from './fleet-sandbox.ts';
import type { FleetOptions } from './options.ts';
import { RedisConnection } from './redis-connection.ts';
import { BEAT, DELETE, fleetKeys, sandboxKeys, UNUSED, updateScript } from './scripts.ts';

const DAY_MS = 86_400_000;

/** How often a server gives a sign of life, and keeps what it uses. */
const BEAT_MS = 5_000;

const DRAIN_MS = 2_000;

/** How long `health` tells of a loss. */
const NOTICE_MS = 60_000;

/** Of the journal of a sandbox. */
const MAX_JOURNAL_BYTES = 16 * 1024 * 1024;

/** Sandboxes that are read at once, so that nobody waits for all of them. */
const PAGE = 500;

/** Joins the servers of a fleet. @throws StorageError */
export async function joinFleet(
  url: string,
  options: BaseOptions & FleetOptions,
  { start, upstream }: KeeperContext,
): Promise<Keeper> {
  const address = parseRedisAddress(url);
  if (address === undefined) throw new StorageError(`shared: expected ${REDIS_ADDRESS_FORM}`);
  const { fleetTtl: ttl = DAY_MS, journal: capacity = DEFAULTS.journal } = options;
  const prefix = fleetPrefix(`${address.name}:${address.database}`, start, options, upstream);
  const redis = new RedisConnection(address, options.onNotice);
  const context: FleetContext = {
    redis,
    server: crypto.randomUUID(),
    ttl,
    capacity,
    maxHold: options.maxHold ?? DEFAULTS.maxHold,
    maxSandboxes: options.maxSandboxes ?? DEFAULTS.maxSandboxes,
    platform: NODE_PLATFORM,
    memory: new MemoryBudget(),
    fleetKeys: fleetKeys(prefix),
    sandboxKeys: (name) => sandboxKeys(prefix, name),
    updateScript: updateScript(ttl, capacity, MAX_JOURNAL_BYTES),
    counts: { calls: 0, conflicts: 0 },
  };
  const fleet = new Fleet(prefix, context, options);
  try {
    await fleet.beat();
  } catch (error) {
    redis.close();
    throw error;
  }
  return fleet;
}

/** Keeps the sandboxes of all servers in Redis. */
class Fleet implements Keeper, ServerPersistence {
  readonly isShared = true;
  readonly forgets =
    'servers that share sandboxes (--shared) keep no earlier states and have one start for all sandboxes';
  readonly #prefix: string;
  readonly #context: FleetContext;
  readonly #options: BaseOptions & FleetOptions;
  readonly #opened = new WeakMap<Sandbox, FleetSandbox>();
  readonly #served = new Totals();
  /** Ends of holds that Redis does not have yet. */
  readonly #ending = new Set<Promise<void>>();
  readonly #stopBeating: () => void;
  #sandboxes: Sandboxes | undefined;
  #token: string;
  #servers = 0;
  #size = 0;
  #isDraining = false;
  #loss = { text: '', until: 0 };

  constructor(prefix: string, context: FleetContext, options: BaseOptions & FleetOptions) {
    this.#prefix = prefix;
    this.#context = context;
    this.#options = options;
    this.#token = crypto.randomUUID();
    const beat = () => void this.beat().catch(() => {});
    context.redis.onConnected = beat;
    this.#stopBeating = context.platform.every(BEAT_MS, beat);
  }

  /** Tells the other servers of this one, and looks whether Redis still has the fleet. */
  async beat(): Promise<void> {
    const { redis, server, ttl, fleetKeys: keys } = this.#context;
    // The token stays, and what follows it tells the data of Redis from what it had before a loss.
    const args = [server, `${ttl}`, `${this.controlToken} ${crypto.randomUUID()}`];
    const reply = await redis.eval(BEAT, Object.values(keys), args);
    const [token, servers, size] = Array.isArray(reply) ? reply : [];
    const isFirst = this.#servers === 0;
    this.#servers = Number(servers);
    if (!isFirst && token !== this.#token) this.#tellLoss();
    this.#token = String(token);
    this.#size = Number(size);
    await this.#touchUsed();
  }

  #tellLoss(): void {
    const text = `${this.#context.redis.address.shown} has lost its data: ${this.#size} sandboxes start anew`;
    this.#loss = { text, until: performance.now() + NOTICE_MS };
    this.#options.onNotice?.(text);
  }

  async #touchUsed(): Promise<void> {
    const used = [...(this.#sandboxes ?? [])].filter(({ unused }) => unused === 0);
    await Promise.all(used.map((sandbox) => this.of(sandbox).touch()));
  }

  open(sandboxes: Sandboxes): this {
    this.#sandboxes = sandboxes;
    sandboxes.events.add(({ kind, sandbox, exchange }) => {
      if (kind === 'exchange') this.#served.add(exchange, sandbox.name);
      else if (isHeld(exchange)) {
        const ending = this.of(sandbox)
          .endHold(exchange)
          .finally(() => this.#ending.delete(ending));
        this.#ending.add(ending);
      }
    });
    return this;
  }

  get controlToken(): string {
    const [token = ''] = this.#token.split(' ');
    return token;
  }

  get problem(): string | undefined {
    return this.#isDraining ? 'this server is stopping' : this.#context.redis.problem;
  }

  get notice(): string | undefined {
    return performance.now() < this.#loss.until ? this.#loss.text : undefined;
  }

  status() {
    const { redis, counts } = this.#context;
    const roundTrip = Math.round(redis.roundTrip * 1000) / 1000;
    return {
      fleet: this.#prefix,
      servers: this.#servers,
      sandboxes: this.#size,
      ...counts,
      roundTrip,
    };
  }

  of(sandbox: Sandbox): FleetSandbox {
    let opened = this.#opened.get(sandbox);
    if (opened === undefined) {
      opened = this.#open(sandbox);
      this.#opened.set(sandbox, opened);
    }
    return opened;
  }

  #open(sandbox: Sandbox): FleetSandbox {
    const createState = () => this.#all.createState(sandbox.start);
    return new FleetSandbox(sandbox, this.#context, createState);
  }

  get #all(): Sandboxes {
    if (this.#sandboxes === undefined) throw new Error('not open');
    return this.#sandboxes;
  }

  run<T>(sandbox: Sandbox, call: () => Outcome<T>): Promise<T> {
    return this.of(sandbox).run(call);
  }

  /** Redis does not get it. */
  runFailed<T>(sandbox: Sandbox, call: () => Outcome<T>): T {
    const { exchange, result } = call();
    if (exchange !== undefined) sandbox.report(exchange);
    return result;
  }

  async create(name: string, start?: Start): Promise<boolean> {
    if (PERMANENT_SANDBOXES.includes(name)) return false;
    if (!(await this.#open(this.#all.open(name, true, start)).create())) return false;
    this.#all.getOrCreate(name, start);
    return true;
  }

  async remove(name: string, unusedFor = 0): Promise<boolean> {
    if (PERMANENT_SANDBOXES.includes(name)) return false;
    const { unused = unusedFor } = this.#all.get(name) ?? {};
    if (unused < unusedFor) return false;
    const { redis, ttl, sandboxKeys: keysOf, fleetKeys: fleet } = this.#context;
    const names = keysOf(name);
    const keys = [...Object.values(names), fleet.sandboxes, fleet.past];
    const args = [name, names.state, `${unusedFor}`, `${ttl}`];
    const added = await redis.eval(DELETE, keys, args, { once: true });
    if (added === null) return false;
    if (Number(added) >= MAX_ADDED) void addUp(redis, fleet.past).catch(() => {});
    this.#all.remove(name)?.emit({ kind: 'deleted' });
    return true;
  }

  async unused(): Promise<ReadonlyMap<string, number>> {
    const { redis, fleetKeys: keys } = this.#context;
    await this.#touchUsed();
    // These exist before their first use.
    const unused = new Map(PERMANENT_SANDBOXES.map((name) => [name, performance.now()]));
    for (let from = 0, isOver = false; !isOver; ) {
      const args = [this.#prefix, `${from}`, `${PAGE}`];
      const reply = await redis.eval(UNUSED, [keys.sandboxes], args);
      const [seen, gone, flat] = Array.isArray(reply) ? reply : [0, 0, []];
      for (let at = 0; at < flat.length; at += 2) unused.set(flat[at], Number(flat[at + 1]));
      from += seen - gone;
      isOver = seen < PAGE;
    }
    for (const { name } of [...this.#all]) if (!unused.has(name)) this.#all.remove(name);
    const permanent = PERMANENT_SANDBOXES.map((name) => [name, unused.get(name) ?? 0] as const);
    const others = [...unused].filter(([name]) => !PERMANENT_SANDBOXES.includes(name));
    return new Map([...permanent, ...others.sort(([one], [two]) => (one < two ? -1 : 1))]);
  }

  async totals(): Promise<Totals> {
    const { redis, sandboxKeys: keysOf, fleetKeys: keys } = this.#context;
    const lists = [
      keys.past,
      ...Array.from((await this.unused()).keys(), (it) => keysOf(it).totals),
    ];
    const totals = new Totals();
    for (let at = 0; at < lists.length; at += PAGE) {
      const page = await Promise.all(lists.slice(at, at + PAGE).map((key) => redis.list(key)));
      totals.merge(readTotals(page.flat()));
    }
    return totals;
  }

  served(): Totals {
    return this.#served;
  }

  isDurable(): boolean {
    return false;
  }

  /** So that a proxy sends no more requests before this server closes. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    const { drain = DRAIN_MS } = this.#options;
    await new Promise<void>((resolve) => this.#context.platform.after(drain, resolve));
  }

  async close(): Promise<void> {
    this.#stopBeating();
    await Promise.all(this.#ending);
    this.#context.redis.close();
  }
}
