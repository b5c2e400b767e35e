import type { Feature, KeeperContext } from '../../server/feature.ts';
import type { BaseOptions } from '../../server/options.ts';
import { FLEET_OPTIONS, type FleetOptions } from './options.ts';

/** Keeps sandboxes in Redis, so that several servers answer as one. */
export const FLEET = {
  name: 'fleet',
  options: FLEET_OPTIONS,
  openKeeper: async (
    { shared: url, ...options }: BaseOptions & FleetOptions,
    context: KeeperContext,
  ) =>
    url === undefined ? undefined : (await import('./fleet.ts')).joinFleet(url, options, context),
} as const satisfies Feature;
