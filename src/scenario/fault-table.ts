import { rowNames } from '../contract/records.ts';

/**
 * What a fault does to the reply: it replaces it, and the client never sees it; or spoils it, so that
 * the client sees a status but no usable reply; or delivers it complete.
 */
type FaultEffect = 'replaces' | 'spoils' | 'delivers';

export const FAULTS = {
  /** A TCP reset. Sends nothing. */
  reset: 'replaces',
  /** Closes the connection. Sends nothing. */
  close: 'replaces',
  /** Sends nothing until the client leaves, for 5 minutes at most. */
  hang: 'replaces',
  /** A proxy's error page, 502, instead of JSON. */
  html: 'replaces',
  /** Half the body that `Content-Length` promises, then the connection closes. */
  truncate: 'spoils',
  /** A complete body that is not JSON. */
  'malformed-json': 'spoils',
  /** A chunked body with a chunk size that is not a number. */
  'bad-chunk': 'spoils',
  /** The body in pieces, spread evenly over some time. */
  'slow-body': 'delivers',
} as const satisfies Record<string, FaultEffect>;

type FaultName = keyof typeof FAULTS;

/** A fault with its settings: the pieces of a slow body, and the milliseconds that they take. */
export type Fault = {
  readonly [K in FaultName]: K extends 'slow-body'
    ? { readonly kind: K; readonly chunks: number; readonly over: number }
    : { readonly kind: K };
}[FaultName];

export const FAULT_NAMES = rowNames(FAULTS);
