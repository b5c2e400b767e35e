import type { AssumptionId } from '../contract/assumption-table.ts';
import { ANIMAL_PROBES } from './probes/animal-probes.ts';
import { INPUT_PROBES } from './probes/input-probes.ts';
import { INVENTORY_PROBES } from './probes/inventory-probes.ts';
import { ORDER_PROBES } from './probes/order-probes.ts';
import type { Probe } from './probes/probe-shape.ts';
import { WIRE_PROBES } from './probes/wire-probes.ts';

/** What settles each assumption. */
export const PROBES: Readonly<Record<AssumptionId, Probe>> = {
  ...INPUT_PROBES,
  ...ANIMAL_PROBES,
  ...INVENTORY_PROBES,
  ...ORDER_PROBES,
  ...WIRE_PROBES,
};
