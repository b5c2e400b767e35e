import { rowNames } from '../tables.ts';

/**
 * The effect of each fault on the reply. The client gets none (`replaces`) or that of a proxy
 * (`substitutes`), and the operation does not run without `apply`; a status without a usable body
 * (`spoils`); the reply late (`slows`); the reply, then an error at the next request (`outlasts`).
 */
const FAULTS = {
  reset: 'replaces',
  close: 'replaces',
  hang: 'replaces',
  html: 'substitutes',
  truncate: 'spoils',
  'malformed-json': 'spoils',
  'bad-chunk': 'spoils',
  'slow-body': 'slows',
  'stale-connection': 'outlasts',
} as const satisfies Record<string, Effect>;

type Effect = 'replaces' | 'substitutes' | 'spoils' | 'slows' | 'outlasts';

type FaultName = keyof typeof FAULTS;

/** The settings of each fault. A slow body arrives in `chunks` pieces over `over` milliseconds. */
export type Fault = {
  readonly [K in FaultName]: K extends 'slow-body'
    ? { readonly kind: K; readonly chunks: number; readonly over: number }
    : { readonly kind: K };
}[FaultName];

/** The faults that have one of these effects. */
export type FaultWith<E extends Effect> = {
  [K in FaultName]: (typeof FAULTS)[K] extends E ? Extract<Fault, { readonly kind: K }> : never;
}[FaultName];

export const FAULT_NAMES = rowNames(FAULTS);

export function hasEffect<E extends Effect>(
  fault: Fault | undefined,
  ...effects: readonly E[]
): fault is FaultWith<E> {
  return fault !== undefined && effects.some((effect) => effect === FAULTS[fault.kind]);
}

/** Whether the client gets the reply unbroken. */
export function isDelivered(fault: Fault | undefined): boolean {
  return fault === undefined || hasEffect(fault, 'slows', 'outlasts');
}

/** Faults that change how a reply is written. With any other, it is written as usual. */
export type WireFault = FaultWith<'replaces' | 'spoils' | 'slows'>;

export function isWireFault(fault: Fault | undefined): fault is WireFault {
  return hasEffect(fault, 'replaces', 'spoils', 'slows');
}
