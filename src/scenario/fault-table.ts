interface FaultRow {
  /**
   * What happens to the reply: the fault replaces it and the client never sees it; or spoils it, so
   * that the client sees a status but no usable reply; or delivers it complete.
   */
  readonly effect: 'replaces' | 'spoils' | 'delivers';
  /** Whether the fault does nothing to a reply without a body. */
  readonly needsBody: boolean;
}

/** The ways to break an exchange on the wire, by name. */
export const FAULTS = {
  /** A TCP reset. Sends nothing. */
  reset: { effect: 'replaces', needsBody: false },
  /** Closes the connection. Sends nothing. */
  close: { effect: 'replaces', needsBody: false },
  /** Sends nothing until the client leaves, for 5 minutes at most. */
  hang: { effect: 'replaces', needsBody: false },
  /** A proxy's error page, 502, instead of JSON. */
  html: { effect: 'replaces', needsBody: false },
  /** Half the body that `Content-Length` promises, then the connection closes. */
  truncate: { effect: 'spoils', needsBody: false },
  /** A complete body that is not JSON. */
  'malformed-json': { effect: 'spoils', needsBody: true },
  /** A chunked body with a chunk size that is not a number. */
  'bad-chunk': { effect: 'spoils', needsBody: false },
  /** The body in pieces, spread evenly over some time. */
  'slow-body': { effect: 'delivers', needsBody: true },
} as const satisfies Record<string, FaultRow>;

export type FaultName = keyof typeof FAULTS;

/** A fault with its settings: the pieces of a slow body, and the milliseconds that they take. */
export type Fault = {
  readonly [K in FaultName]: K extends 'slow-body'
    ? { readonly kind: K; readonly chunks: number; readonly over: number }
    : { readonly kind: K };
}[FaultName];

export const FAULT_NAMES = Object.keys(FAULTS).filter((name): name is FaultName =>
  Object.hasOwn(FAULTS, name),
);
