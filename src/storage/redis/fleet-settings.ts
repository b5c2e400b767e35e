import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { chooseOptions } from '../../contract/assumption-table.ts';
import { writeJson } from '../../contract/json.ts';
import { DEFAULTS } from '../../defaults.ts';
import { packageVersion } from '../../package.ts';
import type { SandboxOptions } from '../../sandbox/sandbox-options.ts';
import type { Start } from '../../scenario/sandbox-start.ts';
import { storeText } from '../../store/store-text.ts';

/** What all servers of a fleet must have in common, by name. */
export type FleetSettings = Readonly<Record<string, string>>;

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
    records: hashOf(storeText(store)),
    rules: hashOf([writeJson(scenarios.map(({ definition }) => definition)), String(delay)]),
    assumptions: chosen.join(', ') || 'none',
    keys: hashOf([inspect(keys, IN_DETAIL)]),
    clock: JSON.stringify(clock),
    seed: String(seed),
    journal: String(journal ?? DEFAULTS.journal),
    'max-sandboxes': String(maxSandboxes ?? DEFAULTS.maxSandboxes),
    'max-hold': `${maxHold ?? DEFAULTS.maxHold} ms`,
    'sandbox-idle': sandboxIdle === undefined ? 'never' : `${sandboxIdle} ms`,
    upstream,
    'upstream-key': upstreamKey === undefined ? 'none' : hashOf([upstreamKey]),
    'sandbox-required': String(sandboxRequired ?? false),
    plain: String(plain),
  };
}

/** The settings in which two servers differ, a sentence each. */
export function settingDifferences(fleet: FleetSettings, own: FleetSettings): readonly string[] {
  return Object.keys({ ...fleet, ...own })
    .filter((name) => fleet[name] !== own[name])
    .map((name) => `${name}: the fleet has ${fleet[name]}, this server ${own[name]}`);
}

const IN_DETAIL = { depth: null, maxArrayLength: null, maxStringLength: null };

export function hashOf(pieces: Iterable<Buffer | string>): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex').slice(0, 12);
}
