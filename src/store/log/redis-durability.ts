import { LogError } from './change-log.ts';
import { HELLO } from './redis-client.ts';
import type { RedisConnection } from './redis-connection.ts';

/** The first version with exclusive ranges in `XRANGE`. */
const OLDEST = [6, 2] as const;

/**
 * What this Redis can lose because of its settings, a sentence each.
 *
 * @throws LogError if it is too old
 */
export async function durabilityNotices(redis: RedisConnection): Promise<readonly string[]> {
  requireVersion(redis, Object(await redis.run(...HELLO)).version);
  const [appendOnly, sync, save, most, eviction] = await Promise.all([
    setting(redis, 'appendonly'),
    setting(redis, 'appendfsync'),
    setting(redis, 'save'),
    setting(redis, 'maxmemory'),
    setting(redis, 'maxmemory-policy'),
  ]);
  const notices: string[] = [];
  const { shown } = redis.address;
  if (appendOnly === undefined) {
    notices.push(`${shown} does not show its settings; make sure that they include appendonly yes`);
  } else if (appendOnly === 'no' && save === '') {
    notices.push(
      `${shown} keeps nothing on disk: all sandboxes are lost when it restarts. Set appendonly yes`,
    );
  } else if (appendOnly === 'no') {
    notices.push(
      `${shown} saves to disk only at intervals (save ${save}): a crash loses later changes. Set appendonly yes`,
    );
  } else if (sync !== 'always') {
    notices.push(
      `${shown} can lose about a second of changes when its machine crashes (appendfsync ${sync}); always loses none`,
    );
  }
  if (most !== undefined && most !== '0' && eviction?.startsWith('allkeys') === true) {
    notices.push(
      `${shown} evicts sandboxes when its memory is full (maxmemory-policy ${eviction}). Set noeviction`,
    );
  }
  return notices;
}

function requireVersion({ address }: RedisConnection, version: unknown): void {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(String(version)) ?? [];
  const [oldMajor, oldMinor] = OLDEST;
  const isNew =
    Number(major) > oldMajor || (Number(major) === oldMajor && Number(minor) >= oldMinor);
  if (major === undefined || isNew) return;
  const expected = `expected Redis ${OLDEST.join('.')} or later`;
  throw new LogError(`${address.shown}: ${expected}, found ${version}`);
}

/** A setting; undefined if Redis does not show it, as with some providers. */
async function setting(redis: RedisConnection, name: string): Promise<string | undefined> {
  try {
    const reply: unknown = await redis.run('CONFIG', 'GET', name);
    // A map in the protocol of Redis 6 and later.
    return Object(reply)[name];
  } catch (error) {
    if (error instanceof LogError && !error.maybeDone) return undefined;
    throw error;
  }
}
