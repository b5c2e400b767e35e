import { DEFAULTS } from '../../defaults.ts';
import { PERMANENT } from '../../sandbox/sandbox-names.ts';
import type { SandboxOptions } from '../../sandbox/sandbox-options.ts';
import { sandboxLimitReached } from '../../sandbox/sandboxes.ts';
import { type Fleet, type OpenedSandbox, StorageError } from '../../sandbox/storage.ts';
import { Totals } from '../../sandbox/totals.ts';
import type { OpenUpstream } from '../../sandbox/upstream.ts';
import { REDIS_ADDRESS_FORM, readRedisAddress } from './address.ts';
import { channelOf, type FleetContext, keysOf } from './fleet-context.ts';
import { type FleetSettings, hashOf, settingDifferences } from './fleet-settings.ts';
import { RedisConnection } from './redis-connection.ts';
import { readTotals } from './redis-totals.ts';
import { DELETE, ENTER, LEAVE, LIST, MERGE, TOTAL, UNUSED } from './scripts.ts';
import { RedisStorage } from './storage.ts';

interface FleetOptions {
  /** The address of its Redis. */
  readonly url: string;
  readonly settings: FleetSettings;
  readonly maxSandboxes: number;
  readonly openUpstream: OpenUpstream;
  readonly options: SandboxOptions & {
    readonly onNotice?: ((message: string) => void) | undefined;
  };
}

/** What the fleet started from, a token for each sandbox by name, and the totals of what is gone. */
const START = 'petstore-mock:{directory}:start';
const SANDBOXES = 'petstore-mock:{directory}:sandboxes';
const PAST = 'petstore-mock:{directory}:past';

/** A loss of data is told once in this time. */
const LOSS_NOTICE_MS = 60_000;

/**
 * Joins the servers that share their sandboxes through a Redis.
 *
 * @throws StorageError, also if the server differs from those of the fleet
 */
export async function joinFleet(options: FleetOptions): Promise<Fleet> {
  const address = readRedisAddress(options.url);
  if (address === undefined) throw new StorageError(`shared: expected ${REDIS_ADDRESS_FORM}`);
  const redis = new RedisConnection(address, options.options.onNotice);
  try {
    const fleet = new RedisFleet(redis, options);
    await fleet.enter('');
    return fleet;
  } catch (error) {
    redis.close();
    throw error;
  }
}

class RedisFleet implements Fleet, FleetContext {
  readonly redis: RedisConnection;
  readonly id: string;
  readonly server = crypto.randomUUID().slice(0, 8);
  readonly capacity: number;
  readonly maxHold: number;
  readonly openUpstream: OpenUpstream;
  readonly #options: FleetOptions;
  #disagreement: string | undefined;
  #hasJoined = false;
  #tokens = 0;
  #lossToldAt = Number.NEGATIVE_INFINITY;

  constructor(redis: RedisConnection, options: FleetOptions) {
    this.redis = redis;
    this.id = hashOf([JSON.stringify(options.settings)]).slice(0, 6);
    this.capacity = options.options.journal ?? DEFAULTS.journal;
    this.maxHold = options.options.maxHold ?? DEFAULTS.maxHold;
    this.openUpstream = options.openUpstream;
    this.#options = options;
  }

  /** Why no sandbox can be used: Redis cannot be reached, or has another fleet. */
  get problem(): string | undefined {
    return this.redis.problem ?? this.#disagreement;
  }

  open(sandbox: OpenedSandbox): RedisStorage {
    return new RedisStorage(sandbox, this);
  }

  createToken(): string {
    this.#tokens += 1;
    return `${this.id}${this.server}${this.#tokens.toString(36)}`;
  }

  create(sandbox: OpenedSandbox): Promise<boolean> {
    return this.open(sandbox).create();
  }

  async delete(name: string, unusedFor: number): Promise<boolean> {
    const entry = await this.redis.run(['HGET', SANDBOXES, name], 'reads');
    const args = [channelOf(name, this.redis), `${unusedFor}`];
    const totals = await this.redis.eval(DELETE, 'writes', Object.values(keysOf(name)), args);
    if (!Array.isArray(totals)) return false;
    // The directory follows the sandbox. If one was created since, it has another entry.
    await this.redis.eval(LEAVE, 'reads', [SANDBOXES], [name, String(entry)]);
    await this.keepPast(totals.map(String));
    return true;
  }

  /** Also takes names of sandboxes off that are gone, such as those that Redis has evicted. */
  async unused(): Promise<ReadonlyMap<string, number>> {
    const unused = await Promise.all(
      Array.from(await this.#list(), async ([name, entry]) => {
        const milliseconds = await this.redis.eval(UNUSED, 'reads', [keysOf(name).state]);
        if (milliseconds !== null) return [[name, Number(milliseconds)] as const];
        await this.redis.eval(LEAVE, 'reads', [SANDBOXES], [name, entry]);
        return [];
      }),
    );
    return new Map(unused.flat().sort(([one], [two]) => (one < two ? -1 : 1)));
  }

  async totals(): Promise<Totals> {
    const names = [...(await this.#list()).keys()];
    const keys = [PAST, ...names.map((name) => keysOf(name).state)];
    const all = await Promise.all(keys.map((key) => this.redis.eval(TOTAL, 'reads', [key])));
    const totals = new Totals();
    for (const fields of all)
      if (Array.isArray(fields)) totals.merge(readTotals(fields.map(String)));
    return totals;
  }

  close(): void {
    this.redis.close();
  }

  async enter(name: string, isLost = false): Promise<void> {
    const { settings, maxSandboxes } = this.#options;
    const args = [JSON.stringify(settings), name, crypto.randomUUID(), `${maxSandboxes}`];
    for (let isRepaired = false; ; isRepaired = true) {
      const entered = await this.redis.eval(ENTER, 'reads', [START, SANDBOXES], args);
      const [first, isNew, hasRoom] = Array.isArray(entered) ? entered : [];
      this.#compare(JSON.parse(first));
      if ((isNew === 1 && this.#hasJoined) || (isLost && PERMANENT.includes(name)))
        this.#tellLoss();
      this.#hasJoined = true;
      if (hasRoom === 1) return;
      // Names of sandboxes that are gone may take up the room.
      if (isRepaired) throw sandboxLimitReached(maxSandboxes, name);
      await this.unused();
    }
  }

  keepEntered(name: string): void {
    this.redis.run(['HSETNX', SANDBOXES, name, crypto.randomUUID()], 'reads').catch(() => {});
  }

  async keepPast(totals: readonly string[]): Promise<void> {
    try {
      await this.redis.eval(MERGE, 'writes', [PAST], totals);
    } catch (error) {
      const why = error instanceof Error ? error.message : error;
      this.#options.options.onNotice?.(`coverage and findings that were cleared are lost: ${why}`);
    }
  }

  /** The tokens of sandboxes in the directory, by name. */
  async #list(): Promise<ReadonlyMap<string, string>> {
    const listed = await this.redis.eval(LIST, 'reads', [SANDBOXES]);
    const fields = Array.isArray(listed) ? listed.map(String) : [];
    return new Map(
      fields.flatMap((field, at) => (at % 2 === 0 ? [[field, fields[at + 1] ?? '']] : [])),
    );
  }

  #compare(first: FleetSettings): void {
    const different = settingDifferences(first, this.#options.settings);
    this.#disagreement = undefined;
    if (different.length === 0) return;
    this.#disagreement = [
      `the servers on ${this.redis.address.shown} started with other settings`,
      ...different,
      'start this one the same way, use another database (redis://HOST:PORT/1), or stop them and empty theirs (redis-cli FLUSHDB)',
    ].join('\n');
    throw new StorageError(this.#disagreement);
  }

  #tellLoss(): void {
    if (performance.now() < this.#lossToldAt + LOSS_NOTICE_MS) return;
    this.#lossToldAt = performance.now();
    this.#options.options.onNotice?.(
      `${this.redis.address.shown} has lost data; sandboxes that it lost start anew`,
    );
  }
}
