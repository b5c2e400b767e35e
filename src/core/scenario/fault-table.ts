import { rowNames } from '../words.ts';

/**
 * What each does to the reply. After `replaces`, the client has none, and after `substitutes` that of a
 * proxy; neither runs the operation by itself. After `spoils`, it has a status and no usable reply.
 */
export const FAULTS = {
  reset: 'replaces',
  close: 'replaces',
  hang: 'replaces',
  html: 'substitutes',
  truncate: 'spoils',
  'malformed-json': 'spoils',
  'bad-chunk': 'spoils',
  'slow-body': 'delivers',
  'stale-connection': 'delivers',
} as const satisfies Record<string, 'replaces' | 'substitutes' | 'spoils' | 'delivers'>;

export type FaultName = keyof typeof FAULTS;

/** A slow body comes in `chunks` pieces over so many milliseconds. */
export type Fault = {
  readonly [K in FaultName]: K extends 'slow-body'
    ? { readonly kind: K; readonly chunks: number; readonly over: number }
    : { readonly kind: K };
}[FaultName];

export const FAULT_NAMES = rowNames(FAULTS);

/** Whether the client gets the reply as it is meant. */
export function isDelivered(fault: Fault | undefined): boolean {
  return fault === undefined || FAULTS[fault.kind] === 'delivers';
}

/** A fault that breaks the reply on its way. After the others, a reply is written like any other. */
export type WireFault = Exclude<Fault, { readonly kind: 'html' | 'stale-connection' }>;

export function isWireFault(fault: Fault): fault is WireFault {
  return fault.kind !== 'html' && fault.kind !== 'stale-connection';
}
