import { rowNames } from '../tables.ts';

/** What each code of a finding means to a client, and what to do about it. */
export const FINDING_CODES = {
  deprecated: 'The operation will be sunset; migrate before then.',
  experimental: 'The operation can change without notice; be ready to adapt, or avoid it.',
  'rounded-id': 'A double cannot hold this id exactly; read and write ids as 64-bit integers.',
  'placeholder-key': 'The key is missing or not filled in; check where it is set.',
  'unknown-input': 'The document does not define it, so the service may reject it; remove it.',
  'pointless-retry': 'A retry cannot change this reply; retry only temporary failures.',
  'early-retry': 'The service asked for a longer pause; wait for as long as Retry-After says.',
  'unknown-preference': 'The Prefer header was ignored; correct or remove it.',
  drift: 'The deployment and the mock disagree; choose the options that `check` finds there.',
  'unreleased-hold': 'No test released it; release it, or let it last longer with --max-hold.',
  'unexpected-body': 'The operation takes no body, and the service may reject one; send none.',
  unmatched: 'The real service has no such operation; check the base URL, the path and the method.',
} as const satisfies Record<string, string>;

export type FindingCode = keyof typeof FINDING_CODES;

export const FINDING_CODE_NAMES = rowNames(FINDING_CODES);

/** A finding without its call. The advice follows from the code. */
export interface FindingText {
  readonly code: FindingCode;
  /** What the client did. */
  readonly message: string;
}
