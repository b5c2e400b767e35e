import { rowNames } from '../tables.ts';

const FAULTS = {
  reset: 'no-reply',
  close: 'no-reply',
  hang: 'no-reply',
  html: 'proxy-reply',
  truncate: 'cut-reply',
  'malformed-json': 'bad-body',
  'bad-chunk': 'cut-reply',
  'slow-body': 'whole-reply',
  'stale-connection': 'last-reply',
} as const satisfies Record<string, Effect>;

/**
 * What each effect leaves of a call: whether the operation runs without `apply`, who sends a status and
 * headers, whether the client gets the mock's reply whole, and whether it can go on with the connection.
 */
const EFFECTS = {
  'no-reply': { runs: false, sender: 'nobody', isDelivered: false, keepsConnection: false },
  'proxy-reply': { runs: false, sender: 'proxy', isDelivered: false, keepsConnection: false },
  'cut-reply': { runs: true, sender: 'mock', isDelivered: false, keepsConnection: false },
  'bad-body': { runs: true, sender: 'mock', isDelivered: false, keepsConnection: true },
  'whole-reply': { runs: true, sender: 'mock', isDelivered: true, keepsConnection: true },
  'last-reply': { runs: true, sender: 'mock', isDelivered: true, keepsConnection: false },
} as const;

type Effect = keyof typeof EFFECTS;

type FaultName = keyof typeof FAULTS;

/** The settings of each fault. A slow body arrives in `chunks` pieces over `over` milliseconds. */
export type Fault = {
  readonly [K in FaultName]: K extends 'slow-body'
    ? { readonly kind: K; readonly chunks: number; readonly over: number }
    : { readonly kind: K };
}[FaultName];

type FaultWith<E extends Effect> = {
  [K in FaultName]: (typeof FAULTS)[K] extends E ? Extract<Fault, { readonly kind: K }> : never;
}[FaultName];

const IN_MESSAGE = ['cut-reply', 'bad-body', 'whole-reply'] as const;

/** Breaks the reply itself: `breakReply` says what is sent of it. */
export type MessageFault = FaultWith<(typeof IN_MESSAGE)[number]>;

/** Replaces the reply by a proxy's: `forceReply` has a table of them. */
export type ProxyFault = FaultWith<'proxy-reply'>;

/** What a transport does about each other fault: these break the connection. */
export type ConnectionTable<Act> = Readonly<
  Record<Exclude<Fault, MessageFault | ProxyFault>['kind'], Act>
>;

export const FAULT_NAMES = rowNames(FAULTS);

export function effectOf(fault: Fault | undefined): (typeof EFFECTS)[Effect] {
  return EFFECTS[fault === undefined ? 'whole-reply' : FAULTS[fault.kind]];
}

export function isMessageFault(fault: Fault | undefined): fault is MessageFault {
  return fault !== undefined && IN_MESSAGE.some((effect) => effect === FAULTS[fault.kind]);
}
