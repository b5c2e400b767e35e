/** A way to break an exchange on the wire. */
export type Fault =
  /** A TCP reset. Sends nothing. */
  | { readonly kind: 'reset' }
  /** Closes the connection. Sends nothing. */
  | { readonly kind: 'close' }
  /** Sends nothing until the client leaves, for 5 minutes at most. */
  | { readonly kind: 'hang' }
  /** A proxy's error page, 502, instead of JSON. */
  | { readonly kind: 'html' }
  /** Half the body that `Content-Length` promises, then the connection closes. */
  | { readonly kind: 'truncate' }
  /** A complete body that is not JSON. */
  | { readonly kind: 'malformed-json' }
  /** A chunked body with a chunk size that is not a number. */
  | { readonly kind: 'bad-chunk' }
  /** The body in `chunks` pieces, spread evenly over `over` milliseconds. */
  | { readonly kind: 'slow-body'; readonly chunks: number; readonly over: number };

export type FaultName = Fault['kind'];

interface FaultRow<F extends Fault> {
  /**
   * What happens to the reply: the fault replaces it and the client never sees it; or spoils it, so
   * that the client sees a status but no usable reply; or delivers it complete.
   */
  readonly effect: 'replaces' | 'spoils' | 'delivers';
  /** Whether the fault does nothing to a reply without a body. */
  readonly needsBody: boolean;
  /** The fault that its bare name stands for in a scenario. */
  readonly byName: F;
}

/** Every fault by name. */
export const FAULTS: { readonly [K in FaultName]: FaultRow<Extract<Fault, { kind: K }>> } = {
  reset: { effect: 'replaces', needsBody: false, byName: { kind: 'reset' } },
  close: { effect: 'replaces', needsBody: false, byName: { kind: 'close' } },
  hang: { effect: 'replaces', needsBody: false, byName: { kind: 'hang' } },
  html: { effect: 'replaces', needsBody: false, byName: { kind: 'html' } },
  truncate: { effect: 'spoils', needsBody: false, byName: { kind: 'truncate' } },
  'malformed-json': { effect: 'spoils', needsBody: true, byName: { kind: 'malformed-json' } },
  'bad-chunk': { effect: 'spoils', needsBody: false, byName: { kind: 'bad-chunk' } },
  'slow-body': {
    effect: 'delivers',
    needsBody: true,
    byName: { kind: 'slow-body', chunks: 10, over: 2000 },
  },
};

export const FAULT_NAMES = Object.keys(FAULTS).filter((name): name is FaultName =>
  Object.hasOwn(FAULTS, name),
);
