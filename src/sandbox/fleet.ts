import type { Start, Starter } from '../scenario/sandbox-start.ts';
import { RecordedStore } from '../store/log/recorded-store.ts';
import { REDIS_ADDRESS_FORM, readRedisAddress } from '../store/log/redis-address.ts';
import { RedisConnection } from '../store/log/redis-connection.ts';
import { RedisDirectory } from '../store/log/redis-directory.ts';
import { durabilityNotices } from '../store/log/redis-durability.ts';
import { RedisLog } from '../store/log/redis-log.ts';
import type { Change, SandboxLog, SandboxSnapshot } from './change.ts';
import { differences, FleetError, type FleetTerms } from './fleet-terms.ts';
import { SandboxLimitError } from './sandbox-limit.ts';
import { DEFAULT_SANDBOX, STAGING_SANDBOX } from './sandbox-names.ts';
import { SandboxTexts } from './sandbox-texts.ts';
import { type Created, SharedLog } from './shared-log.ts';
import type { OpenUpstream } from './upstream.ts';

/** How to join a fleet. */
export interface FleetOptions {
  /** Where its Redis is. */
  readonly url: string;
  readonly terms: FleetTerms;
  /** How many exchanges each journal keeps. */
  readonly journal: number;
  /** How many sandboxes there may be besides the default one and staging. */
  readonly most: number;
  readonly starter: Starter;
  readonly openUpstream: OpenUpstream;
  readonly onNotice: ((message: string) => void) | undefined;
}

/** A sandbox of a fleet, as its server starts it. */
export interface Opening {
  readonly name: string;
  readonly start: Start;
  /** Makes the start of scenarios that of this sandbox. */
  readonly startOf: (start: Start) => Start;
  /** The state of a new one. */
  readonly initial: () => SandboxSnapshot;
}

type Log = RedisLog<Change, SandboxSnapshot>;

/** The servers that share their sandboxes through one Redis. */
export class Fleet {
  readonly #redis: RedisConnection;
  readonly #directory: RedisDirectory;
  readonly #options: FleetOptions;
  #disagreement: string | undefined;

  private constructor(redis: RedisConnection, options: FleetOptions) {
    this.#redis = redis;
    this.#directory = new RedisDirectory(redis, options.most, [DEFAULT_SANDBOX, STAGING_SANDBOX]);
    this.#options = options;
  }

  /** @throws FleetError if the server differs from those of the fleet, LogError */
  static async join(options: FleetOptions): Promise<Fleet> {
    const address = readRedisAddress(options.url);
    if (address === undefined) throw new FleetError(`shared: expected ${REDIS_ADDRESS_FORM}`);
    const redis = new RedisConnection(address);
    try {
      const fleet = new Fleet(redis, options);
      for (const notice of await durabilityNotices(redis)) options.onNotice?.(notice);
      await fleet.#find(DEFAULT_SANDBOX);
      return fleet;
    } catch (error) {
      redis.close();
      throw error;
    }
  }

  /**
   * The incarnation of a name; undefined if there is no such sandbox.
   *
   * @throws FleetError if the server differs from those of the fleet, LogError
   */
  async #find(name: string): Promise<string | undefined> {
    const { terms } = this.#options;
    const { start, incarnation } = await this.#directory.find(JSON.stringify(terms), name);
    const different = differences(JSON.parse(start), terms);
    if (different.length === 0) {
      this.#disagreement = undefined;
      return incarnation;
    }
    const { shown } = this.#redis.address;
    this.#disagreement = [
      `the servers on ${shown} started with other settings`,
      ...different,
      'start this one the same way, use another database (redis://HOST:PORT/1), or stop them and empty theirs (redis-cli FLUSHDB)',
    ].join('\n');
    throw new FleetError(this.#disagreement);
  }

  /** Why no sandbox can be used: Redis cannot be reached, or has another fleet. */
  get problem(): string | undefined {
    return this.#redis.problem ?? this.#disagreement;
  }

  /**
   * Where the changes of a sandbox are kept.
   *
   * @param mayCreate whether its first use creates it
   * @param onGone called when it turns out to be deleted
   */
  open(opening: Opening, mayCreate: boolean, onGone: () => void): SandboxLog {
    const { name, start, initial } = opening;
    const log = new SharedLog({
      find: () => this.#find(name),
      create: mayCreate ? (lost) => this.#create(opening, lost) : undefined,
      initial,
      logOf: (incarnation) => this.#logOf(opening, incarnation),
      onGone,
    });
    return { store: new RecordedStore(start.store, start.store), log, position: 0 };
  }

  /** Creates a sandbox. False if there is one of this name. */
  async create(opening: Opening): Promise<boolean> {
    if ((await this.#find(opening.name)) !== undefined) return false;
    return (await this.#create(opening, '')).isNew;
  }

  /** Deletes a sandbox on every server. False if there is none. */
  async delete(name: string): Promise<boolean> {
    const incarnation = await this.#find(name);
    if (incarnation === undefined) return false;
    // The log goes first: whoever still finds the name sees that its log is gone.
    const isFirst = await RedisLog.remove(this.#redis, keyName(name, incarnation));
    await this.#directory.leave(name, incarnation);
    return isFirst;
  }

  /** The names of all sandboxes, each once. */
  async names(): Promise<ReadonlySet<string>> {
    const names = new Set<string>();
    for await (const name of this.#directory.names()) names.add(name);
    return names;
  }

  close(): void {
    this.#redis.close();
  }

  async #create(opening: Opening, lost: string): Promise<Created> {
    const { name, initial } = opening;
    const fresh = drawIncarnation();
    // The log comes first: whoever finds the name finds its log.
    await this.#logOf(opening, fresh).create(initial());
    const incarnation = await this.#directory.enter(name, fresh, lost);
    if (incarnation !== fresh) await RedisLog.remove(this.#redis, keyName(name, fresh));
    if (incarnation === undefined) throw new SandboxLimitError(this.#options.most, name);
    return { incarnation, isNew: incarnation === fresh };
  }

  #logOf({ name, start, startOf }: Opening, incarnation: string): Log {
    const { openUpstream } = this.#options;
    const starter: Starter = async (scenarios) => startOf(await this.#options.starter(scenarios));
    const texts = new SandboxTexts({ origin: start, starter, openUpstream });
    return new RedisLog(this.#redis, keyName(name, incarnation), texts, this.#options.journal);
  }
}

function keyName(name: string, incarnation: string): string {
  return `${name}~${incarnation}`;
}

/** Distinguishes a sandbox from all earlier ones of its name: 72 bits. */
function drawIncarnation(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(9))).toString('base64url');
}
