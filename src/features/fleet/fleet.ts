import { PERMANENT_SANDBOXES } from '../../core/limits.ts';
import type { Outcome } from '../../core/sandbox/answer.ts';
import { Totals } from '../../core/sandbox/coverage.ts';
import { isHeld } from '../../core/sandbox/exchange.ts';
import type { Sandbox } from '../../core/sandbox/sandbox.ts';
import type { Sandboxes } from '../../core/sandbox/sandboxes.ts';
import type { Start } from '../../core/scenario/sandbox-start.ts';
import type { KeeperContext } from '../../server/feature.ts';
import type { Keeper } from '../../server/open-sandboxes.ts';
import type { BaseOptions } from '../../server/options.ts';
import type { ServerPersistence } from '../../server/persistence.ts';
import { createContext, type FleetContext } from './fleet-context.ts';
import { addUp, readTotals } from './fleet-journal.ts';
import { FleetSandbox } from './fleet-sandbox.ts';
import type { FleetOptions } from './options.ts';
import { BEAT, DELETE, fleetKeys, sandboxKeys, UNUSED } from './scripts.ts';

/** How often a server gives a sign of life, and keeps what it uses; more often than `--sandbox-idle`. */
const BEAT_MS = 5_000;

const DRAIN_MS = 2_000;

/** How long `health` tells of a loss. */
const NOTICE_MS = 60_000;

/** Sandboxes that are read at once, so that nobody waits for all of them. */
const PAGE = 500;

/** Joins the servers of a fleet. @throws StorageError */
export async function joinFleet(
  url: string,
  options: BaseOptions & FleetOptions,
  keeper: KeeperContext,
): Promise<Keeper> {
  const context = createContext(url, options, keeper);
  const fleet = new Fleet(context, options);
  try {
    await fleet.beat();
  } catch (error) {
    await fleet.close();
    throw error;
  }
  return fleet;
}

/** Keeps the sandboxes of all servers in Redis. */
class Fleet implements Keeper, ServerPersistence {
  readonly isShared = true;
  readonly forgets =
    'servers that share sandboxes (--shared) keep no earlier states and have one start for all sandboxes';
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

  constructor(context: FleetContext, options: BaseOptions & FleetOptions) {
    this.#context = context;
    this.#options = options;
    this.#token = crypto.randomUUID();
    const beat = () => void this.beat().catch(() => {});
    context.redis.onConnected = beat;
    const { sandboxIdle = BEAT_MS } = options;
    this.#stopBeating = context.platform.every(Math.min(BEAT_MS, sandboxIdle / 4), beat);
  }

  /** Tells the other servers of this one, and looks whether Redis still has the fleet. */
  async beat(): Promise<void> {
    const { redis, prefix, server, ttl } = this.#context;
    // The token stays, and what follows it tells the data of Redis from what it had before a loss.
    const args = [server, `${ttl}`, `${this.controlToken} ${crypto.randomUUID()}`];
    const reply = await redis.eval(BEAT, Object.values(fleetKeys(prefix)), args);
    const [token, servers, size] = Array.isArray(reply) ? reply : [];
    if (this.#servers > 0 && token !== this.#token) {
      const text = `${redis.address.shown} has lost its data: ${this.#size} sandboxes start anew`;
      this.#loss = { text, until: performance.now() + NOTICE_MS };
      this.#options.onNotice?.(text);
    }
    [this.#token, this.#servers, this.#size] = [String(token), Number(servers), Number(size)];
    await this.#touchUsed();
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
    const { redis, prefix, counts } = this.#context;
    const roundTrip = Math.round(redis.roundTrip * 1000) / 1000;
    return { fleet: prefix, servers: this.#servers, sandboxes: this.#size, ...counts, roundTrip };
  }

  of(sandbox: Sandbox): FleetSandbox {
    let opened = this.#opened.get(sandbox);
    if (opened === undefined) {
      opened = new FleetSandbox(sandbox, this.#context);
      this.#opened.set(sandbox, opened);
    }
    return opened;
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
    if (!(await this.of(this.#all.open(name, true, start)).create())) return false;
    this.#all.getOrCreate(name, start);
    return true;
  }

  async remove(name: string, unusedFor = 0): Promise<boolean> {
    if (PERMANENT_SANDBOXES.includes(name)) return false;
    const { unused = unusedFor } = this.#all.get(name) ?? {};
    if (unused < unusedFor) return false;
    const { redis, prefix, ttl } = this.#context;
    const keys = sandboxKeys(prefix, name);
    const args = [name, `${unusedFor}`, `${ttl}`];
    const added = await redis.eval(DELETE, Object.values(keys), args, { once: true });
    if (added === null) return false;
    addUp(redis, keys.past, added);
    this.#all.remove(name)?.emit({ kind: 'deleted' });
    return true;
  }

  async unused(): Promise<ReadonlyMap<string, number>> {
    const { redis, prefix } = this.#context;
    await this.#touchUsed();
    // These exist before their first use.
    const unused = new Map(PERMANENT_SANDBOXES.map((name) => [name, performance.now()]));
    for (let from = 0, isOver = false; !isOver; ) {
      const args = [prefix, `${from}`, `${PAGE}`];
      const reply = await redis.eval(UNUSED, [fleetKeys(prefix).sandboxes], args);
      const [seen, gone, flat] = Array.isArray(reply) ? reply : [0, 0, []];
      for (let at = 0; at < flat.length; at += 2) unused.set(flat[at], Number(flat[at + 1]));
      from += seen - gone;
      isOver = seen < PAGE;
    }
    for (const { name } of [...this.#all]) if (!unused.has(name)) this.#all.remove(name);
    const others = [...unused].slice(PERMANENT_SANDBOXES.length);
    const permanent = [...unused].slice(0, PERMANENT_SANDBOXES.length);
    return new Map([...permanent, ...others.sort(([one], [two]) => (one < two ? -1 : 1))]);
  }

  async totals(): Promise<Totals> {
    const { redis, prefix } = this.#context;
    const names = [...(await this.unused()).keys()];
    const lists = [fleetKeys(prefix).past, ...names.map((it) => sandboxKeys(prefix, it).totals)];
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
