import { type Fleet, type Keeper, KeeperError, type Opening } from '../../sandbox/keeper.ts';
import { SandboxLimitError } from '../../sandbox/sandbox-limits.ts';
import { DEFAULT_SANDBOX } from '../../sandbox/sandbox-names.ts';
import type { OpenUpstream } from '../../sandbox/upstream.ts';
import type { Starter } from '../../scenario/sandbox-start.ts';
import { REDIS_ADDRESS_FORM, readRedisAddress } from './address.ts';
import { RedisConnection } from './redis-connection.ts';
import { type Directory, drawId, keysOf, RedisKeeper } from './redis-keeper.ts';
import { CLOSE, CREATE, ENTER, FIND, LEAVE, UNUSED } from './scripts.ts';
import { differences, FleetError, type FleetTerms } from './terms.ts';
import { type Loading, writeSnapshot } from './texts.ts';

/** How to join a fleet. */
export interface FleetOptions {
  /** Where its Redis is. */
  readonly url: string;
  readonly terms: FleetTerms;
  /** How many sandboxes there may be besides the default one and staging. */
  readonly maxSandboxes: number;
  readonly starter: Starter;
  readonly openUpstream: OpenUpstream;
}

/** What the fleet started from, and the incarnation of each sandbox by its name. */
const START = 'petstore-mock:{directory}:start';
const SANDBOXES = 'petstore-mock:{directory}:sandboxes';

/** Seconds that a new log lives unless it is read, and that a closed one lives if its server crashes. */
const UNREAD = '60';

/**
 * Joins the servers that share their sandboxes through a Redis.
 *
 * @throws FleetError if the server differs from those of the fleet, KeeperError
 */
export async function joinFleet(options: FleetOptions): Promise<Fleet> {
  const address = readRedisAddress(options.url);
  if (address === undefined) throw new FleetError(`shared: expected ${REDIS_ADDRESS_FORM}`);
  const redis = new RedisConnection(address);
  try {
    const fleet = new RedisFleet(redis, options);
    await fleet.find(DEFAULT_SANDBOX);
    return fleet;
  } catch (error) {
    redis.close();
    throw error;
  }
}

class RedisFleet implements Fleet, Directory {
  readonly redis: RedisConnection;
  readonly #options: FleetOptions;
  #disagreement: string | undefined;

  constructor(redis: RedisConnection, options: FleetOptions) {
    this.redis = redis;
    this.#options = options;
  }

  /** Why no sandbox can be used: Redis cannot be reached, or has another fleet. */
  get problem(): string | undefined {
    return this.redis.problem ?? this.#disagreement;
  }

  keep(opening: Opening, mayCreate: boolean, onGone: () => void): Keeper {
    return new RedisKeeper(this, opening, mayCreate, onGone);
  }

  async create(opening: Opening): Promise<boolean> {
    if ((await this.find(opening.name)) !== undefined) return false;
    const fresh = drawId();
    return (await this.enter(opening, '', fresh)) === fresh;
  }

  async delete(
    name: string,
    drain: () => Promise<void> | undefined,
    unusedFor = 0,
  ): Promise<boolean> {
    const incarnation = await this.find(name);
    if (incarnation === undefined) return false;
    const keys = keysOf(name, incarnation);
    const closed = await this.redis.eval(CLOSE, keys, [UNREAD, String(unusedFor)]);
    if (closed === 'used') return false;
    await drain();
    // The log goes first: whoever still finds the name sees that its log is gone.
    const isFirst = await this.#remove(name, incarnation);
    await this.redis.eval(LEAVE, [SANDBOXES], [name, incarnation]);
    return isFirst;
  }

  async unused(): Promise<ReadonlyMap<string, number>> {
    const unused = new Map<string, number>();
    for (let cursor = '0'; ; ) {
      const page = await this.redis.run(['HSCAN', SANDBOXES, cursor, 'COUNT', '1000']);
      const [next, fields] = Array.isArray(page) ? page : [];
      const incarnations: (readonly [name: string, incarnation: string])[] = [];
      // Names and incarnations in turn.
      for (let at = 0; at < fields.length; at += 2) {
        incarnations.push([String(fields[at]), String(fields[at + 1])]);
      }
      await Promise.all(
        incarnations.map(async ([name, incarnation]) => {
          const [head = ''] = keysOf(name, incarnation);
          unused.set(name, Number(await this.redis.eval(UNUSED, [head], [])));
        }),
      );
      cursor = String(next);
      if (cursor === '0') return new Map([...unused].sort(([one], [two]) => (one < two ? -1 : 1)));
    }
  }

  close(): void {
    this.redis.close();
  }

  /** @throws FleetError if Redis has lost everything, and a server that differs came first */
  async find(name: string): Promise<string | undefined> {
    const { terms } = this.#options;
    const found = await this.redis.eval(FIND, [START, SANDBOXES], [JSON.stringify(terms), name]);
    const [noted, incarnation] = Array.isArray(found) ? found : [];
    const different = differences(JSON.parse(noted), terms);
    if (different.length > 0) {
      this.#disagreement = [
        `the servers on ${this.redis.address.shown} started with other settings`,
        ...different,
        'start this one the same way, use another database (redis://HOST:PORT/1), or stop them and empty theirs (redis-cli FLUSHDB)',
      ].join('\n');
      throw new FleetError(this.#disagreement);
    }
    this.#disagreement = undefined;
    return typeof incarnation === 'string' ? incarnation : undefined;
  }

  async enter(opening: Opening, lost: string, fresh = drawId()): Promise<string> {
    const { name, initial } = opening;
    const { maxSandboxes } = this.#options;
    // The log comes first: whoever finds the name finds its log.
    const snapshot = writeSnapshot(initial(), this.loading(opening));
    await this.redis.eval(CREATE, keysOf(name, fresh), [drawId(), snapshot, UNREAD]);
    const args = [name, fresh, lost, String(maxSandboxes)];
    const entered = await this.redis.eval(ENTER, [SANDBOXES], args);
    if (entered !== fresh) await this.#remove(name, fresh);
    if (typeof entered !== 'string') throw new SandboxLimitError(maxSandboxes, name);
    return entered;
  }

  loading({ origin, startOf }: Opening): Loading {
    const { starter, openUpstream } = this.#options;
    return { origin, openUpstream, starter: async (them) => startOf(await starter(them)) };
  }

  /** Removes a log, for every server. False if it is gone already. */
  async #remove(name: string, incarnation: string): Promise<boolean> {
    const { losses } = this.redis;
    const count = await this.redis.run(['UNLINK', ...keysOf(name, incarnation)]);
    if (count !== 0 || this.redis.losses === losses) return count !== 0;
    // An attempt whose reply was lost may have removed it.
    const why = 'the sandbox is gone; it is not known whether this request deleted it';
    throw new KeeperError(why, { isMaybeDone: true });
  }
}
