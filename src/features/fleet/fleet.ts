import { DEFAULTS, PERMANENT_SANDBOXES } from '../../core/limits.ts';
import type { Outcome } from '../../core/sandbox/answer.ts';
import { Totals } from '../../core/sandbox/coverage.ts';
import { isHeld } from '../../core/sandbox/exchange.ts';
import type { Sandbox } from '../../core/sandbox/sandbox.ts';
import type { Sandboxes, SandboxOptions } from '../../core/sandbox/sandboxes.ts';
import { StorageError } from '../../core/sandbox/storage-error.ts';
import type { Start } from '../../core/scenario/sandbox-start.ts';
import type { KeeperContext } from '../../server/feature.ts';
import { NODE_PLATFORM } from '../../server/node-platform.ts';
import type { Keeper } from '../../server/open-sandboxes.ts';
import type { BaseOptions } from '../../server/options.ts';
import type { ServerPersistence } from '../../server/persistence/persistence.ts';
import { parseRedisAddress, REDIS_ADDRESS_FORM } from './address.ts';
import { FleetSandbox } from './fleet-sandbox.ts';
import {
  type FleetSettings,
  fleetSettings,
  settingDifferences,
  shortHash,
} from './fleet-settings.ts';
import { RedisConnection } from './redis-connection.ts';
import { parseFields, parseTotals, readValue } from './redis-journal.ts';
import {
  ADD_PAST,
  DELETE,
  PAST,
  type RedisHash,
  SANDBOXES,
  START,
  sandboxKeys,
  UNUSED,
} from './scripts.ts';
import type { FleetContext } from './shared-state.ts';

interface FleetOptions {
  readonly url: string;
  readonly settings: FleetSettings;
  readonly maxSandboxes: number;
  readonly options: SandboxOptions & {
    readonly onNotice?: ((message: string) => void) | undefined;
  };
}

/**
 * Joins the servers of a Redis, which must have started alike.
 *
 * @throws StorageError, also if the server differs from those of the fleet
 */
export function joinServers(
  url: string,
  options: BaseOptions,
  { start, upstream }: KeeperContext,
): Promise<Keeper> {
  const { maxSandboxes = DEFAULTS.maxSandboxes } = options;
  const settings = fleetSettings(start, options, upstream);
  return joinFleet({ url, settings, maxSandboxes, options });
}

/** @throws StorageError, also if the server differs from those of the fleet */
export async function joinFleet(options: FleetOptions): Promise<Keeper> {
  const address = parseRedisAddress(options.url);
  if (address === undefined) throw new StorageError(`shared: expected ${REDIS_ADDRESS_FORM}`);
  const redis = new RedisConnection(address, options.options.onNotice);
  const fleet = new Fleet(redis, options);
  try {
    await fleet.agree();
  } catch (error) {
    redis.close();
    throw error;
  }
  let opened: FleetPersistence | undefined;
  return {
    isShared: true,
    open: (sandboxes) => {
      opened = new FleetPersistence(fleet, sandboxes);
      return opened;
    },
    close: async () => {
      await opened?.close();
      redis.close();
    },
  };
}

/** Keeps the sandboxes of all servers in Redis. */
class FleetPersistence implements ServerPersistence {
  readonly forgets =
    'servers that share sandboxes (--shared) keep no earlier states and have one start for all sandboxes';
  readonly #fleet: Fleet;
  readonly #sandboxes: Sandboxes;
  readonly #opened = new WeakMap<Sandbox, FleetSandbox>();
  readonly #served = new Totals();
  /** Ends of holds that Redis does not have yet. */
  readonly #ending = new Set<Promise<void>>();

  constructor(fleet: Fleet, sandboxes: Sandboxes) {
    this.#fleet = fleet;
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
  }

  get problem(): string | undefined {
    return this.#fleet.problem;
  }

  of(sandbox: Sandbox): FleetSandbox {
    const known = this.#opened.get(sandbox);
    if (known !== undefined) return known;
    const opened = this.#open(sandbox);
    this.#opened.set(sandbox, opened);
    return opened;
  }

  #open(sandbox: Sandbox): FleetSandbox {
    const createState = () => this.#sandboxes.createState(sandbox.start);
    return new FleetSandbox(sandbox, this.#fleet.context, createState);
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
    const isNew = await this.#open(this.#sandboxes.open(name, true, start)).create();
    if (!isNew) return false;
    this.#sandboxes.getOrCreate(name, start);
    return true;
  }

  async remove(name: string, unusedFor = 0): Promise<boolean> {
    if (PERMANENT_SANDBOXES.includes(name)) return false;
    const { unused = unusedFor } = this.#sandboxes.get(name) ?? {};
    if (unused < unusedFor || !(await this.#fleet.delete(name, unusedFor))) return false;
    this.#sandboxes.remove(name)?.emit({ kind: 'deleted' });
    return true;
  }

  async unused(): Promise<ReadonlyMap<string, number>> {
    const unused = await this.#fleet.unused();
    for (const { name } of [...this.#sandboxes]) {
      if (!unused.has(name)) this.#sandboxes.remove(name);
    }
    // These exist before their first use.
    const permanent = PERMANENT_SANDBOXES.map((name) => [name, performance.now()] as const);
    return new Map([...permanent, ...unused]);
  }

  totals(): Promise<Totals> {
    return this.#fleet.totals();
  }

  served(): Totals {
    return this.#served;
  }

  isDurable(): boolean {
    return false;
  }

  async close(): Promise<void> {
    await Promise.all(this.#ending);
  }
}

/** What the servers have in common in Redis. */
class Fleet {
  readonly context: FleetContext;
  readonly #redis: RedisConnection;
  readonly #settings: FleetSettings;

  constructor(redis: RedisConnection, { settings, maxSandboxes, options }: FleetOptions) {
    this.#redis = redis;
    this.#settings = settings;
    const start = JSON.stringify(settings);
    this.context = {
      redis,
      start,
      id: shortHash([start]),
      capacity: options.journal ?? DEFAULTS.journal,
      maxHold: options.maxHold ?? DEFAULTS.maxHold,
      maxSandboxes,
      platform: NODE_PLATFORM,
      disagreement: undefined,
      agree: () => this.agree(),
      keepPast: (totals) => this.#keepPast(totals),
    };
  }

  get problem(): string | undefined {
    return this.#redis.problem ?? this.context.disagreement;
  }

  async delete(name: string, unusedFor: number): Promise<boolean> {
    const keys = [...Object.values(sandboxKeys(name)), SANDBOXES];
    const args = [name, this.#redis.channelName(name), `${unusedFor}`];
    const totals = await this.#redis.eval(DELETE, 'writes', keys, args);
    if (totals === null) return false;
    await this.#keepPast(JSON.parse(String(totals)));
    return true;
  }

  async unused(): Promise<ReadonlyMap<string, number>> {
    const json = await this.#redis.eval(UNUSED, 'reads', [SANDBOXES], PERMANENT_SANDBOXES);
    const unused: Readonly<Record<string, number>> = JSON.parse(String(json));
    return new Map(Object.entries(unused).sort(([one], [two]) => (one < two ? -1 : 1)));
  }

  async totals(): Promise<Totals> {
    const names = [...PERMANENT_SANDBOXES, ...(await this.unused()).keys()];
    const keys = [PAST, ...Array.from(new Set(names), (name) => sandboxKeys(name).totals)];
    const all = await Promise.all(keys.map((key) => this.#redis.run(['HGETALL', key], 'reads')));
    const totals = new Totals();
    for (const fields of all) totals.merge(parseTotals(parseFields(fields)));
    return totals;
  }

  async agree(): Promise<void> {
    const { start } = this.context;
    await this.#redis.run(['SETNX', START, start], 'reads');
    const first = (await this.#redis.run(['GET', START], 'reads')) ?? start;
    const different = settingDifferences(
      readValue(START, () => JSON.parse(String(first))),
      this.#settings,
    );
    this.context.disagreement = undefined;
    if (different.length === 0) return;
    this.context.disagreement = [
      `the servers on ${this.#redis.address.shown} started with other settings`,
      ...different,
      'start this one the same way, use another database (redis://HOST:PORT/1), or stop them and empty theirs (redis-cli FLUSHDB)',
    ].join('\n');
    throw new StorageError(this.context.disagreement);
  }

  /** They are missing in reports if Redis fails just now. */
  async #keepPast(totals: RedisHash): Promise<void> {
    const past = JSON.stringify(parseTotals(totals));
    await this.#redis.eval(ADD_PAST, 'writes', [PAST], [past]).catch(() => {});
  }
}
