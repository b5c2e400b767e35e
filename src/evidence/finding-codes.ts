/** What each code of a finding means to a client, and what to do about it. */
export const FINDING_CODES = {
  deprecated: 'The operation is to be sunset; move away from it before then.',
  experimental: 'The operation can change without notice; be ready to adapt, or do without it.',
  'rounded-id': 'A double cannot hold this id exactly; read and write ids as 64-bit integers.',
  'placeholder-key': 'A variable without a value was sent as the key; check where it is set.',
  'unknown-input': 'The document does not name it, so the service may refuse it; leave it out.',
  'pointless-retry': 'The reply cannot change by asking again; retry only what may be temporary.',
  'early-retry': 'The service asked for a longer pause; wait as long as Retry-After says.',
  'unexpected-body': 'A DELETE takes no body and the service may refuse one; send none.',
} as const satisfies Record<string, string>;

export type FindingCode = keyof typeof FINDING_CODES;

export const FINDING_CODE_NAMES = Object.keys(FINDING_CODES).filter(isFindingCode);

function isFindingCode(name: string): name is FindingCode {
  return Object.hasOwn(FINDING_CODES, name);
}

/** A finding without the call that it is about. */
export interface Noted {
  readonly code: FindingCode;
  /** What the client did. */
  readonly message: string;
  /** What to do about it. */
  readonly advice: string;
}
