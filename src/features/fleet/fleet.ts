import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { writeJson } from '../../core/json.ts';
import { DEFAULTS, PERMANENT_SANDBOXES } from '../../core/limits.ts';
import type { Outcome } from '../../core/sandbox/answer.ts';
import { Totals } from '../../core/sandbox/coverage.ts';
import { type HoldEnd, hasHold } from '../../core/sandbox/exchange.ts';
import type { Release, Released } from '../../core/sandbox/holds.ts';
import { MAX_REMEMBERED_BYTES } from '../../core/sandbox/journal.ts';
import type { JournalReader } from '../../core/sandbox/persistence.ts';
import type { Sandbox, SandboxListener } from '../../core/sandbox/sandbox.ts';
import type { Sandboxes } from '../../core/sandbox/sandboxes.ts';
import type { Start } from '../../core/sandbox/start.ts';
import { StorageError } from '../../core/sandbox/storage-error.ts';
import { steadyNow } from '../../core/service/clock.ts';
import { storeText } from '../../core/store/store-text.ts';
import type { StorageContext } from '../../server/feature.ts';
import { packageVersion } from '../../server/files.ts';
import { NODE_PLATFORM } from '../../server/node-platform.ts';
import type { ServerPersistence, Storage } from '../../server/open-sandboxes.ts';
import type { FleetContext } from './fleet-journal.ts';
import { FleetSandbox } from './fleet-sandbox.ts';
import { compactTotals, readTotals } from './fleet-totals.ts';
import {
  FLEET_DEFAULTS,
  type FleetOptions,
  parseRedisAddress,
  REDIS_ADDRESS_FORM,
} from './options.ts';
import { RedisConnection } from './redis-connection.ts';
import { DELETE_SANDBOX, HEARTBEAT, LIST_SANDBOXES, updateScript } from './scripts.ts';

/** Beyond this many, a server drops sandboxes unused for a minute, and reads them on next use. */
const MAX_IN_MEMORY = 10_000;
const UNUSED_MS = 60_000;

/** How long `health` reports that Redis has lost its data. */
const NOTICE_MS = 60_000;

/** How many sandboxes are listed at once, so that other servers' calls run in between. */
const PAGE = 500;

export async function joinFleet(
  url: string,
  options: FleetOptions,
  context: StorageContext,
): Promise<Storage> {
  const fleet = new Fleet(createContext(url, options, context));
  try {
    await fleet.sendHeartbeat();
  } catch (error) {
    await fleet.close();
    throw error;
  }
  return fleet;
}

/** @throws StorageError */
function createContext(
  url: string,
  options: FleetOptions,
  { start, agreed }: StorageContext,
): FleetContext {
  const address = parseRedisAddress(url);
  if (address === undefined) throw new StorageError(`shared: expected ${REDIS_ADDRESS_FORM}`);
  const { fleetTtl: ttl = FLEET_DEFAULTS.fleetTtl, journal: capacity = DEFAULTS.journal } = options;
  // Channels are common to all databases of a Redis, so their names include the database.
  const prefix = `petstore-mock:${address.name}:${address.database}:${hashStart(start, agreed)}`;
  return {
    redis: new RedisConnection(address, prefix, options.onNotice),
    server: crypto.randomUUID(),
    options,
    ttl,
    maxSandboxes: options.maxSandboxes ?? DEFAULTS.maxSandboxes,
    platform: NODE_PLATFORM,
    updateScript: updateScript(ttl, capacity, MAX_REMEMBERED_BYTES),
    counts: { calls: 0, conflicts: 0 },
    cache: { of: '', heads: new Map() },
  };
}

/**
 * Servers with another version or other settings form another fleet beside this one, because they
 * may write states differently.
 */
function hashStart({ store, scenarios, options: _, ...start }: Start, agreed: unknown): string {
  const definitions = writeJson(scenarios.map(({ definition }) => definition));
  const settings = [packageVersion(), start, definitions, agreed];
  const hash = createHash('sha256');
  for (const piece of storeText(store)) hash.update(piece);
  const whole = { depth: null, maxArrayLength: null, maxStringLength: null, sorted: true };
  hash.update(inspect(settings, whole));
  return hash.digest('hex').slice(0, 12);
}

/** The persistence of a server in a fleet: all sandboxes are in Redis. */
class Fleet implements Storage, ServerPersistence {
  readonly isShared = true;
  readonly whyNoUndo =
    'servers that share sandboxes (--shared) keep no earlier states and have one start for all sandboxes';
  readonly #context: FleetContext;
  readonly #joinedAt = steadyNow();
  readonly #opened = new WeakMap<Sandbox, FleetSandbox>();
  readonly #served = new Totals();
  /** Ends of holds that are being sent to Redis. */
  readonly #ending = new Set<Promise<void>>();
  #sandboxes: Sandboxes | undefined;
  #token: string = crypto.randomUUID();
  #servers = 0;
  #size = 0;
  #isDraining = false;
  #loss = { text: '', until: 0 };

  constructor(context: FleetContext) {
    this.#context = context;
    context.redis.onChecked = () => void this.sendHeartbeat().catch(() => {});
  }

  /** Tells others that this server is alive and what it uses. Checks that Redis has the fleet. */
  async sendHeartbeat(): Promise<void> {
    const { redis, server, ttl } = this.#context;
    const known = [...(this.#sandboxes ?? [])];
    const used = known.filter(({ unused }) => unused === 0);
    const forgotten = known.filter(({ unused }) => unused > UNUSED_MS);
    const excess = Math.max(0, known.length - MAX_IN_MEMORY);
    for (const { name } of forgotten.slice(0, excess)) this.#sandboxes?.remove(name);
    // The token is the same for ever. The random part after it changes if Redis loses its data.
    const token = `${this.controlToken} ${crypto.randomUUID()}`;
    const args = [server, `${ttl}`, token, ...used.map(({ name }) => name)];
    const reply = await redis.eval(HEARTBEAT, args);
    const [found, servers, size] = Array.isArray(reply) ? reply : [];
    if (this.#servers > 0 && found !== this.#token) {
      const text = `${redis.address.shown} has lost its data: ${this.#size} sandboxes start anew`;
      this.#loss = { text, until: steadyNow() + NOTICE_MS };
      this.#context.options.onNotice?.(text);
    }
    [this.#token, this.#servers, this.#size] = [String(found), Number(servers), Number(size)];
  }

  open(sandboxes: Sandboxes): this {
    this.#sandboxes = sandboxes;
    sandboxes.events.add(({ kind, sandbox, exchange }) => {
      if (kind === 'exchange') this.#served.add(exchange, sandbox.name);
      else if (hasHold(exchange)) {
        const ending = this.#open(sandbox)
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
    return steadyNow() < this.#loss.until ? this.#loss.text : undefined;
  }

  status() {
    const { redis, counts } = this.#context;
    const roundTrip = Math.round(redis.roundTrip * 1000) / 1000;
    const { prefix: fleet } = redis;
    return { fleet, servers: this.#servers, sandboxes: this.#size, ...counts, roundTrip };
  }

  #open(sandbox: Sandbox): FleetSandbox {
    let opened = this.#opened.get(sandbox);
    if (opened === undefined) {
      const isNamed = this.#all.get(sandbox.name) === sandbox;
      opened = new FleetSandbox(sandbox, this.#context, isNamed);
      this.#opened.set(sandbox, opened);
    }
    return opened;
  }

  get #all(): Sandboxes {
    if (this.#sandboxes === undefined) throw new Error('not open');
    return this.#sandboxes;
  }

  keep<T>(sandbox: Sandbox, compute: () => Outcome<T>): Promise<T> {
    return this.#open(sandbox).keep(compute);
  }

  keepAtOnce<T>(sandbox: Sandbox, compute: () => Outcome<T>): Promise<T> {
    return this.keep(sandbox, compute);
  }

  journal(sandbox: Sandbox): JournalReader {
    return this.#open(sandbox).journal;
  }

  release(sandbox: Sandbox, which: Release, why: HoldEnd): Promise<Released> {
    return this.#open(sandbox).release(which, why);
  }

  subscribe(sandbox: Sandbox, listener: SandboxListener): () => void {
    return this.#open(sandbox).subscribe(listener);
  }

  /** Announces the exchange of a call whose outcome Redis did not keep. */
  keepFailed<T>(sandbox: Sandbox, compute: () => Outcome<T>): T {
    const { exchange, result } = compute();
    if (exchange !== undefined) sandbox.announce(exchange);
    return result;
  }

  async create(name: string, start?: Start): Promise<boolean> {
    if (PERMANENT_SANDBOXES.includes(name)) return false;
    if (!(await this.#open(this.#all.make(name, start)).create())) return false;
    this.#all.getOrCreate(name);
    return true;
  }

  async remove(name: string, unusedFor = 0): Promise<boolean> {
    if (PERMANENT_SANDBOXES.includes(name)) return false;
    const { unused = unusedFor } = this.#all.get(name) ?? {};
    if (unused < unusedFor) return false;
    const { redis, ttl } = this.#context;
    const added = await redis.eval(DELETE_SANDBOX, [name, `${unusedFor}`, `${ttl}`], {
      once: true,
    });
    if (added === null) return false;
    compactTotals(redis, added);
    this.#all.remove(name)?.emit({ kind: 'deleted' });
    return true;
  }

  async unused(): Promise<ReadonlyMap<string, number>> {
    // A full Redis refuses heartbeats, but sandboxes must still be listed in order to delete some.
    await this.sendHeartbeat().catch(() => {});
    // These sandboxes exist before their first use.
    const age = steadyNow() - this.#joinedAt;
    const permanent = PERMANENT_SANDBOXES.map((name) => [name, age] as const);
    const unused = new Map(permanent);
    for (let from = 0, isOver = false; !isOver; ) {
      const reply = await this.#context.redis.eval(LIST_SANDBOXES, [`${from}`, `${PAGE}`]);
      const [seen, gone, flat] = Array.isArray(reply) ? reply : [0, 0, []];
      for (let at = 0; at < flat.length; at += 2) unused.set(flat[at], Number(flat[at + 1]));
      from += seen - gone;
      isOver = seen < PAGE;
    }
    for (const { name, unused: unusedHere } of [...this.#all]) {
      if (!unused.has(name) && unusedHere > 0) this.#all.remove(name);
    }
    const names = [...unused.keys()].slice(PERMANENT_SANDBOXES.length).sort();
    return new Map([...PERMANENT_SANDBOXES, ...names].map((name) => [name, unused.get(name) ?? 0]));
  }

  async totals(): Promise<Totals> {
    const { redis } = this.#context;
    const names = [...(await this.unused()).keys()];
    const totals = await readTotals(redis);
    for (let at = 0; at < names.length; at += PAGE) {
      const page = names.slice(at, at + PAGE).map((name) => readTotals(redis, name));
      for (const its of await Promise.all(page)) totals.merge(its);
    }
    return totals;
  }

  served(): Totals {
    return this.#served;
  }

  isDurable(): boolean {
    return false;
  }

  /** Answers `health` with 503 for a while, so that proxies send nothing more before the close. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    const { drain = FLEET_DEFAULTS.drain } = this.#context.options;
    await new Promise<void>((resolve) => this.#context.platform.after(drain, resolve));
  }

  async close(): Promise<void> {
    await Promise.all(this.#ending);
    this.#context.redis.close();
  }
}
