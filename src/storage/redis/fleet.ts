import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { chooseOptions } from '../../contract/assumption-table.ts';
import { writeJson } from '../../contract/json.ts';
import { packageVersion } from '../../files.ts';
import { DEFAULTS, PERMANENT_SANDBOXES } from '../../limits.ts';
import { Totals } from '../../sandbox/coverage.ts';
import type { SandboxOptions } from '../../sandbox/sandboxes.ts';
import type { OpenUpstream } from '../../sandbox/state.ts';
import {
  createLimitError,
  type Fleet,
  type OpenedSandbox,
  StorageError,
} from '../../sandbox/storage.ts';
import type { Start } from '../../scenario/sandbox-start.ts';
import { storeText } from '../../store/store-text.ts';
import { parseRedisAddress, REDIS_ADDRESS_FORM } from './address.ts';
import { RedisConnection } from './redis-connection.ts';
import { parseFields, parseTotals } from './redis-journal.ts';
import { ADD_PAST, DELETE, ENTER, sandboxKeys, UNUSED } from './scripts.ts';
import { type FleetContext, RedisStorage } from './storage.ts';

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

/** What the fleet started from, the names of its sandboxes, and the totals of what is gone. */
const START = 'petstore-mock:{directory}:start';
const SANDBOXES = 'petstore-mock:{directory}:sandboxes';
const PAST = 'petstore-mock:{directory}:past';

/** What the fleet started from comes after a random id, which tells when Redis has lost everything. */
const START_ID_LENGTH = 36;

/**
 * Joins the servers that share their sandboxes through a Redis.
 *
 * @throws StorageError, also if the server differs from those of the fleet
 */
export async function joinFleet(options: FleetOptions): Promise<Fleet> {
  const address = parseRedisAddress(options.url);
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
  readonly capacity: number;
  readonly maxHold: number;
  readonly openUpstream: OpenUpstream;
  readonly #options: FleetOptions;
  #disagreement: string | undefined;
  id = '';

  constructor(redis: RedisConnection, options: FleetOptions) {
    this.redis = redis;
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

  create(sandbox: OpenedSandbox): Promise<boolean> {
    return this.open(sandbox).create();
  }

  async delete(name: string, unusedFor: number): Promise<boolean> {
    const args = [this.redis.channelName(name), `${unusedFor}`];
    const totals = await this.redis.eval(DELETE, 'writes', Object.values(sandboxKeys(name)), args);
    if (!Array.isArray(totals)) return false;
    await this.#leave(name);
    await this.keepPast(totals.map(String));
    return true;
  }

  /** Also takes names of sandboxes off that are gone, such as those that Redis has evicted. */
  async unused(): Promise<ReadonlyMap<string, number>> {
    const unused = new Map<string, number>();
    const look = async (name: string): Promise<void> => {
      const milliseconds = await this.redis.eval(UNUSED, 'reads', [sandboxKeys(name).state]);
      if (milliseconds === null) await this.#leave(name);
      else unused.set(name, Number(milliseconds));
    };
    await Promise.all((await this.#names()).map(look));
    return new Map([...unused].sort(([one], [two]) => (one < two ? -1 : 1)));
  }

  async totals(): Promise<Totals> {
    const keys = [PAST, ...(await this.#names()).map((name) => sandboxKeys(name).totals)];
    const all = await Promise.all(keys.map((key) => this.redis.run(['HGETALL', key], 'reads')));
    const totals = new Totals();
    for (const fields of all) totals.merge(parseTotals(parseFields(fields)));
    return totals;
  }

  close(): void {
    this.redis.close();
  }

  async enter(name: string): Promise<void> {
    const { settings, maxSandboxes, options } = this.#options;
    const args = [crypto.randomUUID(), JSON.stringify(settings), name, `${maxSandboxes}`];
    const keys = [START, SANDBOXES];
    const reply = await this.redis.eval(ENTER, 'reads', keys, [...args, ...PERMANENT_SANDBOXES]);
    const [first, hasRoom] = Array.isArray(reply) ? reply : [];
    this.#compare(JSON.parse(first.slice(START_ID_LENGTH)));
    const id = first.slice(0, START_ID_LENGTH);
    if (this.id !== '' && this.id !== id) {
      options.onNotice?.(
        `${this.redis.address.shown} has lost data; sandboxes that it lost start anew`,
      );
    }
    this.id = id;
    if (hasRoom !== 1) throw createLimitError(maxSandboxes, name);
  }

  async keepPast(totals: readonly string[]): Promise<void> {
    // They are missing in reports if Redis fails just now.
    const past = JSON.stringify(parseTotals(parseFields(totals)));
    await this.redis.eval(ADD_PAST, 'writes', [PAST], [past]).catch(() => {});
  }

  /** The directory follows the sandbox, which can have been created again. */
  async #leave(name: string): Promise<void> {
    await this.redis.run(['SREM', SANDBOXES, name], 'reads');
    const isThere = await this.redis.run(['EXISTS', sandboxKeys(name).state], 'reads');
    if (isThere === 1) await this.redis.run(['SADD', SANDBOXES, name], 'reads');
  }

  async #names(): Promise<readonly string[]> {
    const names = await this.redis.run(['SMEMBERS', SANDBOXES], 'reads');
    return [...new Set<string>(Array.isArray(names) || names instanceof Set ? names : [])];
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
}

/** What all servers of a fleet must have in common, by name. */
type FleetSettings = Readonly<Record<string, string>>;

/** The settings of a server that decide its replies, beside what sandboxes start from. */
interface ServerSettings extends SandboxOptions {
  readonly upstream: string | undefined;
  readonly upstreamKey?: string | undefined;
  readonly plain?: boolean | undefined;
}

/** The settings of a server that its fleet must share. Long ones and secrets are hashed. */
export function fleetSettings(
  { store, assume, keys, clock, delay, seed, scenarios }: Start,
  { journal, maxSandboxes, maxHold, sandboxIdle, sandboxRequired, ...server }: ServerSettings,
): FleetSettings {
  const { upstream = 'none', upstreamKey, plain = false } = server;
  const defaults = chooseOptions();
  const assumed = Object.assign({}, assume, ...scenarios.map((scenario) => scenario.assume));
  const chosen = Object.entries(chooseOptions(assumed))
    .filter(([id, option]) => Reflect.get(defaults, id) !== option)
    .map(([id, option]) => `${id}=${option}`);
  return {
    version: packageVersion(),
    scenarios: scenarios.map(({ name }) => name).join(', ') || 'none',
    records: shortHash(storeText(store)),
    rules: shortHash([writeJson(scenarios.map(({ definition }) => definition)), String(delay)]),
    assumptions: chosen.join(', ') || 'none',
    keys: shortHash([inspect(keys, IN_DETAIL)]),
    clock: JSON.stringify(clock),
    seed: String(seed),
    journal: String(journal ?? DEFAULTS.journal),
    'max-sandboxes': String(maxSandboxes ?? DEFAULTS.maxSandboxes),
    'max-hold': `${maxHold ?? DEFAULTS.maxHold} ms`,
    'sandbox-idle': sandboxIdle === undefined ? 'never' : `${sandboxIdle} ms`,
    upstream,
    'upstream-key': upstreamKey === undefined ? 'none' : shortHash([upstreamKey]),
    'sandbox-required': String(sandboxRequired ?? false),
    plain: String(plain),
  };
}

/** The settings in which two servers differ, a sentence each. */
function settingDifferences(fleet: FleetSettings, own: FleetSettings): readonly string[] {
  return Object.keys({ ...fleet, ...own })
    .filter((name) => fleet[name] !== own[name])
    .map((name) => `${name}: the fleet has ${fleet[name]}, this server ${own[name]}`);
}

const IN_DETAIL = { depth: null, maxArrayLength: null, maxStringLength: null };

function shortHash(pieces: Iterable<Buffer | string>): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex').slice(0, 12);
}
