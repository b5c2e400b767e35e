import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { writeJson } from '../../core/json.ts';
import { DEFAULTS } from '../../core/limits.ts';
import type { Exchange } from '../../core/sandbox/exchange.ts';
import { MAX_REMEMBERED_BYTES } from '../../core/sandbox/memory-budget.ts';
import type { Responder } from '../../core/sandbox/responder.ts';
import { StorageError } from '../../core/sandbox/storage-error.ts';
import type { Start } from '../../core/scenario/sandbox-start.ts';
import { storeText } from '../../core/store/store-text.ts';
import type { KeeperContext } from '../../server/feature.ts';
import { packageVersion } from '../../server/files.ts';
import { NODE_PLATFORM } from '../../server/node-platform.ts';
import type { BaseOptions } from '../../server/options.ts';
import { type FleetOptions, parseRedisAddress, REDIS_ADDRESS_FORM } from './options.ts';
import { RedisConnection } from './redis-connection.ts';
import { updateScript } from './scripts.ts';

const DAY_MS = 86_400_000;

export type FleetContext = ReturnType<typeof createContext>;

/** @throws StorageError */
export function createContext(
  url: string,
  options: BaseOptions & FleetOptions,
  { start, upstream }: KeeperContext,
) {
  const address = parseRedisAddress(url);
  if (address === undefined) throw new StorageError(`shared: expected ${REDIS_ADDRESS_FORM}`);
  const {
    fleetTtl: ttl = DAY_MS,
    journal: capacity = DEFAULTS.journal,
    maxHold = DEFAULTS.maxHold,
    maxSandboxes = DEFAULTS.maxSandboxes,
  } = options;
  const prefix = fleetPrefix(`${address.name}:${address.database}`, start, options, upstream);
  return {
    redis: new RedisConnection(address, options.onNotice),
    /** Of its keys. */
    prefix,
    /** By which this server knows its own messages and updates. */
    server: crypto.randomUUID(),
    ttl,
    maxHold,
    maxSandboxes,
    platform: NODE_PLATFORM,
    updateScript: updateScript(prefix, ttl, capacity, MAX_REMEMBERED_BYTES),
    counts: { calls: 0, conflicts: 0 },
    /** Of the journal of one sandbox. */
    cache: { of: '', heads: new Map<number, Exchange>() },
  };
}

/**
 * What the keys of a fleet begin with. A server with another version, which may write states in another
 * way, or with other settings is of another fleet, which begins anew beside this one.
 *
 * @param name of the fleet and its database: pub/sub knows no databases
 */
function fleetPrefix(
  name: string,
  start: Start,
  options: BaseOptions,
  upstream: Responder | undefined,
): string {
  const { assume, keys, clock, delay, seed, scenarios, saved, plain } = start;
  const { journal, maxSandboxes, maxHold, sandboxIdle, sandboxRequired, controlToken } = options;
  const settings = [
    packageVersion(),
    { assume, keys, clock, delay, seed, plain, saved },
    writeJson(scenarios.map(({ definition }) => definition)),
    { journal, maxSandboxes, maxHold, sandboxIdle, sandboxRequired, controlToken },
    upstream && [upstream.url, upstream.key],
  ];
  const hash = createHash('sha256');
  for (const piece of storeText(start.store)) hash.update(piece);
  hash.update(inspect(settings, { depth: null, maxArrayLength: null, maxStringLength: null }));
  return `petstore-mock:${name}:${hash.digest('hex').slice(0, 12)}`;
}
