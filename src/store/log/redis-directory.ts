import type { RedisConnection } from './redis-connection.ts';
import { ENTER, FIND, LEAVE } from './redis-scripts.ts';

const SANDBOXES = 'petstore-mock:{directory}:sandboxes';
const START = 'petstore-mock:{directory}:start';

interface Found {
  readonly start: string;
  /** Undefined if there is no such sandbox. */
  readonly incarnation: string | undefined;
}

/**
 * The sandboxes of a fleet: the incarnation of each name. A sandbox that is deleted and used again is
 * another incarnation, with a log of its own.
 */
export class RedisDirectory {
  readonly #redis: RedisConnection;
  /** How many names there may be, and those that do not count. */
  readonly #most: number;
  readonly #uncounted: readonly string[];

  constructor(redis: RedisConnection, most: number, uncounted: readonly string[]) {
    this.#redis = redis;
    this.#most = most;
    this.#uncounted = uncounted;
  }

  /**
   * Finds what the fleet started from, and the incarnation of a name.
   *
   * @param start what this server started from, to be noted if nothing is: it is the first one, or
   *   Redis has lost everything
   */
  async find(start: string, name: string): Promise<Found> {
    const found = await this.#redis.eval(FIND, [START, SANDBOXES], [start, name]);
    const [noted, incarnation] = Array.isArray(found) ? found : [];
    return {
      start: String(noted),
      incarnation: typeof incarnation === 'string' ? incarnation : undefined,
    };
  }

  /**
   * Enters a name, unless it is known.
   *
   * @param lost an incarnation whose log is gone, to be replaced
   * @returns the incarnation that the name has now; undefined if there are too many
   */
  async enter(name: string, incarnation: string, lost = ''): Promise<string | undefined> {
    const most = this.#uncounted.includes(name) ? -1 : this.#most;
    const args = [name, incarnation, lost, String(most), ...this.#uncounted];
    const entered = await this.#redis.eval(ENTER, [SANDBOXES], args);
    return typeof entered === 'string' ? entered : undefined;
  }

  /** Removes a name, unless it has become another incarnation. */
  async leave(name: string, incarnation: string): Promise<void> {
    await this.#redis.eval(LEAVE, [SANDBOXES], [name, incarnation]);
  }

  /** All names, in pages: there can be a million. */
  async *names(): AsyncGenerator<string> {
    for (let cursor = '0'; ; ) {
      const page = await this.#redis.run('HSCAN', SANDBOXES, cursor, 'COUNT', '1000');
      const [next, fields] = Array.isArray(page) ? page : [];
      // Names and incarnations in turn. A name can come twice.
      for (let at = 0; at < fields.length; at += 2) yield String(fields[at]);
      cursor = String(next);
      if (cursor === '0') return;
    }
  }
}
