import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { writeJson } from '../../core/json.ts';
import type { Platform } from '../../core/platform.ts';
import type { MemoryBudget } from '../../core/sandbox/memory-budget.ts';
import type { Responder } from '../../core/sandbox/responder.ts';
import type { Start } from '../../core/scenario/sandbox-start.ts';
import { storeText } from '../../core/store/store-text.ts';
import { packageVersion } from '../../server/files.ts';
import type { BaseOptions } from '../../server/options.ts';
import type { RedisConnection } from './redis-connection.ts';
import type { fleetKeys, SandboxKeys, Script } from './scripts.ts';

export interface FleetContext {
  readonly redis: RedisConnection;
  /** By which this server knows its own messages and updates. */
  readonly server: string;
  readonly ttl: number;
  readonly capacity: number;
  readonly maxHold: number;
  readonly maxSandboxes: number;
  readonly platform: Platform;
  /** Of cached exchanges. */
  readonly memory: MemoryBudget;
  readonly fleetKeys: ReturnType<typeof fleetKeys>;
  readonly sandboxKeys: (name: string) => SandboxKeys;
  readonly updateScript: Script;
  readonly counts: { calls: number; conflicts: number };
}

/**
 * What the keys of a fleet begin with. A server with another version, which may write states in another
 * way, or with other settings is of another fleet, which begins anew beside this one.
 *
 * @param name of the fleet and its database: pub/sub knows no databases
 */
export function fleetPrefix(
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
