import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { chooseOptions } from '../../core/contract/assumption-table.ts';
import { writeJson } from '../../core/json.ts';
import { DEFAULTS } from '../../core/limits.ts';
import type { Responder } from '../../core/sandbox/responder.ts';
import type { Start } from '../../core/scenario/sandbox-start.ts';
import { storeText } from '../../core/store/store-text.ts';
import { packageVersion } from '../../server/files.ts';
import type { BaseOptions } from '../../server/options.ts';

export type FleetSettings = Readonly<Record<string, string>>;

/** The settings of a server that its fleet must share. Long ones and secrets are hashed. */
export function fleetSettings(
  { store, assume, keys, clock, delay, seed, scenarios }: Start,
  { journal, maxSandboxes, maxHold, sandboxIdle, sandboxRequired, plain = false }: BaseOptions,
  upstream: Responder | undefined,
): FleetSettings {
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
    upstream: upstream?.url ?? 'none',
    'upstream-key': upstream?.key === undefined ? 'none' : shortHash([upstream.key]),
    'sandbox-required': String(sandboxRequired ?? false),
    plain: String(plain),
  };
}

export function settingDifferences(fleet: FleetSettings, own: FleetSettings): readonly string[] {
  return Object.keys({ ...fleet, ...own })
    .filter((name) => fleet[name] !== own[name])
    .map((name) => `${name}: the fleet has ${fleet[name]}, this server ${own[name]}`);
}

const IN_DETAIL = { depth: null, maxArrayLength: null, maxStringLength: null };

export function shortHash(pieces: Iterable<Buffer | string>): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex').slice(0, 12);
}
