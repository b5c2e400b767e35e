import { Totals } from '../../core/sandbox/coverage.ts';
import type { Exchange } from '../../core/sandbox/exchange.ts';
import type { RedisConnection } from './redis-connection.ts';
import { COMPACT_TOTALS, sandboxKey } from './scripts.ts';

/** How many texts may wait to be summed up. */
const MAX_WAITING_TEXTS = 64;

/**
 * What exchanges add to the totals, as text; empty if nothing.
 *
 * @param first the number of their first exchange, relative to the last one before the update
 */
export function writeTotals(
  exchanges: readonly Exchange[],
  sandbox: string,
  first: number,
): string {
  const totals = new Totals();
  for (const [index, exchange] of exchanges.entries()) {
    const { covers, findings } = exchange;
    if (covers.length + findings.length === 0) continue;
    totals.add({ ...exchange, number: first + index }, sandbox);
  }
  return totals.shown.length + totals.findings.length === 0 ? '' : JSON.stringify(totals);
}

async function readTexts(redis: RedisConnection, sandbox: string) {
  const { prefix } = redis;
  const key = sandbox === '' ? `${prefix}/past` : sandboxKey(prefix, sandbox, 'totals');
  const reply = await redis.run(['LRANGE', key, '0', '-1']);
  const texts: readonly string[] = Array.isArray(reply) ? reply : [];
  const totals = new Totals();
  for (const text of texts) totals.merge(JSON.parse(text));
  return { texts, totals };
}

/** The totals of a sandbox; without a name, those of deleted sandboxes and cleared journals. */
export async function readTotals(redis: RedisConnection, sandbox = ''): Promise<Totals> {
  return (await readTexts(redis, sandbox)).totals;
}

/** Replaces many texts by one with their sum. */
export function compactTotals(redis: RedisConnection, count: unknown, sandbox = ''): void {
  if (Number(count) < MAX_WAITING_TEXTS) return;
  const sum = async () => {
    const { texts, totals } = await readTexts(redis, sandbox);
    const [first = ''] = texts;
    await redis.eval(COMPACT_TOTALS, [sandbox, first, `${texts.length}`, JSON.stringify(totals)]);
  };
  sum().catch(() => {});
}
