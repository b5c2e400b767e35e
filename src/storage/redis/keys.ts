import type { RedisConnection } from './redis-connection.ts';

/** The keys of a sandbox. The part in braces decides on the node of a cluster. */
export function keysOf(name: string) {
  const key = (part: string) => `petstore-mock:{${name}}:${part}`;
  return { state: key('state'), journal: key('journal'), edits: key('edits'), held: key('held') };
}

/** The channel of a sandbox. Pub/sub knows no databases. */
export function channelOf(name: string, { address }: RedisConnection): string {
  return `petstore-mock:${address.database}:${name}`;
}
