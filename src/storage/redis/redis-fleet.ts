import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_SANDBOX } from '../../sandbox/sandbox-names.ts';
import type { Fleet, Keeper, LogEntry, MissedEntries, Opening } from '../../sandbox/storage.ts';
import { StorageError, sandboxLimitReached } from '../../sandbox/storage.ts';
import { REDIS_ADDRESS_FORM, readRedisAddress } from './address.ts';
import { type FleetSettings, settingDifferences } from './fleet-settings.ts';
import { RedisConnection } from './redis-connection.ts';
import { APPEND, CLOSE, CREATE, ENTER, FIND, FOLD, LEAVE, LIST, UNUSED } from './scripts.ts';
import { type RestoreContext, textsOf } from './texts.ts';

export interface FleetOptions extends Pick<RestoreContext, 'starter' | 'openUpstream'> {
  /** The address of its Redis. */
  readonly url: string;
  readonly settings: FleetSettings;
  readonly maxSandboxes: number;
}

/** What the fleet started from, and the incarnation of each sandbox by its name. */
const START = 'petstore-mock:{directory}:start';
const SANDBOXES = 'petstore-mock:{directory}:sandboxes';

/** Seconds that a new log lives unless it is read, and a closed one if its server crashes. */
const UNREAD = '60';

/** Milliseconds between two looks for the end of another server's turn, at most. */
const LOOK = 4;

/** Distinguishes this server from all others. */
const SERVER = crypto.randomUUID();

/** The keys of a sandbox's log. */
function keysOf(name: string, incarnation: string): readonly string[] {
  // The part in braces decides on the node of a cluster.
  const stem = `petstore-mock:{${name}~${incarnation}}`;
  return ['head', 'entries', 'snapshot'].map((part) => `${stem}:${part}`);
}

/** Where a server is in a log, and the append that led there. */
interface Position {
  readonly incarnation: string;
  readonly at: number;
  readonly token: string;
}

/** What APPEND returns. */
interface AppendReply {
  readonly kind: 'gone' | 'busy' | 'kept' | 'missed';
  readonly position: Position;
  readonly isFull: boolean;
  readonly texts: readonly string[];
  readonly snapshot: string | null | undefined;
}

/**
 * Joins the servers that share their sandboxes through a Redis.
 *
 * @throws StorageError, also if the server differs from those of the fleet
 */
export async function joinFleet(options: FleetOptions): Promise<Fleet> {
  const address = readRedisAddress(options.url);
  if (address === undefined) throw new StorageError(`shared: expected ${REDIS_ADDRESS_FORM}`);
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

class RedisFleet implements Fleet {
  readonly redis: RedisConnection;
  readonly options: FleetOptions;
  #disagreement: string | undefined;

  constructor(redis: RedisConnection, options: FleetOptions) {
    this.redis = redis;
    this.options = options;
  }

  /** Why no sandbox can be used: Redis cannot be reached, or has another fleet. */
  get problem(): string | undefined {
    return this.redis.problem ?? this.#disagreement;
  }

  async create(opening: Opening): Promise<boolean> {
    if ((await this.find(opening.name)) !== undefined) return false;
    const fresh = crypto.randomUUID();
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
    const listed = await this.redis.eval(LIST, [SANDBOXES]);
    const fields = Array.isArray(listed) ? listed.map(String) : [];
    const names = fields.filter((_, at) => at % 2 === 0);
    const unused = names.map(async (name, at) => {
      const keys = keysOf(name, fields[2 * at + 1] ?? '');
      return [name, Number(await this.redis.eval(UNUSED, keys))] as const;
    });
    return new Map((await Promise.all(unused)).sort(([one], [two]) => (one < two ? -1 : 1)));
  }

  close(): void {
    this.redis.close();
  }

  /** @throws StorageError, also if Redis has lost everything, and a server that differs came first */
  async find(name: string): Promise<string | undefined> {
    const { settings } = this.options;
    const found = await this.redis.eval(FIND, [START, SANDBOXES], [JSON.stringify(settings), name]);
    const [first, incarnation] = Array.isArray(found) ? found : [];
    const different = settingDifferences(JSON.parse(first), settings);
    if (different.length > 0) {
      this.#disagreement = [
        `the servers on ${this.redis.address.shown} started with other settings`,
        ...different,
        'start this one the same way, use another database (redis://HOST:PORT/1), or stop them and empty theirs (redis-cli FLUSHDB)',
      ].join('\n');
      throw new StorageError(this.#disagreement);
    }
    this.#disagreement = undefined;
    return typeof incarnation === 'string' ? incarnation : undefined;
  }

  async enter(
    opening: Opening,
    lost: string,
    fresh: string = crypto.randomUUID(),
  ): Promise<string> {
    const { name, initial } = opening;
    const { maxSandboxes } = this.options;
    // The log comes first: whoever finds the name finds its log.
    const snapshot = textsOf({ ...opening, ...this.options }).snapshotText(initial());
    await this.redis.eval(CREATE, keysOf(name, fresh), [crypto.randomUUID(), snapshot, UNREAD]);
    const args = [name, fresh, lost, String(maxSandboxes)];
    const entered = await this.redis.eval(ENTER, [SANDBOXES], args);
    if (entered !== fresh) await this.#remove(name, fresh);
    if (typeof entered !== 'string') throw sandboxLimitReached(maxSandboxes, name);
    return entered;
  }

  /** Removes a log, for every server. False if it is gone already. */
  async #remove(name: string, incarnation: string): Promise<boolean> {
    const { losses } = this.redis;
    const count = await this.redis.run(['UNLINK', ...keysOf(name, incarnation)]);
    if (count !== 0 || this.redis.losses === losses) return count !== 0;
    // An attempt whose reply was lost may have removed it.
    const why = 'the sandbox is gone; it is not known whether this request deleted it';
    throw new StorageError(why, { isOutcomeUnknown: true });
  }

  /**
   * Keeps whatever sandbox has a name, found or created when first needed. Its first append always
   * misses something: the state.
   */
  keep(opening: Opening, mayCreate: boolean, onGone: () => void): Keeper {
    const { redis } = this;
    const texts = textsOf({ ...opening, ...this.options });
    /** Undefined while this server knows no log of the sandbox. */
    let position: Position | undefined;
    /** The incarnation whose log is gone. */
    let lost = '';
    let isFull = false;

    const ask = async (from: Position, own: string, text: string): Promise<AppendReply> => {
      const { incarnation, at, token } = from;
      const args = [String(at), token, own, SERVER, text];
      const reply = await redis.eval(APPEND, keysOf(opening.name, incarnation), args);
      if (!Array.isArray(reply)) throw new TypeError(`Redis returned ${typeof reply}, not a list`);
      const [kind, latest, by, full, missed, snapshot] = reply;
      const reached = { incarnation, at: Number(latest), token: String(by) };
      return { kind, position: reached, isFull: full === 1, texts: missed, snapshot };
    };

    const follow = async (reply: AppendReply): Promise<MissedEntries> => {
      const snapshot = reply.snapshot && (await texts.readSnapshot(reply.snapshot));
      const entries = await texts.readEntries(reply.texts);
      position = reply.position;
      return { ...(snapshot && { snapshot }), entries };
    };

    /** Appends entries, or only reads without them; undefined if the log is gone. */
    const append = async (
      entries: readonly LogEntry[],
    ): Promise<'kept' | MissedEntries | undefined> => {
      if (position === undefined) return undefined;
      const [from, { losses }] = [position, redis];
      const token = crypto.randomUUID();
      const text = entries.length === 0 ? '' : texts.entriesText(entries);
      for (;;) {
        const reply = await ask(from, token, text);
        switch (reply.kind) {
          case 'busy':
            await sleep(Math.random() * LOOK);
            break;
          case 'gone':
            lost = from.incarnation;
            position = undefined;
            onGone();
            return undefined;
          case 'missed': {
            if (!reply.snapshot || redis.losses === losses) return follow(reply);
            const why = 'it is not known whether Redis took the change before it was cut off';
            throw new StorageError(why, { isOutcomeUnknown: true });
          }
          case 'kept':
            position = reply.position;
            isFull ||= reply.isFull;
            return 'kept';
        }
      }
    };

    /** Finds or creates the sandbox, and reads its state; undefined if there is none. */
    const enter = async (creates: boolean): Promise<MissedEntries | undefined> => {
      for (;;) {
        const found = await this.find(opening.name);
        let incarnation = found === lost ? undefined : found;
        if (creates) incarnation ??= await this.enter(opening, lost);
        if (incarnation === undefined) return undefined;
        const reply = await ask({ incarnation, at: -1, token: '' }, '', '');
        if (reply.kind === 'missed') return follow(reply);
        // It was deleted since.
        lost = incarnation;
      }
    };

    return {
      isShared: true,
      append: async (entries) => (await append(entries)) ?? (await enter(mayCreate)) ?? 'kept',
      // Creates no sandbox: whoever listens to one while it is deleted must not bring it back.
      async read() {
        const missed = await append([]);
        if (missed === 'kept') return { entries: [] };
        // A sandbox that does not exist looks like a new one.
        return missed ?? (await enter(false)) ?? { snapshot: opening.initial(), entries: [] };
      },
      // Folds the log if it has grown. After a failure, it still has its entries, and asks again later.
      compact(state, evidence) {
        if (!isFull || position === undefined) return;
        isFull = false;
        const { incarnation, at, token } = position;
        const text = texts.snapshotText({ state, evidence: evidence.state });
        const args = [String(at), token, text];
        redis.eval(FOLD, keysOf(opening.name, incarnation), args).catch(() => {});
      },
    };
  }
}
