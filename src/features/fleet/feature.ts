import type { Feature, StorageContext } from '../../server/feature.ts';
import { FLEET_OPTIONS, type FleetOptions } from './options.ts';

/** Keeps sandboxes in Redis, which several servers share. */
export const FLEET = {
  name: 'fleet',
  options: FLEET_OPTIONS,
  openStorage: async (options: FleetOptions, context: StorageContext) => {
    if (options.shared === undefined) return undefined;
    const { joinFleet } = await import('./fleet.ts');
    return joinFleet(options.shared, options, context);
  },
} as const satisfies Feature;
