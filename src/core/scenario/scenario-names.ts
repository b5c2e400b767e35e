/** Each is a file in `scenarios/`. */
export const SCENARIO_NAMES = [
  'after-sunset',
  'cancelled-orders',
  'conflict-without-body',
  'connection-reset',
  'empty-inventory',
  'empty-store',
  'expiring-key',
  'flaky',
  'int64-ids',
  'invalid-keys',
  'large-store',
  'lost-reply',
  'malformed-json',
  'no-orders',
  'outage',
  'proxy-error-page',
  'rate-limited',
  'read-only-key',
  'shipped-orders',
  'slow',
  'sold-out',
  'sparse-orders',
  'truncated-bodies',
  'unseen-statuses',
] as const;

export type ScenarioName = (typeof SCENARIO_NAMES)[number];

export function isShipped(name: string): name is ScenarioName {
  return SCENARIO_NAMES.some((shipped) => shipped === name);
}

/** Of a scenario that is written in a request. */
export const WRITTEN_SCENARIO = 'request';
