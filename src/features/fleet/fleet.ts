import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { chooseOptions } from '../../core/contract/assumption-table.ts';
import { writeJson } from '../../core/contract/json.ts';
import { DEFAULTS, PERMANENT_SANDBOXES } from '../../core/limits.ts';
import { Totals } from '../../core/sandbox/coverage.ts';
import type { SandboxOptions } from '../../core/sandbox/sandboxes.ts';
import type { OpenUpstream } from '../../core/sandbox/state.ts';
import { type Fleet, type OpenedSandbox, StorageError } from '../../core/sandbox/storage.ts';
import type { Start } from '../../core/scenario/sandbox-start.ts';
import { storeText } from '../../core/store/store-text.ts';
import { packageVersion } from '../../server/files.ts';
import { parseRedisAddress, REDIS_ADDRESS_FORM } from './address.ts';
import { RedisConnection } from './redis-connection.ts';
import { parseFields, parseTotals } from './redis-journal.ts';
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
import { type FleetContext, RedisStorage } from './storage.ts';

interface FleetOptions {
  readonly url: string;
  readonly settings: FleetSettings;
  readonly maxSandboxes: number;
  readonly openUpstream: OpenUpstream;
  readonly options: SandboxOptions & {
    readonly onNotice?: ((message: string) => void) | undefined;
  };
}

/** @throws StorageError, also if the server differs from those of the fleet */
export async function joinFleet(options: FleetOptions): Promise<Fleet> {
  const address = parseRedisAddress(options.url);
  if (address === undefined) throw new StorageError(`shared: expected ${REDIS_ADDRESS_FORM}`);
  const redis = new RedisConnection(address, options.options.onNotice);
  try {
    const fleet = new RedisFleet(redis, options);
    await fleet.agree();
    return fleet;
  } catch (error) {
    redis.close();
    throw error;
  }
}

class RedisFleet implements Fleet {
  readonly #redis: RedisConnection;
  readonly #settings: FleetSettings;
  readonly #context: FleetContext;

  constructor(
    redis: RedisConnection,
    { settings, maxSandboxes, openUpstream, options }: FleetOptions,
  ) {
    this.#redis = redis;
    this.#settings = settings;
    const start = JSON.stringify(settings);
    this.#context = {
      redis,
      start,
      id: shortHash([start]),
      capacity: options.journal ?? DEFAULTS.journal,
      maxHold: options.maxHold ?? DEFAULTS.maxHold,
      maxSandboxes,
      openUpstream,
      disagreement: undefined,
      agree: () => this.agree(),
      keepPast: (totals) => this.#keepPast(totals),
    };
  }

  get problem(): string | undefined {
    return this.#redis.problem ?? this.#context.disagreement;
  }

  open(sandbox: OpenedSandbox): RedisStorage {
    return new RedisStorage(sandbox, this.#context);
  }

  create(sandbox: OpenedSandbox): Promise<boolean> {
    return this.open(sandbox).create();
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

  close(): void {
    this.#redis.close();
  }

  async agree(): Promise<void> {
    const { start } = this.#context;
    await this.#redis.run(['SETNX', START, start], 'reads');
    const first = (await this.#redis.run(['GET', START], 'reads')) ?? start;
    const different = settingDifferences(JSON.parse(String(first)), this.#settings);
    this.#context.disagreement = undefined;
    if (different.length === 0) return;
    this.#context.disagreement = [
      `the servers on ${this.#redis.address.shown} started with other settings`,
      ...different,
      'start this one the same way, use another database (redis://HOST:PORT/1), or stop them and empty theirs (redis-cli FLUSHDB)',
    ].join('\n');
    throw new StorageError(this.#context.disagreement);
  }

  /** They are missing in reports if Redis fails just now. */
  async #keepPast(totals: RedisHash): Promise<void> {
    const past = JSON.stringify(parseTotals(totals));
    await this.#redis.eval(ADD_PAST, 'writes', [PAST], [past]).catch(() => {});
  }
}

type FleetSettings = Readonly<Record<string, string>>;

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
