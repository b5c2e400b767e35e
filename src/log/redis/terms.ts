import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { chooseOptions } from '../../contract/assumption-table.ts';
import { DEFAULTS } from '../../defaults.ts';
import { packageVersion } from '../../package.ts';
import { KeeperError } from '../../sandbox/keeper.ts';
import type { Start } from '../../scenario/sandbox-start.ts';
import { storeText } from '../../store/store-text.ts';

/** A server cannot join a fleet. The message says why. */
export class FleetError extends KeeperError {
  override readonly name = 'FleetError';
}

/** What all servers of a fleet must have in common, by name. */
export type FleetTerms = Readonly<Record<string, string>>;

/** The settings of a server that decide its replies, beside what sandboxes start from. */
interface ServerTerms {
  readonly journal?: number | undefined;
  readonly maxSandboxes?: number | undefined;
  readonly maxHold?: number | undefined;
  readonly sandboxIdle?: number | undefined;
  readonly upstream: string | undefined;
  readonly upstreamKey?: string | undefined;
  readonly sandboxRequired?: boolean | undefined;
  readonly plain?: boolean | undefined;
}

/** The terms of a server. Long ones and secrets are hashed. */
export function fleetTerms(
  { store, choices, keyLists, clock, seed, scenarios, rules }: Start,
  server: ServerTerms,
): FleetTerms {
  const defaults = chooseOptions();
  const chosen = Object.entries(choices)
    .filter(([id, option]) => Reflect.get(defaults, id) !== option)
    .map(([id, option]) => `${id}=${option}`);
  const inDetail = { depth: null, maxArrayLength: null, maxStringLength: null };
  return {
    version: packageVersion(),
    scenarios: listedOrNone(scenarios.map(({ name }) => name)),
    records: hashOf(storeText(store)),
    rules: hashOf([inspect(rules, inDetail)]),
    assumptions: listedOrNone(chosen),
    keys: hashOf([inspect(keyLists, inDetail)]),
    clock: JSON.stringify(clock),
    seed: String(seed),
    journal: String(server.journal ?? DEFAULTS.journal),
    'max-sandboxes': String(server.maxSandboxes ?? DEFAULTS.maxSandboxes),
    'max-hold': `${server.maxHold ?? DEFAULTS.maxHold} ms`,
    upstream: server.upstream ?? 'none',
    'upstream-key': server.upstreamKey === undefined ? 'none' : hashOf([server.upstreamKey]),
    'sandbox-required': String(server.sandboxRequired ?? false),
    plain: String(server.plain ?? false),
    'sandbox-idle': server.sandboxIdle === undefined ? 'never' : `${server.sandboxIdle} ms`,
  };
}

/** The terms in which two servers differ, a sentence each. */
export function differences(fleet: FleetTerms, own: FleetTerms): readonly string[] {
  return Object.keys({ ...fleet, ...own })
    .filter((name) => fleet[name] !== own[name])
    .map((name) => `${name}: the fleet has ${fleet[name]}, this server ${own[name]}`);
}

function listedOrNone(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}

function hashOf(pieces: Iterable<Buffer | string>): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex').slice(0, 12);
}
