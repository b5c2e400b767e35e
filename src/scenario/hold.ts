import { convert, either, TRUE, text } from '../shape/shapes.ts';
import { roundDuration } from '../words.ts';

const NAME = /^[\w.-]{1,64}$/;

const EXPECTED_NAME = '1 to 64 of A-Z a-z 0-9 . _ -';

export const HOLD_NAME = text(EXPECTED_NAME, NAME, { pattern: NAME.source });

/** What a rule holds its reply back under: `true` stands for `default`. */
export const HOLD = either(
  convert(TRUE, () => 'default'),
  HOLD_NAME,
  `true, or a name of ${EXPECTED_NAME}`,
);

/** Why a reply is no longer held back. */
export const HOLD_ENDS = ['released', 'expired', 'left', 'reset', 'deleted', 'stopped'] as const;

export type HoldEnd = (typeof HOLD_ENDS)[number];

/**
 * A reply that a rule holds back. Its outcome and its exchange share this value, which changes when
 * the exchange is acknowledged and when the reply is let go.
 */
export interface Hold {
  readonly name: string;
  /** The number of the exchange. */
  exchange: number;
  /** When the request was answered, in milliseconds since 1970. */
  since: number;
  /** Why its server has to send it now. */
  due?: HoldEnd;
  ended?: HoldEnd;
  /** How long it was held, in milliseconds. */
  lasted?: number;
}

/** What the journal and the log say of a hold. */
export function holdView({ name, ended, lasted }: Hold) {
  return { name, ended, lasted: lasted && roundDuration(lasted) };
}
