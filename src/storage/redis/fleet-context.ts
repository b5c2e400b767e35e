import type { OpenUpstream } from '../../sandbox/upstream.ts';
import type { RedisConnection } from './redis-connection.ts';

/** What the sandboxes of a fleet share. */
export interface FleetContext {
  readonly redis: RedisConnection;
  /** What the tokens of the fleet begin with: another fleet has started otherwise. */
  readonly id: string;
  /** Distinguishes this server from all others. */
  readonly server: string;
  readonly createToken: () => string;
  readonly capacity: number;
  readonly maxHold: number;
  readonly openUpstream: OpenUpstream;
  /** Enters a sandbox in the directory, before it is created. `isLost` if Redis had it. */
  readonly enter: (name: string, isLost?: boolean) => Promise<void>;
  /** Keeps a sandbox in the directory. */
  readonly keepEntered: (name: string) => void;
  /** Keeps totals that were cleared. */
  readonly keepPast: (totals: readonly string[]) => Promise<void>;
}

/** The keys of a sandbox. The part in braces decides on the node of a cluster. */
export function keysOf(name: string) {
  const key = (part: string) => `petstore-mock:{${name}}:${part}`;
  return { state: key('state'), journal: key('journal'), edits: key('edits'), held: key('held') };
}

/** The channel of a sandbox. Pub/sub knows no databases. */
export function channelOf(name: string, { address }: RedisConnection): string {
  return `petstore-mock:${address.database}:${name}`;
}
