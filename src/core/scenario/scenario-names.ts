import type { Platform } from '../platform.ts';

/** The scenarios that ship, each a file in `scenarios/`. */
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
  'new-error',
  'new-fields',
  'no-orders',
  'outage',
  'proxy-error-page',
  'rate-limited',
  'read-only-key',
  'renamed-code',
  'shipped-orders',
  'slow',
  'sold-out',
  'sparse-orders',
  'truncated-bodies',
  'unseen-statuses',
] as const;

/** The name of a scenario that ships. */
export type ScenarioName = (typeof SCENARIO_NAMES)[number];

export function isShipped(name: string): name is ScenarioName {
  return SCENARIO_NAMES.some((shipped) => shipped === name);
}

/** The name of a scenario that a request contains. */
export const WRITTEN_SCENARIO = 'request';

type Texts = Pick<Platform, 'shippedText'>;

export function readShippedText({ shippedText }: Texts, name: ScenarioName): string {
  return shippedText(`scenarios/${name}.yaml`);
}

/** The text of a shipped scenario, with a `$schema` that works where the package is installed. */
export function scenarioText(texts: Texts, name: ScenarioName): string {
  const schema = '$schema=./node_modules/petstore-mock/scenarios/';
  return readShippedText(texts, name).replace('$schema=', schema);
}

export function shippedScenarios(texts: Texts) {
  return SCENARIO_NAMES.map((name) => {
    const [, description = ''] = /^description: (.*)$/m.exec(readShippedText(texts, name)) ?? [];
    return { name, description };
  });
}
